"""The item of an agent's memory: its counters, settings and limits, and all expressions on it.

The counters say how much is left of each limit, so that a limit is a condition of the write that
would exceed it. `ep_…` are of episodic memory, `wk_…` of working memory outside tasks and in tasks
without a coordinator; `wk_own` and `wk_own_bytes` count what of it is in tasks.
`ep_capacity` is the capacity that applies: the one asked for, or a guardrail's lower limit. What
exceeds the capacity asked for is evicted; a guardrail's limit only keeps new entries away.
`wk_limit` and `wk_limit_bytes` are the limits of working memory outside tasks, where they are set.
`newest` is the sort token of the entry that was counted last: indexes may not list it yet.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from functions.entries.counter_store import get_working_limits, update_unchanged
from functions.entries.reservations import Reservation
from functions.entries.tiers import EPISODIC, WORKING
from functions.platform import entry_keys, keys, task_keys
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store
from functions.platform.writes import Write, build_set_expression, update

_POSTPONED = 3_600_000  # ms, for an agent that can\'t be brought to its capacity now

_CAPACITY = EPISODIC.max_entries
_WORKING_ENTRIES, _WORKING_BYTES = WORKING.max_entries, WORKING.max_bytes
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

    def subtract(self, reservations: Sequence[Reservation]) -> Self:
        """Return the usage without what is reserved for entries that aren't there."""
        episodic = [each.size for each in reservations if each.address.tier == EPISODIC.id_letter]
        working = [each.size for each in reservations if each.address.tier == WORKING.id_letter]
        return self._replace(
            free_capacity=self.free_capacity + len(episodic),
            episodic_bytes=self.episodic_bytes - sum(episodic),
            free_working_entries=self.free_working_entries + len(working),
            free_working_bytes=self.free_working_bytes + sum(working),
        )

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
    max_entries, max_bytes = get_working_limits(item)
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


class AgentStore(Store):
    """Reads and writes agents' items."""

    def get_item(self, tenant: str, agent: str) -> Item:
        """Return an agent's item, empty if there is none."""
        return self._table.get(entry_keys.build_agent_key(tenant, agent)) or {}

    def get_usage(self, tenant: str, agent: str) -> AgentUsage:
        """Return what an agent holds and may hold: one read."""
        return to_usage(self.get_item(tenant, agent))

    def get_items(self, tenant: str, agents: Iterable[str]) -> list[Item]:
        """Return the items of those agents that have one: a call for each hundred."""
        found = self._table.get_many(entry_keys.build_agent_key(tenant, each) for each in agents)
        return list(found.values())

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
            item: the agent's item as it was read.
            changes: the attributes to set.
            now: epoch ms.
            records: written with the change.

        Raises:
            ConditionFailed: when other settings were written after `item` was read.
        """
        key = entry_keys.build_agent_key(tenant, agent)
        new = item | changes
        before, after = _get_capacity(item), _get_capacity(new)
        attributes = changes | {"agent_id": agent, "ep_capacity": after}
        if new.get("ep_asked", _CAPACITY) < item.get("ep_asked", _CAPACITY):
            attributes |= keys.build_due_attributes(key[0], now)
        settings = ["ep_room = if_not_exists(ep_room, :before) + :more"]
        values: Item = {"before": before, "more": after - before}
        rooms = zip(
            ("wk_room", "wk_room_bytes"),
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


def _get_capacity(item: Item) -> int:
    """Return the capacity that applies: the one asked for, or a lower limit."""
    asked: int = item.get("ep_asked", _CAPACITY)
    limit: int | None = item.get("ep_limit")
    return asked if limit is None else min(asked, limit)
