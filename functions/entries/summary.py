"""An agent's memory in figures, from counters (RFC-0015 "Agent Memory Summary")."""

from collections import Counter
from dataclasses import dataclass, field

from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.identity.model import ADMIN, Principal
from functions.namespaces.service import Namespaces
from functions.platform import entry_keys, task_keys
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES, MAX_WORKING_ENTRIES, MAX_WORKING_KB
from functions.tasks import writes as task_writes
from functions.tasks.service import Tasks


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts, sizes in whole KB, times in epoch ms."""

    agent: str
    working: int
    working_kb: int
    tasks: list[str]
    episodic: int
    capacity: int
    pinned: int
    episodic_kb: int
    oldest: int | None
    newest: int | None
    namespaces: list[str]


@dataclass(slots=True)
class _Gone:
    """What has expired but is still counted."""

    working: int = 0
    working_kb: int = 0
    episodic: int = 0
    episodic_kb: int = 0
    pinned: int = 0
    tasks: Counter[str] = field(default_factory=Counter)

    def add(self, entry: Entry) -> None:
        if entry.tier == "episodic":
            self.episodic += 1
            self.episodic_kb += entry.kb
            self.pinned += entry.pinned
            return
        self.working += 1
        self.working_kb += entry.kb
        if entry.task is not None:
            self.tasks[entry.task] += 1


class Summaries:
    """Summaries at a cost that doesn't grow with the entries."""

    def __init__(
        self, store: EntryStore, tasks: Tasks, namespaces: Namespaces, clock: Clock
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._namespaces = namespaces
        self._clock = clock

    def of(self, caller: Principal, agent: str) -> Summary:
        """An agent's summary; what has expired doesn't count, whether it is removed or not.

        Raises:
            AccessDenied: the caller is neither the agent, nor oversees it, nor administers.
        """
        if caller.id != agent and ADMIN not in caller.permissions:
            self._assert_oversees(caller, agent)
        tenant, now = caller.tenant, self._clock()
        own, joined = (
            entry_keys.build_agent_key(tenant, agent),
            task_keys.build_task_set_key(tenant, agent),
        )
        found = self._store.items_at((own, joined))
        counters = found.get(own, {})
        tasks = self._in_tasks(tenant, agent, found.get(joined, {}).get("tasks", frozenset()))
        capacity = counters.get("ep_capacity", DEFAULT_EPISODIC_ENTRIES)
        gone = _Gone()
        for entry in self._store.expired_of_agent(tenant, agent, now):
            gone.add(entry)
        loose = MAX_WORKING_ENTRIES - counters.get("wk_room", MAX_WORKING_ENTRIES)
        loose_kb = MAX_WORKING_KB - counters.get("wk_room_kb", MAX_WORKING_KB)
        return Summary(
            agent=agent,
            working=loose + sum(n for n, _ in tasks.values()) - gone.working,
            working_kb=loose_kb + sum(kb for _, kb in tasks.values()) - gone.working_kb,
            tasks=sorted(task for task, (n, _) in tasks.items() if n > gone.tasks.get(task, 0)),
            episodic=capacity - counters.get("ep_room", capacity) - gone.episodic,
            capacity=capacity,
            pinned=counters.get("ep_pinned", 0) - gone.pinned,
            episodic_kb=counters.get("ep_kb", 0) - gone.episodic_kb,
            oldest=self._store.episodic_end(tenant, agent, now, newest=False),
            newest=self._store.episodic_end(tenant, agent, now, newest=True),
            namespaces=[each.name for each in self._namespaces.readable(caller)],
        )

    def _assert_oversees(self, caller: Principal, agent: str) -> None:
        if not self._tasks.oversees(caller, agent):
            raise AccessDenied("this summary is for the agent and who oversees it")

    def _in_tasks(
        self, tenant: str, agent: str, task_ids: frozenset[str]
    ) -> dict[str, tuple[int, int]]:
        """The entries and whole KB that the agent holds in each task."""
        places = [task_keys.build_task_key(tenant, task_id) for task_id in task_ids]
        entries, kb = task_writes.counters(agent, 0, 0)
        items = self._store.items_at(places).values()
        return {item["task"]: (item.get(entries, 0), item.get(kb, 0)) for item in items}
