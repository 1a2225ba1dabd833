"""Costs of an event on its way from the change stream to its log and to the bus."""

from base64 import b32encode
from collections.abc import Iterator
from hashlib import sha384

from benchmarks.capacity import Call, recorded
from benchmarks.inprocess import Caller, Function
from benchmarks.rows import Measured
from functions.event_log.model import Event, LogName, LogQuery
from functions.event_log.reader import EventLogReader
from functions.event_log.store import EventLogStore
from functions.identity.model import Actor
from functions.platform.clock import now_ms
from functions.platform.table import Table

LOG = LogName("agent", "logged")
_TENANT, _ACTOR = "bench", Actor("logged", "agent")
_HELD, _TOGETHER = 100, 10


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation of the stream function."""
    function = caller.function
    for number in range(_HELD):
        log(function, [build_event(number)])
    yield "log an event", (2, 1, 0.5), log(function, [build_event(_HELD)])
    more = [build_event(_HELD + number) for number in range(1, _TOGETHER + 1)]
    yield f"log {_TOGETHER} events together", (2, 2, 0.5), log(function, more)
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
    data = {
        "entry_id": f"mem_{_build_digest(number)}",
        "namespace": "invoice_processing",
        "key": f"invoice-{number}",
        "memory_type": "working",
        "version": 2,
        "previous_version": 1,
        "tags": ["billing", "urgent"],
    }
    id = f"evt_{number:026d}"
    return Event(id, "memory.updated", _TENANT, "logged", _ACTOR, None, "task_7", data, number, LOG)


def _build_digest(number: int) -> str:
    """Build characters that are as long and as random as an entry's id."""
    return b32encode(sha384(str(number).encode()).digest()).decode().lower()[:73]
