"""Memory entries and their transitions (RFC-0015 §1)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from functions.entries.eviction import build_eviction_order
from functions.entries.tiers import POLICIES, Priority, Tier, TierPolicy
from functions.identity.model import Actor, ActorKind
from functions.platform import entry_keys
from functions.platform.entry_keys import EntryAddress
from functions.platform.keys import Key
from functions.platform.sensitivity import Sensitivity

RemovalReason = Literal["deleted", "evicted", "expired", "archived"]

TASK_LIFETIME = "task_lifetime"
LEARNED_FROM = "learned_from"
"""The member of a value that lists the messages it was learned from."""
_BEHIND = "!"  # sorts before all characters of sort tokens


class Entry(NamedTuple):
    """One incarnation of a slot, from its creation to its removal.

    Times are epoch ms; `value` is compact JSON text. A list makes hundreds of these, and a frozen
    dataclass takes four times as long to make.
    """

    address: EntryAddress
    nonce: str
    memory_type: Tier
    agent_id: str
    namespace: str
    key: str
    value: bytes
    value_bytes: int  # bytes of the value; limits count them
    version: int
    created_at: int
    updated_at: int
    created_by: str
    curated_by: str | None = None
    tags: tuple[str, ...] = ()
    task_id: str | None = None
    intent_id: str | None = None
    ttl: str | None = None
    expires_at: int | None = None
    pinned: bool = False
    priority: Priority = "normal"
    sensitivity: Sensitivity | None = None
    last_accessed_at: int = 0  # when its owner last wrote or read it; kept for evictable tiers only
    request_token: bytes | None = None  # the token of the request that wrote it
    traceparent: str | None = None  # the trace of the request that wrote it
    actor_kind: ActorKind = "agent"  # the kind of the writer of this version
    is_in_own_task: bool = (
        False  # in a task without a coordinator: counts against the agent's limits, too
    )
    is_fenced: bool = False  # each write checks its task, since its owner isn't the assignee (§5)
    unreadable: Literal[True] | None = None  # the stored value was damaged or moved
    inherited: Literal[True] | None = None  # shown to a sub-task of its task; never stored
    pinned_by_settings: bool = False  # whether the agent's settings decide (§7); never stored
    packed_vector: bytes | None = None  # the client's vector; only set on the way into the table
    vector_at: int | None = None  # when the client's vector was written; None without one
    vector_length: int | None = None  # the number of its dimensions
    occurred_at: int | None = None  # when the content happened; None: when the entry was created
    history_since: int | None = None  # the lowest version whose history was not removed
    superseded_at: int | None = None  # when the next version was written; None in the present one

    @property
    def id(self) -> str:
        return self.address.build_id(self.nonce)

    @property
    def actor(self) -> Actor:
        """The writer of this version: the owner, or a curator of semantic memory."""
        return Actor(self.curated_by or self.agent_id, self.actor_kind)

    @property
    def item_key(self) -> Key:
        return self.address.item_key

    @property
    def policy(self) -> TierPolicy:
        return POLICIES[self.memory_type]

    @property
    def sort_token(self) -> str:
        """Return the sort key of lists, newest first: the creation time, then the id.

        Inherited entries follow all others.
        """
        token = entry_keys.build_sort_token(self.address, self.nonce)
        return mark_inherited(token) if self.inherited else token

    @property
    def is_evictable(self) -> bool:
        """Tell whether the entry may be evicted: of such a tier, and not pinned."""
        return self.policy.is_evictable and not self.pinned

    @property
    def eviction_order(self) -> str | None:
        """Return the order of eviction: lower priority first, then least recent access (§2.2).

        None for an entry that can't be evicted.
        """
        if not self.is_evictable:
            return None
        return build_eviction_order(self.priority, self.last_accessed_at, self.nonce)

    @property
    def ends_with_task(self) -> bool:
        """Tell whether the entry ends with the task in its scope, if it has one."""
        return self.policy.is_task_bound or self.ttl == TASK_LIFETIME

    def is_expired(self, now: int) -> bool:
        """Return whether reads no longer show the entry (RFC-0015 §9.3)."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class Transition:
    """One entry's step from `old` to `new`.

    A created entry has no `old`, a removed one no `new`. An entry that replaces an expired one, or
    that a put replaces, has both.

    Attributes:
        index: the entry's position in a batch; None for a single entry.
        reason: why `old` is removed; None if it isn't.
    """

    old: Entry | None
    new: Entry | None
    index: int | None = None
    reason: RemovalReason = "deleted"

    @property
    def current(self) -> Entry:
        """The new entry, or the removed one."""
        entry = self.new or self.old
        if entry is None:
            raise ValueError("a transition has an old entry, a new one, or both")
        return entry

    @property
    def item_key(self) -> Key:
        return self.current.item_key

    @property
    def is_create(self) -> bool:
        """Tell whether it creates an incarnation, in a free slot or an expired entry's slot."""
        old, new = self.old, self.new
        return new is not None and (old is None or old.nonce != new.nonce)


def mark_inherited(token: str) -> str:
    """Build the sort token of an inherited entry of the token that it has in its own task."""
    return f"{_BEHIND}{token}"


def is_inherited_token(token: str) -> bool:
    """Return whether a sort token is of an inherited entry."""
    return token.startswith(_BEHIND)
