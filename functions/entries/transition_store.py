"""The writes of an entry's transition: its item, its tombstone, its index rows, its vector."""

from collections.abc import Iterator

from functions.entries.filters import ROW_ATTRIBUTES
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, RemovalReason, Transition
from functions.identity.model import SERVICE, Actor
from functions.platform import entry_keys, request_context, vector_keys
from functions.platform.entry_keys import EntryAddress
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.ttl import to_ttl_seconds
from functions.platform.writes import ABSENT, Write, delete, put, replace_rows
from functions.vectors.client_vector_store import put_client_vector

TOMBSTONE_LIFETIME = 86_400_000  # ms; change streams are kept as long


def build_entry_write(mapper: EntryMapper, transition: Transition) -> Write:
    """Build the write of the entry's own item; the old state is its condition."""
    old, new = transition.old, transition.new
    if old is None:
        entry = transition.current
        return put(entry.item_key, mapper.to_item(entry), ABSENT)
    seen: Item = {"nonce": old.nonce, "version": old.version}
    condition = "nonce = :nonce AND version = :version"
    if transition.reason == "evicted":
        condition += " AND eviction_order = :eviction_order"
        seen["eviction_order"] = old.eviction_order
    if new is not None:
        return put(new.item_key, mapper.to_item(new), condition, **seen)
    return delete(old.item_key, condition, **seen)


def build_removal(entry: Entry, reason: RemovalReason, actor: Actor, now: int) -> Iterator[Write]:
    """Build the writes that remove an entry at its version, with its index rows."""
    seen: Item = {"nonce": entry.nonce, "version": entry.version}
    yield delete(entry.item_key, "nonce = :nonce AND version = :version", **seen)
    yield build_tombstone(entry.address, entry.nonce, reason, actor, now)
    yield from map(delete, _build_index_rows(entry))


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
    if new is not None and new.packed_vector is not None and new.vector_at is not None:
        partition = vector_keys.build_client_vectors_partition(new.address)
        yield put_client_vector(partition, new.vector_at, new.id, new.packed_vector)


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
