"""The writes of transactions of entries: of an entry's transition, and of agents' counters.

A transition writes the entry's item, its tombstone, its index rows and its vector.
"""

from collections.abc import Iterator
from typing import Any

from functions.entries.counters import CounterDelta, EntryCounts
from functions.entries.filters import ROW_ATTRIBUTES
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, RemovalReason, Transition
from functions.entries.tiers import EPISODIC, WORKING
from functions.identity.model import SERVICE, Actor
from functions.namespaces.store import NOT_BOUND
from functions.platform import entry_keys, item_types, keys, request_context, vector_keys
from functions.platform.clock import to_ttl_seconds
from functions.platform.entry_keys import EntryAddress
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.writes import ABSENT, Write, delete, put, replace_rows, update
from functions.tasks.mapper import usage_to_item
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
        # An entry that was read since, or whose priority was raised, is no longer the next one. Its
        # order has changed, and its version has not.
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
    partition, token = entry.address.partition, entry.sort_token
    row |= {"entry_expires_at": entry.expires_at, TTL_ATTRIBUTE: to_ttl_seconds(entry.expires_at)}
    return {
        (partition, entry_keys.build_index_row_sort(token, tag)): row for tag in (None, *entry.tags)
    }


RECONCILE_EVERY = 86_400_000  # ms; how long the counters of an agent go unchecked at most

_CAPACITY = EPISODIC.max_entries
_WORKING_ENTRIES, _WORKING_BYTES = WORKING.max_entries, WORKING.max_bytes
_COUNTERS = (
    "changes",
    "episodic_capacity",
    "episodic_room",
    "working_room",
    "working_room_bytes",
    "working_own_entries",
    "working_own_bytes",
    "working_max_entries",
    "working_max_bytes",
    "episodic_bytes",
    "episodic_pinned_count",
)


def build_counter_write(
    tenant: str,
    agent: str,
    delta: CounterDelta,
    now: int,
    observed_capacity: int | None = None,
    reserved: int | None = None,
) -> Write:
    """Build the change of an agent's counters; where they grow, the limit is the condition.

    The first change after a reconciliation makes the agent due for the next one.

    Args:
        delta: their change.
        observed_capacity: the free capacity on which evictions were decided; it must be unchanged.
            None if nothing is evicted.
        reserved: the part of the capacity that guardrails forbid; None if they were not read, and
            there must be none.
    """
    key = item_types.AGENT.build_key(tenant, agent=agent)
    due = keys.build_due_attributes(key[0], now + RECONCILE_EVERY)
    settings = ["agent_id = :agent"]
    # The first change after a check makes the next check due; later changes don't postpone it.
    settings += [f"{name} = if_not_exists({name}, :{name})" for name in due]
    values: Item = {"agent": agent} | due
    conditions = list(_build_limits(delta, observed_capacity, reserved or 0, settings, values))
    if delta.episodic > 0 and reserved is None:
        conditions.append(NOT_BOUND)
        values["unbound"] = 0
    if delta.newest:
        settings.append("newest = :newest")
        values["newest"] = delta.newest
    for number, namespace in enumerate(sorted(delta.unpinned_namespaces)):
        conditions.append(f"NOT contains(episodic_pinned_namespaces, :pin{number})")
        values[f"pin{number}"] = namespace
    added: Item = {
        "changes": 1,
        "episodic_bytes": delta.episodic_bytes,
        "episodic_pinned_count": delta.pinned,
        "working_own_entries": delta.own,
        "working_own_bytes": delta.own_bytes,
    }
    added = {name: more for name, more in added.items() if more}
    expression = f"SET {', '.join(settings)} ADD {', '.join(f'{name} :{name}' for name in added)}"
    values |= added
    return update(key, expression, " AND ".join(conditions) or None, **values)


def _build_limits(
    delta: CounterDelta,
    observed_capacity: int | None,
    reserved: int,
    settings: list[str],
    values: Item,
) -> Iterator[str]:
    """Build the conditions of what is counted down; add the settings and values of it.

    Example: with a capacity of 1000, of which guardrails forbid 998, one more entry fits while
    `episodic_room` is 999 or more.
    """
    if observed_capacity is not None:
        yield "episodic_room = :observed"
        values["observed"] = observed_capacity
    for name, more, attribute, limit in (
        ("ep", delta.episodic, "episodic_room", _CAPACITY),
        ("wk", delta.working, "working_room", _WORKING_ENTRIES),
        ("wkb", delta.working_bytes, "working_room_bytes", _WORKING_BYTES),
    ):
        if more:
            # The item counts what is left, and not what is there: so one attribute has the limit
            # and the count, and the condition is `room >= 1`. An agent that never wrote has all of
            # its limit left.
            settings.append(f"{attribute} = if_not_exists({attribute}, :{name}_limit) - :{name}")
            values |= {name: more, f"{name}_limit": limit}
        if more > 0 and (attribute != "episodic_room" or observed_capacity is None):
            values[f"{name}_least"] = more + (reserved if attribute == "episodic_room" else 0)
            unused = f"attribute_not_exists({attribute}) AND :{name}_limit >= :{name}_least"
            yield f"(({unused}) OR {attribute} >= :{name}_least)"


def build_agent_correction(key: Key, item: Item, counts: EntryCounts) -> Write | None:
    """Build the write that makes an agent's counters equal `counts`; None if they do."""
    capacity = item.get("episodic_capacity", _CAPACITY)
    max_entries, max_bytes = get_working_limits(item)
    counted = {
        "episodic_room": (capacity - counts.episodic, capacity),
        "working_room": (max_entries - counts.working, max_entries),
        "working_room_bytes": (max_bytes - counts.working_bytes, max_bytes),
        "episodic_bytes": (counts.episodic_bytes, 0),
        "episodic_pinned_count": (counts.pinned, 0),
        "working_own_entries": (counts.own, 0),
        "working_own_bytes": (counts.own_bytes, 0),
    }
    wrong = {name: n for name, (n, unset) in counted.items() if item.get(name, unset) != n}
    if not wrong:
        return None
    settings = ", ".join(f"{name} = :{name}" for name in wrong)
    return update_unchanged(key, item, f"SET {settings}", _COUNTERS, wrong)


def build_task_correction(key: Key, item: Item, agent: str, counts: EntryCounts) -> Write | None:
    """Build the correction of an agent's counters in an open task; an ended one is archived."""
    counted = usage_to_item(agent, *counts.tasks.get(item["task_id"], (0, 0)))
    wrong = {name: n for name, n in counted.items() if item.get(name, 0) != n}
    if not wrong or "completed_at" in item:
        return None
    entries, size = (item.get(name, 0) - n for name, n in counted.items())
    # Example: the task counts 3 entries of the agent, who holds 2. The count becomes 2, and one
    # more entry fits into the task: the correction adds 3 - 2 to `free_entries`.
    settings = ", ".join(f"{name} = :{name}" for name in counted)
    expression = f"SET {settings} ADD free_entries :free_entries, free_bytes :free_bytes"
    values = counted | {"free_entries": entries, "free_bytes": size}
    return update_unchanged(key, item, expression, ("changes", "completed_at", *counted), values)


def get_working_limits(item: Item) -> tuple[int, int]:
    """Return how many entries and bytes of working memory an agent has at most outside tasks."""
    return item.get("working_max_entries", _WORKING_ENTRIES), item.get(
        "working_max_bytes", _WORKING_BYTES
    )


def update_unchanged(
    key: Key, item: Item, expression: str, attributes: tuple[str, ...], values: dict[str, Any]
) -> Write:
    """Build an update on the condition that `attributes` are as in `item`."""
    conditions = [
        f"{name} = :seen_{name}" if name in item else f"attribute_not_exists({name})"
        for name in attributes
    ]
    seen = {f"seen_{name}": item[name] for name in attributes if name in item}
    return update(key, expression, " AND ".join(conditions), **values, **seen)
