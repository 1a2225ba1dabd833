"""Proves an agent's counters against its entries, and corrects them where they differ.

Every change of a counter counts up `changes` on the same item, in the same transaction as the
entry's own. A correction is therefore exact: it is written only if no counter has changed since
before the entries were read.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from functions.platform import entry_keys, keys, task_keys
from functions.platform.items import Item
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES, MAX_WORKING_ENTRIES, MAX_WORKING_KB
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, update
from functions.tasks import writes as task_writes

_SEEN = ("changes", "ep_capacity", "ep_room", "wk_room", "wk_room_kb", "ep_kb", "ep_pinned")


@dataclass(slots=True)
class Count:
    """What an agent really holds; sizes in whole KB."""

    episodic: int = 0
    episodic_kb: int = 0
    pinned: int = 0
    working: int = 0
    working_kb: int = 0
    tasks: dict[str, tuple[int, int]] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))

    def add(self, item: Item) -> None:
        """Counts the item of an entry, as the transaction that wrote it did."""
        kb: int = item["kb"]
        task: str | None = item.get("task")
        if item["tier"] == "episodic":
            self.episodic += 1
            self.episodic_kb += kb
            self.pinned += item.get("pinned", False)
        elif task is None:
            self.working += 1
            self.working_kb += kb
        else:
            entries, total = self.tasks[task]
            self.tasks[task] = entries + 1, total + kb


class Proof:
    """Compares counters with entries: reads all that the agent holds."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of(self, tenant: str, agent: str, time_left: Callable[[], bool]) -> int | None:
        """How many items were corrected; None if the time, or somebody's write, didn't let it."""
        own, joined = (
            entry_keys.build_agent_key(tenant, agent),
            task_keys.build_task_set_key(tenant, agent),
        )
        found = self._table.get_many((own, joined))
        names = found.get(joined, {}).get("tasks", frozenset())
        tasks = self._table.get_many(task_keys.build_task_key(tenant, name) for name in names)
        count = Count()
        for item in self._table.query(
            entry_keys.build_agent_partition(tenant, agent), entry_keys.build_entry_prefix(None)
        ):
            if not time_left():
                return None
            count.add(item)
        writes = [_agent_correction(own, found.get(own, {}), count)]
        writes += [_task_correction(key, item, agent, count) for key, item in tasks.items()]
        return self._correct([write for write in writes if write is not None])

    def _correct(self, writes: list[Write]) -> int | None:
        try:
            for write in writes:
                self._table.update(write)
        except ConditionFailed:
            return None
        return len(writes)


def _agent_correction(key: keys.Key, item: Item, count: Count) -> Write | None:
    """The write that makes an agent's counters right; None if they are."""
    capacity = item.get("ep_capacity", DEFAULT_EPISODIC_ENTRIES)
    right = {
        "ep_room": (capacity - count.episodic, capacity),
        "wk_room": (MAX_WORKING_ENTRIES - count.working, MAX_WORKING_ENTRIES),
        "wk_room_kb": (MAX_WORKING_KB - count.working_kb, MAX_WORKING_KB),
        "ep_kb": (count.episodic_kb, 0),
        "ep_pinned": (count.pinned, 0),
    }
    wrong = {name: n for name, (n, unset) in right.items() if item.get(name, unset) != n}
    settings = ", ".join(f"{name} = :new_{name}" for name in wrong)
    return _correction(key, item, f"SET {settings}", _SEEN, wrong) if wrong else None


def _task_correction(key: keys.Key, item: Item, agent: str, count: Count) -> Write | None:
    """The same for what an open task counts of the agent; an ended one is being archived."""
    right = task_writes.counters(agent, *count.tasks.get(item["task"], (0, 0)))
    wrong = {name: n for name, n in right.items() if item.get(name, 0) != n}
    if not wrong or "ended" in item:
        return None
    entries, kb = (item.get(name, 0) - n for name, n in right.items())
    settings = ", ".join(f"{name} = :new_{name}" for name in right)
    expression = f"SET {settings} ADD room :new_room, room_kb :new_room_kb"
    values = right | {"room": entries, "room_kb": kb}
    return _correction(key, item, expression, ("changes", "ended", *right), values)


def _correction(
    key: keys.Key, item: Item, expression: str, seen: tuple[str, ...], values: Item
) -> Write:
    terms = [
        f"{name} = :{name}" if name in item else f"attribute_not_exists({name})" for name in seen
    ]
    known = {name: item[name] for name in seen if name in item}
    new = {f"new_{name}": value for name, value in values.items()}
    return update(key, expression, " AND ".join(terms), **known, **new)
