"""Define a transaction of entries, and build its writes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from functions.entries.agent_store import build_counter_write
from functions.entries.capacity import NO_EVICTIONS, Evictions
from functions.entries.counters import CounterDelta, count_agent_changes
from functions.entries.filters import ROW_ATTRIBUTES
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, RemovalReason, Transition
from functions.entries.store import UNCHANGED
from functions.entries.task_scope import (
    NOTHING_KNOWN,
    TaskAssumptions,
    build_task_writes,
    set_flags,
)
from functions.identity.model import SERVICE, Actor, Principal
from functions.identity.store import check_principal
from functions.namespaces.store import NamespaceClaim
from functions.platform import entry_keys, request_context
from functions.platform.clock import to_ttl_seconds
from functions.platform.errors import BatchTooLarge
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import (
    MAX_ITEM_BYTES,
    MAX_TRANSACTION_BYTES,
    MAX_TRANSACTION_WRITES,
    TOMBSTONE_LIFETIME,
)
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.writes import ABSENT, Write, delete, put, replace_rows
from functions.vectors.client_vector_store import put_client_vector

_ALWAYS_FIT = MAX_TRANSACTION_BYTES // MAX_ITEM_BYTES


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction, with the results of earlier attempts.

    Attributes:
        reserved: the part of the caller's episodic capacity that guardrails forbid; None until
            they are read.
        actor: who is recorded as the actor; by default, the caller.
    """

    caller: Principal
    transitions: tuple[Transition, ...]
    now: int
    extra_writes: tuple[Write, ...] = ()
    claims: tuple[NamespaceClaim, ...] = ()
    tasks: TaskAssumptions = NOTHING_KNOWN
    evictions: Evictions = NO_EVICTIONS
    actor: Actor | None = None
    reserved: int | None = None

    def with_tasks(self, tasks: TaskAssumptions) -> Self:
        """Return the transaction with what is known of its tasks."""
        transitions = tuple(set_flags(each, tasks) for each in self.transitions)
        return replace(self, tasks=tasks, transitions=transitions)

    def build_writes(self, mapper: EntryMapper, further: Iterable[Write] = ()) -> list[Write]:
        """Build all writes of the transaction, with further ones."""
        tenant, now = self.caller.tenant, self.now
        transitions = (*self.transitions, *self.evictions.transitions)
        entries = (each for both in transitions for each in (both.old, both.new))
        in_tasks = any(each is not None and (each.task_id or each.intent_id) for each in entries)
        actor = self.actor or self.caller
        writes = [
            write
            for each in transitions
            for write in _build_transition_writes(mapper, each, actor, now)
        ]
        is_counted = any(each.current.policy.is_private for each in transitions)
        deltas = count_agent_changes(transitions) if is_counted else {}
        if self.evictions.free_capacity is not None:  # a condition, even if nothing changes
            deltas.setdefault(self.caller.id, CounterDelta())
        writes.extend(
            build_counter_write(
                tenant, agent, delta, now, self.evictions.free_capacity, self.reserved
            )
            for agent, delta in deltas.items()
        )
        if in_tasks:
            writes.extend(build_task_writes(self.caller, transitions, now, self.tasks))
        writes.extend(self.extra_writes)
        writes.extend(write for claim in self.claims for write in claim.writes)
        if self.claims:  # a revoked principal with a cached key must not become a curator
            writes.append(check_principal(self.caller))
        writes.extend(further)
        if len(writes) > _ALWAYS_FIT:
            _assert_fits(writes)
        return writes


def _assert_fits(writes: list[Write]) -> None:
    """Raise `BatchTooLarge` if the writes are too many or too large for one transaction."""
    if len(writes) > MAX_TRANSACTION_WRITES:
        message = "this is more than one atomic write can hold; split it, or use fewer tags"
        raise BatchTooLarge(message, max=MAX_TRANSACTION_WRITES, actual=len(writes))
    size = sum(write.size for write in writes)
    if size > MAX_TRANSACTION_BYTES:
        message = "this is more than one atomic write can hold; split it into smaller batches"
        raise BatchTooLarge(message, max=MAX_TRANSACTION_BYTES, actual=size)


def _build_transition_writes(
    mapper: EntryMapper, transition: Transition, actor: Actor | Principal, now: int
) -> Iterator[Write]:
    """Build the writes of an entry's item, of its index rows, and of its vector and tombstone.

    The old state is the condition of the item's write.
    """
    old, new = transition.old, transition.new
    condition, seen = ABSENT, Item()
    if old is not None:
        seen = {"nonce": old.nonce, "version": old.version}
        condition = UNCHANGED
    if old is not None and transition.reason == "evicted":
        # An entry that was read since, or whose priority was raised, is no longer the next to
        # evict. Its order has changed, and its version has not.
        condition += " AND eviction_order = :eviction_order"
        seen["eviction_order"] = old.eviction_order
    if new is None:
        yield delete(transition.item_key, condition, **seen)
    else:
        yield put(new.item_key, mapper.to_item(new), condition, **seen)
    yield from replace_rows(build_index_rows(old), build_index_rows(new))
    if new is not None and new.packed_vector is not None and new.vector_at is not None:
        partition = new.address.client_vectors
        yield put_client_vector(partition, new.vector_at, new.id, new.packed_vector)
    if old is not None and (new is None or transition.is_create):
        reason = "expired" if new is not None and old.is_expired(now) else transition.reason
        # The service removes expired entries, not a caller.
        yield build_tombstone(old, reason, SERVICE if reason == "expired" else actor, now)


def build_tombstone(
    entry: Entry, reason: RemovalReason, actor: Actor | Principal, now: int
) -> Write:
    """Build the item that tells the change stream why and by whom an entry was removed."""
    item: Item = {
        "reason": reason,
        "actor": actor.id,
        "actor_kind": actor.kind,
        "traceparent": request_context.traceparent.get(),
        "happened": now,
        TTL_ATTRIBUTE: to_ttl_seconds(now + TOMBSTONE_LIFETIME),
    }
    return put(entry_keys.build_tombstone_key(entry.address, entry.nonce), item)


def build_index_rows(entry: Entry | None) -> dict[Key, Item]:
    """Build the rows by which queries find a semantic entry; other entries have none."""
    if entry is None or entry.policy.is_private:
        return {}
    row: Item = {name: getattr(entry, name) or None for name in ROW_ATTRIBUTES}
    partition, token = entry.item_key[0], entry.sort_token
    row |= {"entry_expires_at": entry.expires_at, TTL_ATTRIBUTE: to_ttl_seconds(entry.expires_at)}
    return {
        (partition, entry_keys.build_index_row_sort(token, tag)): row for tag in (None, *entry.tags)
    }
