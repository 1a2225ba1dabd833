"""Costs of what is done behind a request: earlier versions, and the consolidation of facts."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.capacity import Call, recorded
from benchmarks.inprocess import Caller, Function
from benchmarks.rows import Measured
from benchmarks.workload import entry
from functions.consolidation.store import build_run_key
from functions.container import Container
from functions.entries.history_store import HistoryStore
from functions.entries.mapper import EntryMapper
from functions.platform.settings import ApiSettings
from functions.stream.history_keeper import HistoryKeeper
from functions.stream.records import StreamBatch

_TENANT, _FACTS = "bench", 100


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield the costs of one change, and of a hundred facts."""
    with TemporaryDirectory() as folder:
        container = _build_container(caller.function, Path(folder))
    yield "keep an earlier version of 1 KB", (3, 2, 3), _keep_version(caller, container)
    for number in range(_FACTS):
        _learn(caller, f"customer {number}", "Rome")
    walked = _consolidate(caller, container)
    limit = (4 * _FACTS, 3, 4 * _FACTS)
    yield f"consolidate {_FACTS} facts, nothing to do", limit, walked
    for number in range(_FACTS):
        _learn(caller, f"customer {number}", "rome")
    merged = _consolidate(caller, container)
    limit = (6 * _FACTS, 15 * _FACTS, 6 * _FACTS)
    yield f"consolidate {2 * _FACTS} facts, {_FACTS} merges", limit, merged


def _build_container(function: Function, folder: Path) -> Container:
    key_file = folder / "encryption.key"
    key_file.write_bytes(function.encryption_key)
    settings = ApiSettings(
        memory_table="memory",
        log_table="log",
        root_key=function.root_key,
        encryption_key_file=str(key_file),
    )
    return Container(settings, dynamodb=function.client)


def _learn(caller: Caller, subject: str, what: str) -> None:
    caller.send("POST", "/api/v1/facts", {"subject": subject, "predicate": "is in", "object": what})


def _keep_version(caller: Caller, container: Container) -> list[Call]:
    made = caller.send("POST", "/api/v1/memory", entry(caller.id, "kept", "semantic", ()))
    old = _read_image(caller, made["key"])
    new = old | {"version": {"N": "2"}}
    key = {name: old[name] for name in ("pk", "sk")}
    change = {"SequenceNumber": "1", "Keys": key, "OldImage": old, "NewImage": new}
    keeper = HistoryKeeper(HistoryStore(container.table, EntryMapper(None)))
    with recorded(caller.function.client) as calls:
        keeper.process(StreamBatch([{"eventName": "MODIFY", "dynamodb": change}]))
    return calls


def _read_image(caller: Caller, key: str) -> dict[str, Any]:
    items = caller.function.client.scan(TableName="memory")["Items"]
    is_kept = (each.get("key") == {"S": key} and "nonce" in each for each in items)
    return next(item for item, found in zip(items, is_kept, strict=True) if found)


def _consolidate(caller: Caller, container: Container) -> list[Call]:
    time.sleep(0.002)  # facts of the same millisecond are too new
    run = caller.send("POST", "/api/v1/consolidation", {"dry_run": False})["id"]
    with recorded(caller.function.client) as calls:
        container.consolidator.resume(build_run_key(_TENANT, run), 60)
    return calls
