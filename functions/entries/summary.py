"""Summarize an agent's memory in figures, from counters (RFC-0015 "Agent Memory Summary")."""

from dataclasses import dataclass
from typing import NamedTuple

from functions.authorization.rules import authorize, is_allowed
from functions.entries.agent_store import AgentStore, to_usage
from functions.entries.authority import READ_AGENT, AgentTarget
from functions.entries.counters import EntryCounts
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.tasks.access import TaskAccess
from functions.tasks.lifecycle_store import AssignmentStore
from functions.tasks.store import usage_to_item


class Summary(NamedTuple):
    """Counts, sizes in bytes, times in epoch ms."""

    agent_id: str
    working_entry_count: int
    working_bytes: int
    tasks_with_memory: list[str]
    episodic_entry_count: int
    capacity: int
    pinned_count: int
    episodic_bytes: int
    oldest_entry: int | None
    newest_entry: int | None
    semantic_namespaces_accessible: list[str]


@dataclass(eq=False)
class Summaries:
    """Summarizes memory at a cost that doesn't grow with the entries."""

    _store: EntryStore
    _agents: AgentStore
    _assignments: AssignmentStore
    _tasks: TaskAccess
    _namespaces: Namespaces
    _clock: Clock

    def summarize(self, caller: Principal, agent: str) -> Summary:
        """Return an agent's summary; expired entries don't count, even if not yet removed.

        Raises:
            AccessDenied: when the caller is neither the agent, nor oversees it, nor administers.
        """
        self.assert_can_read(caller, agent)
        tenant, now = caller.tenant, self._clock()
        task_ids = self._assignments.list_task_ids(tenant, agent)
        item, task_items = self._agents.get_with_tasks(tenant, agent, task_ids)
        restricted = self._agents.restrictions.find_each(tenant, {agent: item})[agent]
        usage = to_usage(item, restricted.max_episodic)
        expired = EntryCounts()
        for entry in self._store.list_expired(tenant, agent, now):
            expired.add(entry)
        held: dict[str, tuple[int, int]] = {}
        for each in task_items.values():
            entries, size = (each.get(name, 0) for name in usage_to_item(agent, 0, 0))
            less_entries, less_size = expired.tasks[each["task_id"]]
            held[each["task_id"]] = entries - less_entries, size - less_size
        return Summary(
            agent_id=agent,
            working_entry_count=usage.working_outside_tasks
            - (expired.working - expired.own)
            + sum(n for n, _ in held.values()),
            working_bytes=usage.working_bytes_outside_tasks
            - (expired.working_bytes - expired.own_bytes)
            + sum(n for _, n in held.values()),
            tasks_with_memory=sorted(task for task, (n, _) in held.items() if n > 0),
            episodic_entry_count=usage.episodic_entry_count - expired.episodic,
            capacity=usage.episodic_capacity,
            pinned_count=usage.episodic_pinned_count - expired.pinned,
            episodic_bytes=usage.episodic_bytes - expired.episodic_bytes,
            oldest_entry=self._store.find_creation_time(tenant, agent, now, newest=False),
            newest_entry=self._store.find_creation_time(tenant, agent, now, newest=True),
            semantic_namespaces_accessible=self._namespaces.list_readable(caller),
        )

    def assert_can_read(self, caller: Principal, agent: str) -> None:
        """Raise `AccessDenied` unless the caller is the agent, oversees it or administers."""
        if not is_allowed(caller, READ_AGENT, AgentTarget(agent)):
            overseen = self._tasks.coordinates_agent(caller, agent)
            authorize(caller, READ_AGENT, AgentTarget(agent, is_overseen=overseen))
