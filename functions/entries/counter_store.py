"""The writes of agents' counters: in the transactions of entries, and corrections."""

from collections.abc import Iterator
from typing import Any

from functions.entries.counters import CounterDelta, EntryCounts
from functions.entries.tiers import EPISODIC, WORKING
from functions.namespaces.restrictions import NOT_BOUND
from functions.platform import item_types, keys
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.writes import Write, update
from functions.tasks.mapper import usage_to_item

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
        now: epoch ms.
        observed_capacity: the free capacity on which evictions were decided; it must be unchanged.
            None if nothing is evicted.
        reserved: the part of the capacity that guardrails forbid; None if they were not read, and
            there must be none.
    """
    key = item_types.AGENT.build_key(tenant, agent=agent)
    due = keys.build_due_attributes(key[0], now + RECONCILE_EVERY)
    settings = ["agent_id = :agent"]
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
    """Build the same for what an open task counts of the agent; an ended one is being archived."""
    counted = usage_to_item(agent, *counts.tasks.get(item["task_id"], (0, 0)))
    wrong = {name: n for name, n in counted.items() if item.get(name, 0) != n}
    if not wrong or "completed_at" in item:
        return None
    entries, size = (item.get(name, 0) - n for name, n in counted.items())
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
