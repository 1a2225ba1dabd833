"""Read tasks: one, an intent's, an agent's."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from functions.authorization.rules import inspects, is_allowed
from functions.identity.model import ADMIN, Principal
from functions.platform.bounded_pages import Examined
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied
from functions.tasks.access import TaskAccess
from functions.tasks.assignment_store import AssignmentStore
from functions.tasks.authority import READ_INTENT, READ_TASK, TaskTarget
from functions.tasks.intent_store import IntentStore
from functions.tasks.model import Assignment, Task
from functions.tasks.store import TaskStore


@dataclass(eq=False)
class TaskReader:
    """Reads the tasks of a caller's tenant."""

    _store: TaskStore
    _assignments: AssignmentStore
    _intents: IntentStore
    _access: TaskAccess
    _clock: Clock

    def get(self, caller: Principal, task_id: str) -> Task:
        """Read one task.

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: the caller has no part in it or in its intent.
        """
        task = self._store.get_existing(caller.tenant, task_id)
        if not self._may_read(caller, task):
            raise AccessDenied(READ_TASK.denied)
        return task

    def _may_read(self, caller: Principal, task: Task) -> bool:
        if is_allowed(caller, READ_TASK, TaskTarget(task, self._clock())):
            return True
        member = self._store.get_membership(caller.tenant, task.id, caller.id)
        if is_allowed(caller, READ_TASK, TaskTarget(task, self._clock(), member)):
            return True
        if self._access.can_read_memory(caller, task):
            return True
        return task.intent_id is not None and self.may_read_intent(caller, task.intent_id)

    def may_read_intent(self, caller: Principal, intent: str) -> bool:
        """Tell whether the caller owns the intent, has a part in it, or administers it."""
        return is_allowed(caller, READ_INTENT, self._intents.get(caller.tenant, intent, caller.id))

    def list_of_intent(self, caller: Principal, intent_id: str) -> list[Task]:
        """List an intent's tasks that the caller may read, newest first."""
        ids = self._intents.list_task_ids(caller.tenant, intent_id)
        if self.may_read_intent(caller, intent_id):
            return _newest_first(self._store.get_many(caller.tenant, ids))
        return _newest_first(self._access.select_readable(caller, ids))

    def iterate_of_intent(
        self, caller: Principal, intent_id: str, before: str | None, count: int
    ) -> Iterator[Examined[Task]]:
        """Examine an intent's tasks for readable ones, newest first, before a position."""
        may_read = self.may_read_intent(caller, intent_id)
        for ids in self._intents.iterate_task_ids(caller.tenant, intent_id, before, count):
            if may_read:
                tasks = self._store.get_many(caller.tenant, ids)
            else:
                tasks = self._access.select_readable(caller, ids)
            readable = {task.id: task for task in tasks if task.intent_id == intent_id}
            yield from (Examined(position, readable.get(id)) for id, position in ids.items())

    def sees_all(self, caller: Principal, agent: str) -> bool:
        """Tell whether the caller may see all tasks of an agent."""
        return caller.id == agent or ADMIN in caller.permissions or inspects(caller)

    def list_assignments(self, caller: Principal, agent: str) -> list[Assignment]:
        """List the open tasks assigned to an agent that the caller may see, newest first.

        Workers poll this: one read, and one of the tasks that a page shows (`get_assigned`).
        """
        assigned = self._assignments.list_of_agent(caller.tenant, agent)
        if self.sees_all(caller, agent):
            return assigned
        tasks = self._store.get_many(caller.tenant, [each.task_id for each in assigned])
        visible = {task.id for task in tasks if caller.id in task.members}
        return [each for each in assigned if each.task_id in visible]

    def iterate_assigned(
        self, caller: Principal, agent: str, before: str | None, count: int
    ) -> Iterator[Examined[Task]]:
        """Examine the open tasks of an agent for those that the caller may see, newest first."""
        sees_all = self.sees_all(caller, agent)
        for assigned in self._assignments.iterate_of_agent(caller.tenant, agent, before, count):
            tasks = self._store.get_many(caller.tenant, [each.task_id for each in assigned])
            visible = {each.id: each for each in tasks if sees_all or caller.id in each.members}
            yield from (
                Examined(each.list_position, visible.get(each.task_id)) for each in assigned
            )

    def get_assigned(self, caller: Principal, assigned: Sequence[Assignment]) -> list[Task]:
        """Read the tasks of assignments, newest first: a call for each hundred."""
        return _newest_first(
            self._store.get_many(caller.tenant, [each.task_id for each in assigned])
        )


def _newest_first(tasks: Iterable[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (task.created_at, task.id), reverse=True)
