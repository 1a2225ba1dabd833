"""The item of an agent's memory: its counters, settings and limits, and all expressions on it.

The counters say how much is left of each limit, so that a limit is a condition of the write that
would exceed it. `ep_…` are of episodic memory, `wk_…` of working memory outside tasks and in tasks
without a coordinator; `wk_own` and `wk_own_bytes` count what of it is in tasks.
`ep_capacity` is the capacity that applies: the one asked for, or a guardrail's lower limit. What
exceeds the capacity asked for is evicted; a guardrail's limit only keeps new entries away.
`wk_limit` and `wk_limit_bytes` are the limits of working memory outside tasks, where they are set.
`newest` is the sort token of the entry that was counted last: indexes may not list it yet.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from functions.entries.counters import CounterDelta, EntryCounts
from functions.entries.tiers import EPISODIC, WORKING
from functions.platform import entry_keys, keys, task_keys
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, update
from functions.tasks.mapper import usage_to_item

RECONCILE_EVERY = 86_400_000  # ms; how long the counters of an agent go unchecked at most
_POSTPONED = 3_600_000  # ms, for an agent that can\'t be brought to its capacity now

_CAPACITY = EPISODIC.max_entries
_WORKING_ENTRIES, _WORKING_BYTES = WORKING.max_entries, WORKING.max_bytes
_COUNTERS = (
    "changes",
    "ep_capacity",
    "ep_room",
    "wk_room",
    "wk_room_bytes",
    "wk_own",
    "wk_own_bytes",
    "wk_limit",
    "wk_limit_bytes",
    "ep_bytes",
    "ep_pinned",
)
_SETTINGS = ("ep_capacity", "ep_asked", "ep_limit", "ep_limited_by", "wk_limit", "wk_limit_bytes")


class AgentUsage(NamedTuple):
    """What an agent holds and may hold; sizes are bytes of values.

    Attributes:
        capacity: how many episodic entries it may add to: those asked for, or the limit.
        asked_capacity: how many it may hold by its settings.
        limit: how many it may add to by guardrails; None where there is no such limit.
        free_capacity: episodic entries that still fit; negative after the capacity was lowered.
        free_working_entries: entries of working memory outside tasks that still fit.
        own, own_bytes: working memory in tasks that counts against these limits.
        pinned_namespaces: whose new episodic entries are pinned.
    """

    capacity: int = _CAPACITY
    asked_capacity: int = _CAPACITY
    limit: int | None = None
    free_capacity: int = _CAPACITY
    episodic_bytes: int = 0
    pinned: int = 0
    free_working_entries: int = _WORKING_ENTRIES
    free_working_bytes: int = _WORKING_BYTES
    max_working_entries: int = _WORKING_ENTRIES
    max_working_bytes: int = _WORKING_BYTES
    own: int = 0
    own_bytes: int = 0
    pinned_namespaces: frozenset[str] = frozenset()

    @property
    def episodic(self) -> int:
        return self.capacity - self.free_capacity

    @property
    def excess(self) -> int:
        """How many episodic entries are to be evicted: never because of a guardrail."""
        return max(self.episodic - self.asked_capacity, 0)

    @property
    def is_above_limit(self) -> bool:
        """Whether guardrails bar any new episodic entry, since more are there than they allow."""
        return self.limit is not None and self.episodic > self.limit

    @property
    def working_outside_tasks(self) -> int:
        return self.max_working_entries - self.free_working_entries - self.own

    @property
    def working_bytes_outside_tasks(self) -> int:
        return self.max_working_bytes - self.free_working_bytes - self.own_bytes


def to_usage(item: Item | None) -> AgentUsage:
    """Return what an agent's item says; without an item, the agent holds nothing."""
    item = item or {}
    capacity: int = item.get("ep_capacity", _CAPACITY)
    max_entries, max_bytes = _get_working_limits(item)
    return AgentUsage(
        capacity=capacity,
        asked_capacity=item.get("ep_asked", _CAPACITY),
        limit=item.get("ep_limit"),
        free_capacity=item.get("ep_room", capacity),
        episodic_bytes=item.get("ep_bytes", 0),
        pinned=item.get("ep_pinned", 0),
        free_working_entries=item.get("wk_room", max_entries),
        free_working_bytes=item.get("wk_room_bytes", max_bytes),
        max_working_entries=max_entries,
        max_working_bytes=max_bytes,
        own=item.get("wk_own", 0),
        own_bytes=item.get("wk_own_bytes", 0),
        pinned_namespaces=frozenset(item.get("ep_pins", ())),
    )


class AgentStore:
    """Reads and writes agents' items."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_item(self, tenant: str, agent: str) -> Item:
        """Return an agent's item, empty if there is none."""
        return self._table.get(entry_keys.build_agent_key(tenant, agent)) or {}

    def get_usage(self, tenant: str, agent: str) -> AgentUsage:
        """Return what an agent holds and may hold: one read."""
        return to_usage(self.get_item(tenant, agent))

    def get_usages(self, tenant: str, agents: Iterable[str]) -> dict[str, AgentUsage]:
        """Return the same of those agents that have an item, by id: a call for each hundred."""
        found = self._table.get_many(entry_keys.build_agent_key(tenant, each) for each in agents)
        return {item["agent_id"]: to_usage(item) for item in found.values()}

    def get_with_tasks(
        self, tenant: str, agent: str, task_ids: Iterable[str]
    ) -> tuple[Item, dict[Key, Item]]:
        """Return an agent's item, and those of tasks: a call for each hundred."""
        own = entry_keys.build_agent_key(tenant, agent)
        tasks = [task_keys.build_task_key(tenant, task_id) for task_id in task_ids]
        found = self._table.get_many((own, *tasks))
        return found.pop(own, {}), found

    def change_settings(
        self, tenant: str, agent: str, item: Item, changes: Item, now: int, *records: Write
    ) -> None:
        """Change an agent's settings, and its capacity with them; None removes a setting.

        What is left of the capacity changes by the difference, since entries are written all the
        while. Where fewer are asked for, the agent becomes due for the schedule, which evicts.

        Args:
            tenant: the agent's.
            agent: whose settings.
            item: the agent's item as it was read.
            changes: the attributes to set.
            now: epoch ms.
            records: written with the change.

        Raises:
            TransactionConditionFailed: when other settings were written after `item` was read.
        """
        key = entry_keys.build_agent_key(tenant, agent)
        new = item | changes
        before, after = _get_capacity(item), _get_capacity(new)
        present = {name: value for name, value in changes.items() if value is not None}
        present |= {"agent_id": agent, "ep_capacity": after}
        if (item | changes).get("ep_asked", _CAPACITY) < item.get("ep_asked", _CAPACITY):
            present |= keys.build_due_attributes(key[0], now)
        settings = [f"{name} = :{name}" for name in present]
        settings.append("ep_room = if_not_exists(ep_room, :before) + :more")
        values: Item = {"before": before, "more": after - before} | present
        rooms = zip(
            ("wk_room", "wk_room_bytes"),
            _get_working_limits(item),
            _get_working_limits(new),
            strict=True,
        )
        for room, was, becomes in rooms:
            if was != becomes:
                settings.append(f"{room} = if_not_exists({room}, :was_{room}) + :more_{room}")
                values |= {f"was_{room}": was, f"more_{room}": becomes - was}
        removed = ", ".join(changes.keys() - present.keys())
        expression = f"SET {', '.join(settings)}" + (f" REMOVE {removed}" if removed else "")
        write = _update_unchanged(key, item, expression, _SETTINGS, values)
        self._table.transact([write, *records])

    def complete(self, item: Item, now: int) -> None:
        """Make an agent's item due no more, unless it is due anew; in an hour if over capacity."""
        key, due = (item["pk"], item["sk"]), item[DUE_ATTRIBUTE]
        expression = f"REMOVE {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}"
        condition = "due = :due AND (attribute_not_exists(ep_room) OR ep_room >= :least)"
        least = _get_capacity(item) - item.get("ep_asked", _CAPACITY)  # what a guardrail takes away
        try:
            self._table.update(update(key, expression, condition, due=due, least=least))
        except ConditionFailed as failed:
            if failed.item is not None and failed.item.get(DUE_ATTRIBUTE) == due:
                self.postpone(item, now)

    def postpone(self, item: Item, now: int) -> None:
        """Make an agent's item due in an hour, unless it is due anew."""
        key, due, later = (item["pk"], item["sk"]), item[DUE_ATTRIBUTE], now + _POSTPONED
        try:
            self._table.update(update(key, "SET due = :later", "due = :due", due=due, later=later))
        except ConditionFailed:
            return

    def correct(self, write: Write) -> None:
        """Write a correction of counters.

        Raises:
            ConditionFailed: when a counter has changed since it was read.
        """
        self._table.update(write)


def _get_working_limits(item: Item) -> tuple[int, int]:
    """Return how many entries and bytes of working memory an agent has at most outside tasks."""
    return item.get("wk_limit", _WORKING_ENTRIES), item.get("wk_limit_bytes", _WORKING_BYTES)


def _get_capacity(item: Item) -> int:
    """Return the capacity that applies: the one asked for, or a lower limit."""
    asked: int = item.get("ep_asked", _CAPACITY)
    limit: int | None = item.get("ep_limit")
    return asked if limit is None else min(asked, limit)


def build_counter_write(
    tenant: str,
    agent: str,
    delta: CounterDelta,
    now: int,
    observed_capacity: int | None = None,
) -> Write:
    """Build the change of an agent's counters; where they grow, the limit is the condition.

    The first change after a reconciliation makes the agent due for the next one.

    Args:
        observed_capacity: the free capacity on which evictions were decided; it must be unchanged.
            None if nothing is evicted.
    """
    key = entry_keys.build_agent_key(tenant, agent)
    settings, conditions = ["agent_id = :agent"], []
    due = keys.build_due_attributes(key[0], now + RECONCILE_EVERY)
    settings += [f"{name} = if_not_exists({name}, :{name})" for name in due]
    values: Item = {"agent": agent} | due
    if observed_capacity is not None:
        conditions.append("ep_room = :observed")
        values["observed"] = observed_capacity
    for name, more, attribute, limit in (
        ("ep", delta.episodic, "ep_room", _CAPACITY),
        ("wk", delta.working, "wk_room", _WORKING_ENTRIES),
        ("wkb", delta.working_bytes, "wk_room_bytes", _WORKING_BYTES),
    ):
        if more:
            settings.append(f"{attribute} = if_not_exists({attribute}, :{name}_limit) - :{name}")
            values |= {name: more, f"{name}_limit": limit}
        if more > 0 and (attribute != "ep_room" or observed_capacity is None):
            unused = f"attribute_not_exists({attribute}) AND :{name}_limit >= :{name}"
            conditions.append(f"(({unused}) OR {attribute} >= :{name})")
    if delta.newest:
        settings.append("newest = :newest")
        values["newest"] = delta.newest
    for number, namespace in enumerate(sorted(delta.unpinned_namespaces)):
        conditions.append(f"NOT contains(ep_pins, :pin{number})")
        values[f"pin{number}"] = namespace
    added = {
        "changes": 1,
        "ep_bytes": delta.episodic_bytes,
        "ep_pinned": delta.pinned,
        "wk_own": delta.own,
        "wk_own_bytes": delta.own_bytes,
    }
    values |= {name: more for name, more in added.items() if more}
    additions = ", ".join(f"{name} :{name}" for name, more in added.items() if more)
    expression = f"SET {', '.join(settings)} ADD {additions}"
    return update(key, expression, " AND ".join(conditions) or None, **values)


def build_agent_correction(key: Key, item: Item, counts: EntryCounts) -> Write | None:
    """Build the write that makes an agent's counters equal `counts`; None if they do."""
    capacity = item.get("ep_capacity", _CAPACITY)
    max_entries, max_bytes = _get_working_limits(item)
    counted = {
        "ep_room": (capacity - counts.episodic, capacity),
        "wk_room": (max_entries - counts.working, max_entries),
        "wk_room_bytes": (max_bytes - counts.working_bytes, max_bytes),
        "ep_bytes": (counts.episodic_bytes, 0),
        "ep_pinned": (counts.pinned, 0),
        "wk_own": (counts.own, 0),
        "wk_own_bytes": (counts.own_bytes, 0),
    }
    wrong = {name: n for name, (n, unset) in counted.items() if item.get(name, unset) != n}
    if not wrong:
        return None
    settings = ", ".join(f"{name} = :{name}" for name in wrong)
    return _update_unchanged(key, item, f"SET {settings}", _COUNTERS, wrong)


def build_task_correction(key: Key, item: Item, agent: str, counts: EntryCounts) -> Write | None:
    """Build the same for what an open task counts of the agent; an ended one is being archived."""
    counted = usage_to_item(agent, *counts.tasks.get(item["task"], (0, 0)))
    wrong = {name: n for name, n in counted.items() if item.get(name, 0) != n}
    if not wrong or "ended" in item:
        return None
    entries, size = (item.get(name, 0) - n for name, n in counted.items())
    settings = ", ".join(f"{name} = :{name}" for name in counted)
    expression = f"SET {settings} ADD free_entries :free_entries, free_bytes :free_bytes"
    values = counted | {"free_entries": entries, "free_bytes": size}
    return _update_unchanged(key, item, expression, ("changes", "ended", *counted), values)


def _update_unchanged(
    key: Key, item: Item, expression: str, attributes: tuple[str, ...], values: dict[str, Any]
) -> Write:
    """Build an update on the condition that `attributes` are as in `item`."""
    conditions = [
        f"{name} = :seen_{name}" if name in item else f"attribute_not_exists({name})"
        for name in attributes
    ]
    seen = {f"seen_{name}": item[name] for name in attributes if name in item}
    return update(key, expression, " AND ".join(conditions), **values, **seen)
