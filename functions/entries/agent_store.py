"""The item of an agent's memory: its counters, settings and limits, and all expressions on it.

The counters hold the rest of each limit, so that a limit is a condition of the write that would
exceed it. `working_…` are of working memory outside tasks and in tasks without a coordinator;
`working_own_entries` and `working_own_bytes` count the part in tasks. Entries above
`episodic_capacity` are evicted. A lower limit by guardrails is not in the item: it is read with the
item, and only rejects new entries. `working_max_entries` and `working_max_bytes` are limits outside
tasks; absent if never configured. `newest` is the sort token of the entry that was counted last:
indexes may not list it yet.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from functions.entries.counters import CounterDelta, EntryCounts
from functions.entries.tiers import EPISODIC, WORKING
from functions.namespaces.store import NOT_BOUND, RestrictionStore
from functions.platform import item_types, keys
from functions.platform.items import Item, from_attributes
from functions.platform.keys import Key
from functions.platform.schema import DUE_ATTRIBUTE
from functions.platform.table import Store, Table
from functions.platform.writes import Write, build_set_expression, update, update_unchanged
from functions.tasks.store import usage_to_item

_POSTPONED = 3_600_000  # ms, for an agent that can't be brought to its capacity now

_CAPACITY = EPISODIC.max_entries
_WORKING_ENTRIES, _WORKING_BYTES = WORKING.max_entries, WORKING.max_bytes
RECONCILE_EVERY = 86_400_000  # ms; counters of an agent are checked at least so often

_COUNTERS = (
    "counter_changes",
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
_SETTINGS = ("episodic_capacity", "working_max_entries", "working_max_bytes")


class AgentUsage(NamedTuple):
    """The entries that an agent holds, and its limits; sizes are bytes of values.

    Attributes:
        episodic_capacity: the configured capacity, or the guardrails' limit if that is lower.
        episodic_reserved: the part of the configured capacity that guardrails forbid.
        episodic_room: episodic entries that still fit; negative after the capacity was lowered.
        episodic_pinned_namespaces: new episodic entries in these are pinned.
        working_room: entries of working memory outside tasks that still fit.
        working_own_entries, working_own_bytes: working memory in tasks without a coordinator.
    """

    episodic_capacity: int = _CAPACITY
    episodic_reserved: int = 0
    episodic_room: int = _CAPACITY
    episodic_bytes: int = 0
    episodic_pinned_count: int = 0
    working_room: int = _WORKING_ENTRIES
    working_room_bytes: int = _WORKING_BYTES
    working_max_entries: int = _WORKING_ENTRIES
    working_max_bytes: int = _WORKING_BYTES
    working_own_entries: int = 0
    working_own_bytes: int = 0
    episodic_pinned_namespaces: frozenset[str] = frozenset()

    @property
    def episodic_entry_count(self) -> int:
        return self.episodic_capacity - self.episodic_room

    @property
    def excess(self) -> int:
        """Return the number of episodic entries to evict: never because of a guardrail."""
        return max(-self.episodic_room - self.episodic_reserved, 0)

    @property
    def is_above_limit(self) -> bool:
        """Tell whether guardrails forbid a new episodic entry because their limit is reached."""
        return self.episodic_reserved > 0 and self.episodic_room < 0

    @property
    def working_outside_tasks(self) -> int:
        return self.working_max_entries - self.working_room - self.working_own_entries

    @property
    def working_bytes_outside_tasks(self) -> int:
        return self.working_max_bytes - self.working_room_bytes - self.working_own_bytes


def to_usage(item: Item | None, most_episodic: int | None = None) -> AgentUsage:
    """Decode an agent's item; without an item, the agent holds nothing.

    Args:
        most_episodic: the limit by guardrails; None without one.
    """
    item = item or {}
    capacity = _get_capacity(item)
    reserved = 0 if most_episodic is None else max(capacity - most_episodic, 0)
    max_entries, max_bytes = _get_working_limits(item)
    return from_attributes(
        AgentUsage,
        item,
        episodic_capacity=capacity - reserved,
        episodic_reserved=reserved,
        episodic_room=item.get("episodic_room", capacity) - reserved,
        working_room=item.get("working_room", max_entries),
        working_room_bytes=item.get("working_room_bytes", max_bytes),
        episodic_pinned_namespaces=frozenset(item.get("episodic_pinned_namespaces", ())),
    )


class AgentStore(Store):
    """Reads and writes agents' items."""

    def __init__(self, table: Table, restrictions: RestrictionStore) -> None:
        super().__init__(table)
        self.restrictions = restrictions

    def get_limited_usage(
        self, tenant: str, agent: str, *others: Key
    ) -> tuple[AgentUsage, dict[Key, Item]]:
        """Return what an agent holds and may hold, and the other items that exist: one call."""
        item, restrictions, read = self.restrictions.read(tenant, agent, *others)
        return to_usage(item, restrictions.max_episodic), read

    def get_item(self, tenant: str, agent: str) -> Item:
        """Return an agent's item, empty if there is none."""
        return self._table.get(item_types.AGENT.build_key(tenant, agent=agent)) or {}

    def get_items(self, tenant: str, agents: Iterable[str]) -> dict[str, Item | None]:
        """Return the item of each agent, None where there is none: a call for each hundred."""
        keys = {each: item_types.AGENT.build_key(tenant, agent=each) for each in agents}
        found = self._table.get_many(keys.values())
        return {agent: found.get(key) for agent, key in keys.items()}

    def get_with_tasks(
        self, tenant: str, agent: str, task_ids: Iterable[str]
    ) -> tuple[Item, dict[Key, Item]]:
        """Return an agent's item, and those of tasks: a call for each hundred."""
        own = item_types.AGENT.build_key(tenant, agent=agent)
        tasks = [item_types.TASK.build_key(tenant, task=task_id) for task_id in task_ids]
        found = self._table.get_many((own, *tasks))
        return found.pop(own, {}), found

    def change_settings(
        self, tenant: str, agent: str, item: Item, changes: Item, now: int, *records: Write
    ) -> None:
        """Change an agent's settings, and its capacity with them; None removes a setting.

        The rest of the capacity changes by the difference, since entries are written at the same
        time. If the capacity is lowered, the agent becomes due for the schedule, which evicts.

        Args:
            item: the agent's item.
        """
        key = item_types.AGENT.build_key(tenant, agent=agent)
        new = item | changes
        before, after = _get_capacity(item), _get_capacity(new)
        attributes = changes | {"agent_id": agent, "episodic_capacity": after}
        if after < before:
            attributes |= keys.build_due_attributes(key[0], now)
        settings = ["episodic_room = if_not_exists(episodic_room, :before) + :more"]
        values: Item = {"before": before, "more": after - before}
        rooms = zip(
            ("working_room", "working_room_bytes"),
            _get_working_limits(item),
            _get_working_limits(new),
            strict=True,
        )
        for room, was, becomes in rooms:
            if was != becomes:
                settings.append(f"{room} = if_not_exists({room}, :was_{room}) + :more_{room}")
                values |= {f"was_{room}": was, f"more_{room}": becomes - was}
        expression, present = build_set_expression(attributes, *settings)
        write = update_unchanged(key, item, expression, _SETTINGS, values | present)
        self._table.transact([write, *records])

    def complete(self, item: Item, now: int) -> None:
        """Remove the agent from the due index unless it was rescheduled.

        Reschedule it in an hour while it is over capacity.
        """
        key, due = (item["pk"], item["sk"]), item[DUE_ATTRIBUTE]
        condition = "due = :due AND (attribute_not_exists(episodic_room) OR episodic_room >= :zero)"
        if not self._table.try_write(update(key, keys.REMOVE_DUE, condition, due=due, zero=0)):
            self.postpone(item, now)

    def postpone(self, item: Item, now: int) -> None:
        """Reschedule an agent in an hour unless it was rescheduled."""
        key, due, later = (item["pk"], item["sk"]), item[DUE_ATTRIBUTE], now + _POSTPONED
        self._table.try_write(update(key, "SET due = :later", "due = :due", due=due, later=later))

    def correct(self, write: Write) -> None:
        """Write a correction of counters."""
        self._table.update(write)


def _get_capacity(item: Item) -> int:
    return int(item.get("episodic_capacity", _CAPACITY))


def _get_working_limits(item: Item) -> tuple[int, int]:
    """Return the limits of an agent's working memory outside tasks: entries and bytes."""
    return item.get("working_max_entries", _WORKING_ENTRIES), item.get(
        "working_max_bytes", _WORKING_BYTES
    )


def build_counter_write(
    tenant: str,
    agent: str,
    delta: CounterDelta,
    now: int,
    observed_capacity: int | None = None,
    reserved: int | None = None,
) -> Write:
    """Build the change of an agent's counters; if they grow, the limit is the condition.

    The first change after a reconciliation makes the agent due for the next one.

    Args:
        observed_capacity: the free capacity on which evictions were decided; it must be unchanged.
            None if nothing is evicted.
        reserved: the part of the capacity that guardrails forbid; None if guardrails were not read:
            then the condition is that the agent has none.
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
        "counter_changes": 1,
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
    """Build the conditions on the remaining limits; add their settings and values.

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
            # The item counts what is left, not what is used. So one attribute has the limit and the
            # count, and the condition is `room >= 1`. An agent that never wrote has its whole limit
            # left.
            settings.append(f"{attribute} = if_not_exists({attribute}, :{name}_limit) - :{name}")
            values |= {name: more, f"{name}_limit": limit}
        if more > 0 and (attribute != "episodic_room" or observed_capacity is None):
            values[f"{name}_least"] = more + (reserved if attribute == "episodic_room" else 0)
            unused = f"attribute_not_exists({attribute}) AND :{name}_limit >= :{name}_least"
            yield f"(({unused}) OR {attribute} >= :{name}_least)"


def build_agent_correction(key: Key, item: Item, counts: EntryCounts) -> Write | None:
    """Build the write that makes an agent's counters equal `counts`; None if they do."""
    capacity = _get_capacity(item)
    max_entries, max_bytes = _get_working_limits(item)
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
    return update_unchanged(
        key, item, expression, ("counter_changes", "completed_at", *counted), values
    )
