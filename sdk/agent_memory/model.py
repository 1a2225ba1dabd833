"""What the service answers, as frozen dataclasses; `raw` has all fields, known or not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A memory entry (RFC-0015 §1.1). Times are RFC 3339 texts in UTC."""

    id: str
    agent_id: str
    namespace: str
    key: str
    value: dict[str, Any]
    memory_type: str
    version: int
    created_at: str
    updated_at: str
    task_id: str | None = None
    intent_id: str | None = None
    tags: tuple[str, ...] = ()
    ttl: str | None = None
    expires_at: str | None = None
    pinned: bool = False
    priority: str = "normal"
    sensitivity: str | None = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The entry of the service's document.

        Raises:
            KeyError: it is none.
        """
        scope = document.get("scope") or {}
        return cls(
            **{name: document[name] for name in _OF_ENTRY},
            **{name: document[name] for name in _MAYBE_OF_ENTRY if name in document},
            tags=tuple(document.get("tags", ())),
            task_id=scope.get("task_id"),
            intent_id=scope.get("intent_id"),
            raw=document,
        )


_OF_ENTRY = (
    "id",
    "agent_id",
    "namespace",
    "key",
    "value",
    "memory_type",
    "version",
    "created_at",
    "updated_at",
)
_MAYBE_OF_ENTRY = ("ttl", "expires_at", "pinned", "priority", "sensitivity")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """An entry that a search found; `score` is the cosine of its meaning and the query's."""

    entry: Entry
    score: float

    @classmethod
    def of(cls, document: Document) -> Self:
        """The result of the service's document.

        Raises:
            KeyError: it is none.
        """
        return cls(entry=Entry.of(document["entry"]), score=float(document["score"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task (contract §5; RFC-0012)."""

    id: str
    status: str
    version: int
    created_at: str
    intent_id: str | None = None
    name: str | None = None
    assigned_agent: str | None = None
    coordinator: str | None = None
    parent_task_id: str | None = None
    capabilities_required: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    input: Any = None
    output: Any = None
    error: Any = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The task of the service's document.

        Raises:
            KeyError: it is none.
        """
        named: dict[str, Any] = {name: document[name] for name in _OF_TASK}
        named |= {name: document.get(name) for name in _MAYBE_OF_TASK}
        return cls(
            **named,
            capabilities_required=tuple(document.get("capabilities_required") or ()),
            depends_on=tuple(document.get("depends_on") or ()),
            raw=document,
        )


_OF_TASK = ("id", "status", "version", "created_at")
_MAYBE_OF_TASK = (
    "intent_id",
    "name",
    "assigned_agent",
    "coordinator",
    "parent_task_id",
    "input",
    "output",
    "error",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A namespace of semantic memory and who may use it: `{default, allow}`."""

    namespace: str
    permissions: dict[str, Any]
    version: int
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The namespace of the service's document.

        Raises:
            KeyError: it is none.
        """
        named = {name: document[name] for name in ("namespace", "permissions", "version")}
        return cls(**named, raw=document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whom a key stands for (contract §2)."""

    tenant: str
    id: str
    kind: str
    permissions: tuple[str, ...]
    expires_at: str | None = None

    @classmethod
    def of(cls, document: Document) -> Self:
        """The principal of the service's document.

        Raises:
            KeyError: it is none.
        """
        return cls(**_principal(document))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPrincipal(Principal):
    """A principal with its key, which the service shows this once."""

    api_key: str = field(repr=False)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The principal of the service's document.

        Raises:
            KeyError: it is none, or has no key.
        """
        return cls(**_principal(document), api_key=document["api_key"])


def _principal(document: Document) -> dict[str, Any]:
    named = {name: document[name] for name in ("tenant", "id", "kind")}
    more = {"permissions": tuple(document["permissions"])}
    return named | more | {"expires_at": document.get("expires_at")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of a log (RFC-0015 §5.2)."""

    id: str
    type: str
    agent_id: str | None
    intent_id: str | None
    task_id: str | None
    data: dict[str, Any]
    timestamp: str
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, document: Document) -> Self:
        """The event of the service's document.

        Raises:
            KeyError: it is none.
        """
        named: dict[str, Any] = {n: document[n] for n in ("id", "type", "data", "timestamp")}
        named |= {name: document.get(name) for name in ("agent_id", "intent_id", "task_id")}
        return cls(**named, raw=document)
