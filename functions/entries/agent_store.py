"""The item of an agent's memory: its counters, settings and limits, and all expressions on it.

The counters say how much is left of each limit, so that a limit is a condition of the write that
would exceed it. `working_…` are of working memory outside tasks and in tasks without a coordinator;
`working_own_entries` and `working_own_bytes` count the part in tasks.
What exceeds `episodic_capacity` is evicted. A lower limit by guardrails is not in the item: it is
read with it, and only rejects new entries.
`working_max_entries` and `working_max_bytes` are limits outside tasks; absent if never configured.
`newest` is the sort token of the entry that was counted last: indexes may not list it yet.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from functions.entries.tiers import EPISODIC, WORKING
from functions.entries.transition_store import get_working_limits, update_unchanged
from functions.identity.model import Principal
from functions.namespaces.store import RestrictionStore
from functions.platform import item_types, keys
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store, Table
from functions.platform.writes import Write, build_set_expression, update

_POSTPONED = 3_600_000  # ms, for an agent that can't be brought to its capacity now

_CAPACITY = EPISODIC.max_entries
_WORKING_ENTRIES, _WORKING_BYTES = WORKING.max_entries, WORKING.max_bytes
_SETTINGS = ("episodic_capacity", "working_max_entries", "working_max_bytes")


class AgentUsage(NamedTuple):
    """Tells what an agent holds and may hold; sizes are bytes of values.

    Attributes:
        episodic_capacity: the configured capacity, or the guardrails' limit if that is lower.
        episodic_reserved: the part of the configured capacity that guardrails forbid.
        episodic_room: episodic entries that still fit; negative after the capacity was lowered.
        episodic_pinned_namespaces: new episodic entries in these are pinned.
        working_room: entries of working memory outside tasks that still fit.
        working_own_entries, working_own_bytes: the part of it in tasks without a coordinator.
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
        """Return how many episodic entries are to be evicted: never because of a guardrail."""
        return max(-self.episodic_room - self.episodic_reserved, 0)

    @property
    def is_above_limit(self) -> bool:
        """Tell whether guardrails bar any new episodic entry, since too many are there."""
        return self.episodic_reserved > 0 and self.episodic_room < 0

    @property
    def working_outside_tasks(self) -> int:
        return self.working_max_entries - self.working_room - self.working_own_entries

    @property
    def working_bytes_outside_tasks(self) -> int:
        return self.working_max_bytes - self.working_room_bytes - self.working_own_bytes


def to_usage(item: Item | None, most_episodic: int | None = None) -> AgentUsage:
    """Return what an agent's item says; without an item, the agent holds nothing.

    Args:
        most_episodic: the limit by guardrails; None without one.
    """
    item = item or {}
    capacity = _get_capacity(item)
    reserved = 0 if most_episodic is None else max(capacity - most_episodic, 0)
    max_entries, max_bytes = get_working_limits(item)
    return AgentUsage(
        episodic_capacity=capacity - reserved,
        episodic_reserved=reserved,
        episodic_room=item.get("episodic_room", capacity) - reserved,
        episodic_bytes=item.get("episodic_bytes", 0),
        episodic_pinned_count=item.get("episodic_pinned_count", 0),
        working_room=item.get("working_room", max_entries),
        working_room_bytes=item.get("working_room_bytes", max_bytes),
        working_max_entries=max_entries,
        working_max_bytes=max_bytes,
        working_own_entries=item.get("working_own_entries", 0),
        working_own_bytes=item.get("working_own_bytes", 0),
        episodic_pinned_namespaces=frozenset(item.get("episodic_pinned_namespaces", ())),
    )


class AgentStore(Store):
    """Reads and writes agents' items."""

    def __init__(self, table: Table, restrictions: RestrictionStore) -> None:
        super().__init__(table)
        self.restrictions = restrictions

    def list_keys(self, caller: Principal) -> list[Key]:
        """List the keys of the caller's item, and of the guardrails that restrict it."""
        return self.restrictions.list_keys(caller.tenant, caller.id)

    def find(self, caller: Principal, read: Mapping[Key, Item | None]) -> AgentUsage:
        """Find what the caller holds and may hold, given the items at these keys."""
        limit = self.restrictions.find(caller.tenant, caller.id, read).max_episodic
        return to_usage(read[self.list_keys(caller)[0]], limit)

    def get_limited_usage(self, tenant: str, agent: str) -> AgentUsage:
        """Return what an agent holds and may hold by its settings and guardrails: one call."""
        item, restrictions = self.restrictions.read(tenant, agent)
        return to_usage(item, restrictions.max_episodic)

    def get_item(self, tenant: str, agent: str) -> Item:
        """Return an agent's item, empty if there is none."""
        return self._table.get(item_types.AGENT.build_key(tenant, agent=agent)) or {}

    def get_usage(self, tenant: str, agent: str) -> AgentUsage:
        """Return what an agent holds and may hold by its settings: one read."""
        return to_usage(self.get_item(tenant, agent))

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

        What is left of the capacity changes by the difference, since entries are written all the
        while. Where fewer are asked for, the agent becomes due for the schedule, which evicts.

        Args:
            item: the agent's item as it was read.
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
            get_working_limits(item),
            get_working_limits(new),
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
        expression = f"REMOVE {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}"
        condition = "due = :due AND (attribute_not_exists(episodic_room) OR episodic_room >= :zero)"
        try:
            self._table.update(update(key, expression, condition, due=due, zero=0))
        except ConditionFailed as failed:
            if failed.item is not None and failed.item.get(DUE_ATTRIBUTE) == due:
                self.postpone(item, now)

    def postpone(self, item: Item, now: int) -> None:
        """Reschedule an agent in an hour unless it was rescheduled."""
        key, due, later = (item["pk"], item["sk"]), item[DUE_ATTRIBUTE], now + _POSTPONED
        try:
            self._table.update(update(key, "SET due = :later", "due = :due", due=due, later=later))
        except ConditionFailed:
            return

    def correct(self, write: Write) -> None:
        """Write a correction of counters."""
        self._table.update(write)


def _get_capacity(item: Item) -> int:
    return int(item.get("episodic_capacity", _CAPACITY))
