"""Costs of work after a request: events, vectors, earlier versions, consolidation."""

import time
from base64 import b32encode
from collections.abc import Iterator
from hashlib import sha384
from typing import Any

from benchmarks.capacity import Call, find_promptest, recorded
from benchmarks.inprocess import Caller, Function
from benchmarks.rows import Measured
from benchmarks.workload import entry
from functions.container import Container
from functions.entries.history_store import HistoryStore
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.events.model import Event, LogName, LogQuery
from functions.events.reader import EventLogReader
from functions.events.store import EventLogStore
from functions.identity.model import Actor
from functions.platform import entry_keys
from functions.platform.clock import now_ms
from functions.platform.item_types import CONSOLIDATION_RUN
from functions.platform.table import Table
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.search.store import EntryVectors
from functions.stream.history_keeper import HistoryKeeper
from functions.stream.records import StreamBatch
from functions.vectors.hybrid import TextEmbedder
from functions.vectors.in_memory_vectors import float16_format
from functions.vectors.model import VectorFormat
from functions.vectors.native_index import native_format
from functions.vectors.wordllama import MODEL, embed_all

LOG = LogName("agent", "logged")
_TENANT, _ACTOR = "bench", Actor("logged", "agent")
_HELD, _TOGETHER, _FACTS = 100, 10, 100


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    yield from _embed_and_search(caller)
    yield from _log_events(caller)
    yield from _keep_and_consolidate(caller)


def _log_events(caller: Caller) -> Iterator[Measured]:
    """Yield each operation of the stream function."""
    function = caller.function
    for number in range(_HELD):
        log(function, [build_event(number)])
    yield "log an event", (2, 1, 1), log(function, [build_event(_HELD)])
    more = [build_event(_HELD + number) for number in range(1, _TOGETHER + 1)]
    yield f"log {_TOGETHER} events together", (2, 2, 1), log(function, more)
    with recorded(function.client) as calls:
        _open_log(function).mark_published(more[:1])
    yield "mark an event as published", (1, 1, 0), calls


def _open_log(function: Function) -> EventLogStore:
    return EventLogStore(Table(function.client, "log"), now_ms, 365)


def find_position(function: Function, number: int) -> int:
    """Find the position behind a number of events."""
    reader = EventLogReader(Table(function.client, "log"), now_ms)
    return reader.read(_TENANT, LOG, LogQuery(number))[1] or 0


def log(function: Function, events: list[Event]) -> list[Call]:
    """Append events to the log, and return the calls."""
    logs = _open_log(function)
    with recorded(function.client) as calls:
        logs.append(_TENANT, LOG, events)
    return calls


def build_event(number: int) -> Event:
    digest = b32encode(sha384(str(number).encode()).digest()).decode().lower()
    data: dict[str, Any] = {"entry_id": f"mem_{digest[:73]}", "namespace": "invoice_processing"}
    data |= {"key": f"invoice-{number}", "memory_type": "working", "tags": ["billing", "urgent"]}
    data |= {"version": 2, "previous_version": 1}
    of = (_TENANT, "logged", _ACTOR, None, "task_7")
    return Event(f"evt_{number:026d}", "memory.updated", *of, data, number, LOG)


_MEMORY = "/api/v1/memory"
_ENTRY = {"namespace": "n", "memory_type": "episodic", "value": {"text": "a green tea " * 80}}
_WORKING = {"memory_type": "working"}


def _embed_and_search(admin: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    agent, exact = admin.function.new_agent(admin, "searcher"), float16_format(MODEL)
    for number in range(_HELD):
        calls = _embed(agent, f"k{number}", exact)
    yield "embed an entry, exact search", (1, 1, 0), calls
    yield f"search {_HELD} episodic, the first time", (3, 0, 57), _search(agent)
    yield f"search {_HELD} episodic, again", (3, 0, 38), _search(agent)
    _embed(agent, "new", exact)
    yield f"search {_HELD} episodic, after a write", (4, 0, 39), _search(agent)
    yield "embed an entry again, exact search", (1, 1, 0), _embed_again(agent, "k0", exact)
    native = native_format(MODEL)
    yield "embed an entry", (1, 2, 0), _embed(agent, "native", native)
    yield "embed an entry again", (1, 2, 0), _embed_again(agent, "native", native)
    for number in range(_HELD):
        agent.send("POST", _MEMORY, _ENTRY | {"key": f"w{number}"} | _WORKING)
    calls = find_promptest(lambda: _search(agent, **_WORKING))
    yield f"search {_HELD} working", (2, 0, 104), calls


def _embed(agent: Caller, name: str, vector_format: VectorFormat) -> list[Call]:
    """Create an entry, and write its vector as the stream function does."""
    made = agent.send("POST", _MEMORY, _ENTRY | {"key": name})
    return _index(agent, vector_format, None, _read(agent, made["id"]))


def _embed_again(agent: Caller, name: str, vector_format: VectorFormat) -> list[Call]:
    """Change an entry's text, and write its vector."""
    target = f"{_MEMORY}?agent_id={agent.id}&namespace=n&key={name}"
    (found,) = agent.send("GET", target)["entries"]
    old = _read(agent, found["id"])
    value = {"value": {"text": "a black tea " * 80}}
    agent.calls("PATCH", f"{_MEMORY}/{found['id']}", value, if_match="1")
    return _index(agent, vector_format, old, _read(agent, found["id"]))


def _read(agent: Caller, id: str) -> Entry:
    address, _ = entry_keys.parse_entry_id("bench", id)
    item = Table(agent.function.client, "memory").get(address.item_key)
    return EntryMapper(None).to_entry(item or {})


def _index(agent: Caller, vector_format: VectorFormat, old: Entry | None, new: Entry) -> list[Call]:
    vectors = EntryVectors(Table(agent.function.client, "memory"))
    with recorded(agent.function.client) as calls:
        EmbeddingIndexer(vectors, now_ms, vector_format, TextEmbedder(embed_all)).index_change(
            old, new
        )
    return calls


def _search(agent: Caller, memory_type: str = "episodic") -> list[Call]:
    body = {"query": "a hot drink", "memory_type": memory_type}
    return agent.calls("POST", f"{_MEMORY}/search", body)


def _keep_and_consolidate(caller: Caller) -> Iterator[Measured]:
    """Yield the costs of one change, and of a hundred facts."""
    container = caller.function.container
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
        container.consolidator.resume(CONSOLIDATION_RUN.build_key(_TENANT, run=run), 60)
    return calls
