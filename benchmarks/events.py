"""Costs of an event on its way from the change stream to its log and to the bus."""

from base64 import b32encode
from collections.abc import Iterator
from hashlib import sha384

from benchmarks.capacity import Call, recorded
from benchmarks.grown import Operation, Subject
from benchmarks.inprocess import Caller, Function
from benchmarks.memories import Measured
from functions.event_log.model import Event, LogName, LogQuery
from functions.event_log.reader import EventLogReader
from functions.event_log.store import EventLogStore
from functions.identity.model import Actor
from functions.platform.clock import now_ms
from functions.platform.table import Table

_LOG = LogName("agent", "logged")
_TENANT, _ACTOR = "bench", Actor("logged", "agent")
_HELD, _TOGETHER = 100, 10


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation of the stream function."""
    function = caller.function
    logs = EventLogStore(Table(function.client, "log"), now_ms, 365)
    for number in range(_HELD):
        _logged(function, logs, [build_event(number)])
    yield "log an event", (2, 1, 0.5), _logged(function, logs, [build_event(_HELD)])
    more = [build_event(_HELD + number) for number in range(1, _TOGETHER + 1)]
    yield f"log {_TOGETHER} events together", (2, 2, 0.5), _logged(function, logs, more)
    with recorded(function.client) as calls:
        logs.mark_published(more[:1])
    yield "mark an event as published", (1, 1, 0), calls


class Log(Subject):
    """One agent's log; each event is appended separately."""

    examined = frozenset({"events, of a type that none has"})
    lists = tuple(
        f"/api/v1/{each}/events"
        for each in ("intents/{intent_id+}", "agents/{agent_id+}", "memory/namespaces/{namespace+}")
    )

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, admin)
        self._function = function
        self._logs = EventLogStore(Table(function.client, "log"), now_ms, 365)
        for _ in range(2):  # the function caches the key, then the tenant's limits
            self._page(0)

    def grow(self, to: int) -> None:
        """Append events until there are `to`."""
        while self._stored < to:
            self._append()

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield "log an event", self._append
        yield "first page of 10 events", lambda: self._page(0)
        reader = EventLogReader(Table(self._function.client, "log"), now_ms)
        middle = reader.read(_TENANT, _LOG, LogQuery(self._stored // 2))[1]
        yield "middle page of 10 events", lambda: self._page(middle or 0)
        yield "newest 10 events", lambda: self._page(middle or 0, "&order=desc")
        yield "events, of a type that none has", lambda: self._page(0, "&type=memory.archived")

    def _append(self) -> list[Call]:
        self._stored += 1
        return _logged(self._function, self._logs, [build_event(self._stored)])

    def _page(self, after: int, order: str = "") -> list[Call]:
        return self._admin.get(f"/api/v1/agents/{_LOG.name}/events?after={after}&limit=10{order}")


def _logged(function: Function, logs: EventLogStore, events: list[Event]) -> list[Call]:
    with recorded(function.client) as calls:
        logs.append(_TENANT, _LOG, events)
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
    return Event(
        id, "memory.updated", _TENANT, "logged", _ACTOR, None, "task_7", data, number, _LOG
    )


def _build_digest(number: int) -> str:
    """Build characters that are as long and as random as an entry's id."""
    return b32encode(sha384(str(number).encode()).digest()).decode().lower()[:73]
