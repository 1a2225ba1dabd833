"""Events, their ids, and the logs that hold them (RFC-0015 §5)."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, get_args

from functions.identity.model import Actor
from functions.platform.json_text import dumps
from functions.platform.keys import build_id

LogEventType = Literal[
    "memory.created",
    "memory.updated",
    "memory.deleted",
    "memory.archived",
    "memory.evicted",
    "memory.expired",
]
"""The types of events in logs."""
EventType = Literal[LogEventType, "quota.warning"]
"""The types of events that the bus can carry."""
EVENT_TYPES: frozenset[EventType] = frozenset((*get_args(LogEventType), "quota.warning"))
LogKind = Literal["intent", "agent", "namespace"]


class LogName(NamedTuple):
    """Names the log of an intent, an agent or a namespace."""

    kind: LogKind
    name: str


class Event(NamedTuple):
    """A change of memory (RFC-0015 §5.2).

    Attributes:
        data: never holds a value, except for the snapshot of `memory.archived`.
        traceparent: of the request that made the change; the log doesn't keep it.
    """

    id: str
    type: LogEventType
    tenant: str
    agent_id: str
    actor: Actor
    intent_id: str | None
    task_id: str | None
    data: dict[str, Any]
    timestamp: int
    log: LogName
    traceparent: str | None = None


class LogQuery(NamedTuple):
    """A query for events of a log.

    Attributes:
        after: the position before the first event, in the requested order; None for the start of
            the log, or its end with `newest_first`.
        since, until: only events from, and up to, these times (epoch ms).
    """

    limit: int
    after: int | None = None
    newest_first: bool = False
    type: LogEventType | None = None
    agent_id: str | None = None
    actor: str | None = None
    entry_id: str | None = None
    since: int | None = None
    until: int | None = None

    @property
    def is_filtered(self) -> bool:
        """Return whether the query may skip many events."""
        return any((self.type, self.agent_id, self.actor, self.entry_id))

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Return whether the query selects a stored event, except by its data."""
        timestamp = document["timestamp"]
        return (
            self.type in (None, document["type"])
            and self.agent_id in (None, document["agent_id"])
            and self.actor in (None, document["actor"][0])
            and (self.since is None or timestamp >= self.since)
            and (self.until is None or timestamp <= self.until)
        )

    def matches_data(self, data: Mapping[str, Any]) -> bool:
        """Return whether the event's data names the entry, or its archive has the entry."""
        if self.entry_id is None or data.get("entry_id") == self.entry_id:
            return True
        return any(line.get("entry_id") == self.entry_id for line in data.get("snapshot", ()))


def build_event_id(tenant: str, *cause: str | int) -> str:
    """Build the id of the event with a cause: the same id for the same cause.

    Args:
        cause: for an entry's event: the entry's id, its version and the event's type.
    """
    return build_id("evt", blake2b(dumps([tenant, *cause]), digest_size=16).digest())


def choose_log(*, intent: str | None, agent: str, namespace: str | None) -> LogName:
    """Choose the log of an event: the intent's, if there is one (RFC-0015 §5).

    Args:
        namespace: given for semantic memory, whose events are in no agent's log.
    """
    if intent is not None:
        return LogName("intent", intent)
    if namespace is not None:
        return LogName("namespace", namespace)
    return LogName("agent", agent)
