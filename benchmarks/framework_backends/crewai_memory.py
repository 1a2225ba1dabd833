"""CrewAI: memories in LanceDB and in the service, flows in SQLite and in the service."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from agent_memory.adapters.crewai import AgentMemoryFlowPersistence, AgentMemoryStorageBackend
from crewai.flow.persistence.sqlite import SQLiteFlowPersistence
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord

from benchmarks.framework_backends.measuring import (
    HUGE,
    LARGE,
    Figures,
    agent_client,
    make_folder,
    time_call,
)

_RECORDS, _NUMBERS = 500, 1536
_random = random.Random(7)  # noqa: S311 - no secret


def _make_record(number: int, scope: str) -> MemoryRecord:
    vector = [_random.gauss(0, 1) for _ in range(_NUMBERS)]
    return MemoryRecord(content=f"memory {number} " + "x" * 500, scope=scope, embedding=vector)


def _measure_memory(name: str, make: Callable[[], Any]) -> Figures:
    storage = make()
    for start in range(0, _RECORDS, 50):
        storage.save([_make_record(n, f"/user/{n % 10}") for n in range(start, start + 50)])
    records = [_make_record(n, "/user/ann") for n in range(10)]
    saves = [time_call(partial(storage.save, [record])) for record in records]
    query = records[0].embedding or []
    searches = [time_call(lambda: storage.search(query, limit=10)) for _ in range(10)]
    storage.save([_make_record(0, "/user/anna")])
    last = _make_record(1, "/late")
    make().save([last])
    found = [record.id for record, _ in storage.search(last.embedding or [], limit=1)]
    return {
        "backend": name,
        "save one": f"{median(saves):.0f} ms",
        "search 510": f"{median(searches):.0f} ms",
        "finds another writer's save at once": "yes" if found == [last.id] else "no",
        "`/user/ann` holds `/user/anna`": "no" if storage.count("/user/ann") == 10 else "yes",
    }


def _measure_flows(name: str, flows: Any) -> Figures:
    def save(size: int) -> str:
        try:
            spent = time_call(lambda: flows.save_state("f", "m", {"text": "x" * size}))
        except Exception as refused:  # noqa: BLE001 - what a backend raises is the figure
            return type(refused).__name__
        assert len(flows.load_state("f")["text"]) == size
        return f"{spent:.0f} ms"

    small = [time_call(lambda: flows.save_state("s", "m", {"n": 1})) for _ in range(10)]
    loads = [time_call(lambda: flows.load_state("s")) for _ in range(10)]
    return {
        "backend": name,
        "save a small state": f"{median(small):.0f} ms",
        "load it": f"{median(loads):.0f} ms",
        "save 1 MB": save(LARGE),
        "save 12 MB": save(HUGE),
    }


def run(folder: Path, _s3: str) -> Iterator[Figures]:
    """Measure all."""
    files = make_folder(folder, "crewai")
    yield _measure_memory("LanceDBStorage", lambda: LanceDBStorage(files / "lance"))
    with agent_client() as (client, _):
        yield _measure_memory(
            "AgentMemoryStorageBackend", lambda: AgentMemoryStorageBackend(client)
        )
        yield _measure_flows("SQLiteFlowPersistence", SQLiteFlowPersistence(str(files / "f.db")))
        yield _measure_flows(
            "AgentMemoryFlowPersistence", AgentMemoryFlowPersistence(client=client)
        )
