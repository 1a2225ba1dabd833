"""Memory entries, and what is asked about them (RFC-0015 §1, §4; contract §4)."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from functions.platform.fields import AgentId, Identifier, Moment, Name, Tag
from functions.platform.keys import Key, Slot, order_of, recency

Tier = Literal["working", "episodic", "semantic"]
Priority = Literal["low", "normal", "high"]
Sensitivity = Literal["public", "internal", "confidential", "restricted"]
Tags = Annotated[list[Tag], Field(max_length=50)]
EntryId = Annotated[str, Field(min_length=1, max_length=255)]

KINDS: dict[str, str] = {"working": "w", "episodic": "e", "semantic": "n"}  # in ids
ENCRYPTED = frozenset({"confidential", "restricted"})
MOST_VALUE_BYTES = 65_536
MOST_IN_BATCH = 50


class Scope(BaseModel):
    """`scope` of an entry: the context that it is bound to (RFC-0015 §1.1)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    task_id: Identifier | None = None
    intent_id: Identifier | None = None


class _Changeable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    ttl: str | None = Field(default=None, max_length=128)
    expires_at: Moment | None = None
    sensitivity: Sensitivity | None = None


class NewEntry(_Changeable):
    """Body of `POST /api/v1/memory`."""

    namespace: Name
    key: Name
    value: dict[str, Any]
    memory_type: Tier
    agent_id: AgentId | None = None
    scope: Scope | None = None
    tags: Tags = []
    pinned: bool | None = None
    priority: Priority | None = None


class EntryChange(_Changeable):
    """Body of `PATCH /api/v1/memory/{id}`: only the given fields change."""

    value: dict[str, Any] = {}
    tags: Tags = []
    pinned: bool = False
    priority: Priority = "normal"


class BatchUpdate(EntryChange):
    """An item of a batch that updates: by `id`, or by natural key (contract §4)."""

    version: int = Field(ge=1)
    id: EntryId | None = None
    namespace: Name | None = None
    key: Name | None = None
    memory_type: Tier | None = None
    agent_id: AgentId | None = None

    @model_validator(mode="after")
    def _named_one_way(self) -> Self:
        natural = {"namespace", "key", "memory_type", "agent_id"} & self.model_fields_set
        by_id = self.id is not None and not natural
        by_key = self.id is None and None not in (self.namespace, self.key)
        if not by_id and not by_key:
            raise ValueError("an update names its entry by id, or by namespace and key")
        return self

    @property
    def natural_key(self) -> tuple[str, str]:
        """Namespace and key, where there is no id."""
        return self.namespace or "", self.key or ""

    @property
    def change(self) -> EntryChange:
        """The fields to change, without what names the entry."""
        given = self.model_fields_set & EntryChange.model_fields.keys()
        return EntryChange.model_construct(given, **{name: getattr(self, name) for name in given})


@dataclass(frozen=True, slots=True)
class Entry:
    """One incarnation of a slot. Times are epoch ms; `value` is compact JSON text."""

    slot: Slot
    nonce: str
    tier: Tier
    agent: str
    namespace: str
    key: str
    value: bytes
    kb: int  # the size that limits count: whole KB, rounded up
    version: int
    created: int
    updated: int
    author: str
    curator: str | None = None
    tags: tuple[str, ...] = ()
    task: str | None = None
    intent: str | None = None
    ttl: str | None = None
    expires: int | None = None
    pinned: bool = False
    priority: Priority = "normal"
    sensitivity: Sensitivity | None = None
    accessed: int = 0  # by its owner, written or read; episodic memory only
    request: bytes | None = None

    @property
    def id(self) -> str:
        return self.slot.id(self.nonce)

    @property
    def place(self) -> Key:
        return self.slot.item

    @property
    def order(self) -> str:
        """What lists sort by, newest first: creation, then id (contract §3)."""
        return order_of(self.slot, self.nonce)

    @property
    def recency(self) -> str | None:
        """What eviction sorts by: lower priority first, then least recent access (§2.2)."""
        if self.tier != "episodic" or self.pinned:
            return None
        return recency(self.priority, self.accessed, self.nonce)

    @property
    def attached(self) -> bool:
        """Whether the entry ends with its task."""
        return self.tier == "working" or self.ttl == "task_lifetime"

    def expired(self, now: int) -> bool:
        """Whether no read returns the entry any more (RFC-0015 §9.3)."""
        return self.expires is not None and self.expires <= now


@dataclass(frozen=True, slots=True)
class Filters:
    """A query of RFC-0015 §4.1; what is None doesn't filter. Times are epoch ms, exclusive."""

    agent_id: str | None = None
    namespace: str | None = None
    namespace_prefix: str | None = None
    key: str | None = None
    tier: Tier | None = None
    tags: frozenset[str] = frozenset()
    tags_any: frozenset[str] = frozenset()
    task: str | None = None
    intent: str | None = None
    pinned: bool | None = None
    updated_after: int | None = None
    updated_before: int | None = None


def name_or_prefix(namespace: str | None) -> tuple[str | None, str | None]:
    """A namespace filter as a name, or, where it ends in `*`, as a prefix (RFC-0015 §4.1)."""
    if namespace is None or not namespace.endswith("*"):
        return namespace, None
    return None, namespace[:-1] or None
