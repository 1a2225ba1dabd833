"""Summarize an agent's memory in figures, from counters (RFC-0015 "Agent Memory Summary")."""

from dataclasses import dataclass

from functions.entries.agent_store import AgentStore, to_usage
from functions.entries.counters import EntryCounts
from functions.entries.store import EntryStore
from functions.identity.model import ADMIN, Principal
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied
from functions.tasks.access import TaskAccess
from functions.tasks.mapper import usage_to_item


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


class Summaries:
    """Summarizes memory at a cost that doesn't grow with the entries."""

    def __init__(
        self,
        store: EntryStore,
        agents: AgentStore,
        tasks: TaskAccess,
        namespaces: Namespaces,
        clock: Clock,
    ) -> None:
        self._store = store
        self._agents = agents
        self._tasks = tasks
        self._namespaces = namespaces
        self._clock = clock

    def summarize(self, caller: Principal, agent: str) -> Summary:
        """Return an agent's summary; expired entries don't count, removed or not.

        Raises:
            AccessDenied: when the caller is neither the agent, nor oversees it, nor administers.
        """
        self._assert_can_read(caller, agent)
        tenant, now = caller.tenant, self._clock()
        item, task_items = self._agents.get_with_tasks(tenant, agent)
        usage, tasks = to_usage(item), {}
        entries, kb = usage_to_item(agent, 0, 0)
        for each in task_items.values():
            tasks[each["task"]] = each.get(entries, 0), each.get(kb, 0)
        expired = EntryCounts()
        for entry in self._store.list_expired(tenant, agent, now):
            expired.add(entry.tier, entry.kb, task=entry.task, pinned=entry.pinned)
        held = _subtract(tasks, expired.tasks)
        return Summary(
            agent=agent,
            working=usage.working - expired.working + sum(n for n, _ in held.values()),
            working_kb=usage.working_kb - expired.working_kb + sum(kb for _, kb in held.values()),
            tasks=sorted(task for task, (n, _) in held.items() if n > 0),
            episodic=usage.episodic - expired.episodic,
            capacity=usage.capacity,
            pinned=usage.pinned - expired.pinned,
            episodic_kb=usage.episodic_kb - expired.episodic_kb,
            oldest=self._store.find_creation_time(tenant, agent, now, newest=False),
            newest=self._store.find_creation_time(tenant, agent, now, newest=True),
            namespaces=[each.name for each in self._namespaces.list_readable(caller)],
        )

    def _assert_can_read(self, caller: Principal, agent: str) -> None:
        if caller.id == agent or ADMIN in caller.permissions:
            return
        if not self._tasks.coordinates_agent(caller, agent):
            raise AccessDenied("this summary is for the agent and who oversees it")


def _subtract(
    counted: dict[str, tuple[int, int]], expired: dict[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """Return the entries and whole KB of each task without what has expired."""
    return {
        task: (entries - expired.get(task, (0, 0))[0], kb - expired.get(task, (0, 0))[1])
        for task, (entries, kb) in counted.items()
    }
