"""Memory entries, and what is asked about them (RFC-0015 §1, §4; contract §4)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from functions.platform.entry_keys import EntryAddress, build_recency, build_sort_token
from functions.platform.keys import Key

Tier = Literal["working", "episodic", "semantic"]
Priority = Literal["low", "normal", "high"]
Sensitivity = Literal["public", "internal", "confidential", "restricted"]

KINDS: dict[str, str] = {"working": "w", "episodic": "e", "semantic": "n"}  # in ids
ENCRYPTED = frozenset({"confidential", "restricted"})


class Entry(NamedTuple):
    """One incarnation of a slot. Times are epoch ms; `value` is compact JSON text.

    A list makes hundreds of these; a frozen dataclass takes four times as long to make.
    """

    slot: EntryAddress
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
        return self.slot.build_id(self.nonce)

    @property
    def place(self) -> Key:
        return self.slot.item_key

    @property
    def order(self) -> str:
        """What lists sort by, newest first: creation, then id (contract §3)."""
        return build_sort_token(self.slot, self.nonce)

    @property
    def recency(self) -> str | None:
        """What eviction sorts by: lower priority first, then least recent access (§2.2)."""
        if self.tier != "episodic" or self.pinned:
            return None
        return build_recency(self.priority, self.accessed, self.nonce)

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
