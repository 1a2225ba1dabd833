"""Events, and the logs that hold them (RFC-0015 §5)."""

from dataclasses import dataclass
from typing import Any, Literal

EventType = Literal[
    "memory.created",
    "memory.updated",
    "memory.deleted",
    "memory.archived",
    "memory.evicted",
    "memory.expired",
]
LogKind = Literal["intent", "agent", "namespace"]


@dataclass(frozen=True, slots=True)
class LogName:
    """Whose log it is: an intent's, an agent's or a namespace's."""

    kind: LogKind
    name: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to memory (RFC-0015 §5.2); `timestamp` is epoch ms.

    `data` never holds a value, but for the snapshot of `memory.archived`.
    """

    id: str
    type: EventType
    tenant: str
    agent: str
    intent: str | None
    task: str | None
    data: dict[str, Any]
    timestamp: int
    log: LogName


@dataclass(frozen=True, slots=True)
class Page:
    """What is asked of a log: up to `limit` events (of one type) after a position."""

    after: int
    limit: int
    type: EventType | None = None
