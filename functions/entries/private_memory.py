"""The private memory that a query names and its caller may read, and what of it matches (§4.1)."""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from functions.entries.access import select_readable_by_task
from functions.entries.model import Entry, Filters
from functions.entries.rules import matches_filters
from functions.entries.store import EntryStore
from functions.entries.tiers import EPISODIC, POLICIES, WORKING
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import Unavailable, ValidationFailed
from functions.tasks.access import TaskAccess
from functions.tasks.model import Task

_INDEX_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4)  # seconds; an index follows within milliseconds


class Scope(NamedTuple):
    """Private memory that a query names, and that its caller may read.

    Attributes:
        filters: what of it matches.
        agent: whose it is; empty if it is a task's working memory.
        task: whose working memory it is; None if it is an agent's memory.
        is_inherited: whether a sub-task of the task shows it.
        is_read_by_task: whether the caller may read only what belongs to some tasks.
    """

    filters: Filters
    agent: str = ""
    task: Task | None = None
    is_inherited: bool = False
    is_read_by_task: bool = False


class PrivateMemory:
    """Finds private memory for queries."""

    def __init__(self, store: EntryStore, tasks: TaskAccess, clock: Clock) -> None:
        self._store = store
        self._tasks = tasks
        self._clock = clock

    def find(self, caller: Principal, filters: Filters) -> list[Entry]:
        """Find all that matches of the private memory that the caller may read."""
        scopes = self.list_scopes(caller, filters)
        return [entry for scope in scopes for entry in self.find_in_scope(caller, scope)]

    def list_scopes(self, caller: Principal, filters: Filters) -> list[Scope]:
        """List what private memory the filters name and the caller may read."""
        if filters.task_id is None or filters.memory_type == EPISODIC.name:
            return self._list_of_owner(caller, filters)
        readable = self._tasks.select_readable(caller, (filters.task_id,))
        if not readable:
            return self._list_of_owner(caller, filters)
        working = filters._replace(memory_type=WORKING.name)
        scopes = [Scope(working, task=readable[0])]
        if filters.includes_inherited:
            scopes += self._list_inherited(caller, readable[0].inherits_from, working)
        if filters.memory_type is not None:
            return scopes
        return scopes + self._list_of_owner(caller, filters._replace(memory_type=EPISODIC.name))

    def _list_inherited(
        self, caller: Principal, parent: str | None, filters: Filters
    ) -> list[Scope]:
        """List a parent's working memory, if its sub-task shows it to the caller."""
        readable = [] if parent is None else self._tasks.select_readable(caller, (parent,))
        return [
            Scope(filters._replace(task_id=task.id), task=task, is_inherited=True)
            for task in readable
        ]

    def _list_of_owner(self, caller: Principal, filters: Filters) -> list[Scope]:
        owner = filters.agent_id or caller.id
        if owner == caller.id:
            return [Scope(filters, agent=owner)]
        scopes = []
        if filters.memory_type in (
            None,
            WORKING.name,
        ):  # of it, what the caller may read by its tasks
            working = filters._replace(memory_type=WORKING.name)
            scopes.append(Scope(working, agent=owner, is_read_by_task=True))
        if filters.memory_type in (None, EPISODIC.name) and self._tasks.coordinates_agent(
            caller, owner
        ):
            scopes.append(Scope(filters._replace(memory_type=EPISODIC.name), agent=owner))
        return scopes

    def has_unreadable(self, caller: Principal, filters: Filters) -> bool:
        """Return whether filters name private memory that the caller may not read."""
        if filters.task_id is not None and filters.memory_type != EPISODIC.name:
            is_task = bool(self._tasks.get_many(caller.tenant, {filters.task_id}))
            return is_task and not self._tasks.select_readable(caller, (filters.task_id,))
        owner = filters.agent_id or caller.id
        if owner == caller.id:
            return False
        return filters.memory_type != EPISODIC.name or not self._tasks.coordinates_agent(
            caller, owner
        )

    def find_in_scope(self, caller: Principal, scope: Scope) -> Iterable[Entry]:
        """Find what matches in a scope."""
        tenant = caller.tenant
        if scope.task is not None:
            found = self._find_of_task(tenant, scope.task.id)
        else:
            found = self._find_in_partition(tenant, scope.agent, scope.filters)
        return self.select(caller, scope, found)

    def select(self, caller: Principal, scope: Scope, entries: Sequence[Entry]) -> Iterable[Entry]:
        """Select what matches, and the caller may read, of entries in a scope."""
        now = self._clock()
        found = [each for each in entries if matches_filters(each, scope.filters, now)]
        if scope.is_read_by_task:
            return select_readable_by_task(self._tasks, caller, found)
        return [each._replace(inherited=True) for each in found] if scope.is_inherited else found

    def _find_of_task(self, tenant: str, task_id: str) -> list[Entry]:
        """Return a task's working memory. Its counter proves that the index leaves nothing out."""
        for wait in _INDEX_WAITS:
            (task,) = self._tasks.get_many(tenant, {task_id})
            found = self._store.list_of_task(tenant, task_id)
            working = [
                entry for entry in found if entry.policy.is_task_bound and entry.task_id == task_id
            ]
            if len(working) >= task.working_entries:
                return working
            time.sleep(wait)
        raise Unavailable("the index of this task is behind; try again in a second")

    def _find_in_partition(self, tenant: str, owner: str, filters: Filters) -> list[Entry]:
        if filters.namespace is None or filters.key is None:
            return self._store.list_private(tenant, owner, filters, self._clock())
        address = WORKING.build_address(tenant, owner, filters.namespace, filters.key)
        entry = self._store.get(address)
        return [] if entry is None else [entry]


def assert_owner_known(caller: Principal, filters: Filters) -> None:
    """Raise `ValidationFailed` when private memory is asked for, but not whose (RFC-0015 §4.1)."""
    is_private = filters.memory_type is not None and POLICIES[filters.memory_type].is_private
    is_named = filters.agent_id is not None or filters.task_id is not None
    if is_private and not is_named and caller.kind != "agent":
        raise ValidationFailed("agent_id", "is required for working and episodic memory")
