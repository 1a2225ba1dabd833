"""The writes of an entry's transition: its item, its tombstone, its index rows, its vector."""

from collections.abc import Iterable, Iterator

from functions.entries.filters import ROW_ATTRIBUTES
from functions.entries.mapper import BARRIER, EntryMapper, is_entry
from functions.entries.model import Entry, RemovalReason, Transition
from functions.identity.model import SERVICE, Actor
from functions.platform import entry_keys, request_context, vector_keys
from functions.platform.entry_keys import EntryAddress
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.ttl import to_ttl_seconds
from functions.platform.writes import ABSENT, Write, delete, put, replace_rows, update
from functions.vectors.client_vector_store import put_client_vector

TOMBSTONE_LIFETIME = 86_400_000  # ms; change streams are kept as long
_NO_ENTRY = "attribute_not_exists(nonce)"


def build_entry_write(mapper: EntryMapper, transition: Transition, now: int) -> Write:
    """Build the write of the entry's own item; the old state is its condition.

    A barrier stays, whatever comes and goes in its slot.
    """
    old, new = transition.old, transition.new
    if old is None:
        entry = transition.current
        condition = _NO_ENTRY if entry.has_barrier else ABSENT
        return put(entry.item_key, mapper.to_item(entry), condition)
    seen: Item = {"nonce": old.nonce, "version": old.version}
    condition = "nonce = :nonce AND version = :version"
    condition += f" AND attribute_{'' if old.has_barrier else 'not_'}exists({BARRIER})"
    if transition.reason == "evicted":
        condition += " AND eviction_order = :eviction_order"
        seen["eviction_order"] = old.eviction_order
    if new is not None:
        kept = new._replace(has_barrier=old.has_barrier)
        return put(new.item_key, mapper.to_item(kept), condition, **seen)
    if old.has_barrier:
        return put(old.item_key, _build_barrier(now), condition, **seen)
    return delete(old.item_key, condition, **seen)


def build_barrier_write(item_key: Key, occupant: Item | None, now: int) -> Write:
    """Build the write that keeps entries from being created in a slot without a transaction.

    A barrier is kept for a day, and as long as the entry that is in the slot.

    Args:
        occupant: what is in the slot; the condition is that this is so.
        now: epoch ms.
    """
    if occupant is None or not is_entry(occupant):
        return put(item_key, _build_barrier(now), _NO_ENTRY)
    expression = f"SET {BARRIER} = :true"
    return update(item_key, expression, "nonce = :nonce", true=True, nonce=occupant["nonce"])


def _build_barrier(now: int) -> Item:
    return {BARRIER: True, TTL_ATTRIBUTE: to_ttl_seconds(now + TOMBSTONE_LIFETIME)}


def build_tombstone_write(transition: Transition, actor: Actor, now: int) -> Write | None:
    """Build the item by which the change stream learns why and by whom an entry was removed.

    None if no incarnation is removed. What expires is removed by the service, in
    the name of no caller.
    """
    old, new = transition.old, transition.new
    if old is None or (new is not None and not transition.is_create):
        return None
    reason = "expired" if new is not None and old.is_expired(now) else transition.reason
    actor = SERVICE if reason == "expired" else actor
    return build_tombstone(old.address, old.nonce, reason, actor, now)


def build_tombstone(
    address: EntryAddress,
    nonce: str,
    reason: RemovalReason,
    actor: Actor,
    now: int,
    condition: str | None = None,
) -> Write:
    """Build the tombstone of an entry; tombstones are kept for a day."""
    item: Item = {
        "reason": reason,
        "actor": actor.id,
        "actor_kind": actor.kind,
        "traceparent": request_context.traceparent.get(),
        "happened": now,
        TTL_ATTRIBUTE: to_ttl_seconds(now + TOMBSTONE_LIFETIME),
    }
    return put(entry_keys.build_tombstone_key(address, nonce), item, condition)


def build_vector_writes(transition: Transition) -> Iterator[Write]:
    """Build the write of a vector that the client gives; the stream removes what it replaces."""
    new = transition.new
    if new is not None and new.vector is not None and new.vector_at is not None:
        partition = vector_keys.build_client_vectors_partition(new.address)
        yield put_client_vector(partition, new.vector_at, new.id, new.vector)


def build_row_removals(keys: Iterable[Key]) -> list[Write]:
    """Build the removals of index rows, whatever is in them."""
    return [delete(key) for key in keys]


def build_index_writes(transition: Transition) -> list[Write]:
    """Build the changes of the index rows of semantic memory."""
    return replace_rows(_build_index_rows(transition.old), _build_index_rows(transition.new))


def _build_index_rows(entry: Entry | None) -> dict[Key, Item]:
    if entry is None or entry.policy.is_private:
        return {}
    row: Item = {name: getattr(entry, name) or None for name in ROW_ATTRIBUTES}
    row |= {"entry_expires_at": entry.expires_at, TTL_ATTRIBUTE: to_ttl_seconds(entry.expires_at)}
    return {
        entry_keys.build_index_row_key(entry.address, entry.nonce, tag): row
        for tag in (None, *entry.tags)
    }
