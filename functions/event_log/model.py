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
        agent: whose memory it is.
        actor: who did it.
        timestamp: epoch ms.
        data: never holds a value, except for the snapshot of `memory.archived`.
        traceparent: of the request that made the change; the log doesn't keep it.
    """

    id: str
    type: LogEventType
    tenant: str
    agent: str
    actor: Actor
    intent: str | None
    task: str | None
    data: dict[str, Any]
    timestamp: int
    log: LogName
    traceparent: str | None = None


class LogQuery(NamedTuple):
    """Asks a log for events.

    Attributes:
        limit: how many at most.
        after: the position that they follow in the order asked for; None for the log's begin, or
            its end where the newest come first.
        newest_first: whether they come in the reverse order of the log.
        type, agent, actor: only those of this type, agent or principal that acted.
        entry: only those about this entry's id.
        since, until: only those that happened from, and up to, these moments (epoch ms).
    """

    limit: int
    after: int | None = None
    newest_first: bool = False
    type: LogEventType | None = None
    agent: str | None = None
    actor: str | None = None
    entry: str | None = None
    since: int | None = None
    until: int | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether it may pass over many events."""
        return any((self.type, self.agent, self.actor, self.entry))

    def matches(self, type: str, agent: str, actor: str, timestamp: int) -> bool:
        """Whether it asks for such events, whatever entry they are about."""
        return (
            self.type in (None, type)
            and self.agent in (None, agent)
            and self.actor in (None, actor)
            and (self.since is None or timestamp >= self.since)
            and (self.until is None or timestamp <= self.until)
        )

    def matches_entry(self, data: Mapping[str, Any]) -> bool:
        """Whether it asks for events with such data; an archival is about each entry in it."""
        if self.entry is None or data.get("entry_id") == self.entry:
            return True
        return any(line.get("entry_id") == self.entry for line in data.get("snapshot", ()))


def build_event_id(tenant: str, *cause: str | int) -> str:
    """Build the id of the event with a cause: the same id for the same cause.

    Args:
        cause: of an entry's event, the entry's id, its version and the event's type.
    """
    return build_id("evt", blake2b(dumps([tenant, *cause]), digest_size=16).digest())


def choose_log(*, intent: str | None, agent: str, namespace: str | None) -> LogName:
    """Choose the log of an event: the intent's, if there is one (RFC-0015 §5).

    Args:
        namespace: given for semantic memory, which is in no agent's log.
    """
    if intent is not None:
        return LogName("intent", intent)
    if namespace is not None:
        return LogName("namespace", namespace)
    return LogName("agent", agent)
