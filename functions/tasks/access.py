"""Read tasks, and decide which memory they let a caller read (RFC-0015 §2.2, §6.5)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from functions.authorization.rules import inspects, is_allowed
from functions.identity.model import ADMIN, Principal
from functions.platform.bounded_pages import (
    BoundedPage,
    Examined,
    WantedPage,
    read_page,
    sort_newest,
    take_page,
)
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied
from functions.platform.items import Item
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE
from functions.tasks.authority import READ_INTENT, READ_MEMORY, READ_TASK, TaskTarget
from functions.tasks.intent_store import IntentStore
from functions.tasks.lifecycle_store import AssignmentStore
from functions.tasks.model import Membership, Status, Task
from functions.tasks.rules import is_coordinator
from functions.tasks.store import TaskStore


class TaskAccess:
    """Decides by stored tasks, grants and memberships."""

    def __init__(self, store: TaskStore, assignments: AssignmentStore, clock: Clock) -> None:
        self._store = store
        self._assignments = assignments
        self._clock = clock

    def get_many(self, tenant: str, task_ids: set[str]) -> list[Task]:
        """Read the tasks that exist among these."""
        return self._store.get_many(tenant, task_ids)

    def select_readable(self, caller: Principal, task_ids: Iterable[str]) -> list[Task]:
        """Read those of these tasks whose working memory the caller may read.

        It takes one call for fifty, one for tasks that the caller may read by inheritance, and one
        for each of these. Missing tasks, or none at all, take the same calls as unreadable ones.
        """
        wanted = set(task_ids) or {""}
        found = self._store.get_with_grants(caller.tenant, wanted, caller.id)
        readable = [
            task for task, grant in found if self._can_read(caller, task, Membership(grant=grant))
        ]
        others = wanted.difference(task.id for task in readable)
        if len(others) > 1:
            assigned = self._assignments.list_of_agent(caller.tenant, caller.id)
            others &= {each.inherits_from for each in assigned}
        members = {id: self._inherit(caller, id) for id in others}
        tasks = [task for task, _ in found if task.id in others]
        return readable + [each for each in tasks if self._can_read(caller, each, members[each.id])]

    def list_readable_of(self, caller: Principal, agent: str) -> frozenset[str]:
        """Return the ids of the tasks with memory of an agent that the caller may read."""
        ids = self._assignments.list_task_ids(caller.tenant, agent)
        return frozenset(task.id for task in self.select_readable(caller, ids))

    def _inherit(self, caller: Principal, task_id: str) -> Membership:
        terms = self._store.list_inherited_terms(caller.tenant, task_id, caller.id)
        return Membership(inherited_terms=terms)

    def find_memory_target(self, caller: Principal, task_id: str) -> TaskTarget | None:
        """Read what decides on the caller's access to a task's memory; None without the task.

        It takes one call, and one more if the caller may read it by inheritance.
        """
        for task, grant in self._store.get_with_grants(caller.tenant, (task_id,), caller.id):
            target = TaskTarget(task, self._clock(), Membership(grant=grant))
            if is_allowed(caller, READ_MEMORY, target):
                return target
            return target._replace(member=self._inherit(caller, task.id))
        return None

    def can_read_memory(self, caller: Principal, task: Task) -> bool:
        """Tell whether the caller reads all working memory of a task."""
        return bool(self.select_readable(caller, (task.id,)))

    def _can_read(self, caller: Principal, task: Task, member: Membership) -> bool:
        return is_allowed(caller, READ_MEMORY, TaskTarget(task, self._clock(), member))

    def list_overseen_agents(self, caller: Principal) -> set[str]:
        """Return the agents that work on an open task of the caller.

        It takes one call, and one for each hundred of its open tasks.
        """
        if not caller.may_coordinate:
            return set()
        task_ids = self._assignments.list_coordinated(caller.tenant, caller.id)
        tasks = self._store.get_many(caller.tenant, task_ids)
        return {
            task.assigned_agent
            for task in tasks
            if task.assigned_agent is not None
            and task.completed_at is None
            and is_coordinator(caller, task)
        }

    def coordinates_agent(self, caller: Principal, agent: str) -> bool:
        """Tell whether the caller coordinates an open task of the agent (RFC-0015 §2.2)."""
        return caller.may_coordinate and self._assignments.is_coordinated_by(
            caller.tenant, agent, caller.id
        )


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
            AccessDenied: the caller takes no part in it or in its intent.
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
        """Tell whether the caller owns the intent, takes part in it, or administers it."""
        return is_allowed(caller, READ_INTENT, self._intents.get(caller.tenant, intent, caller.id))

    def list_of_intent(
        self, caller: Principal, intent_id: str, status: Status | None, wanted: WantedPage
    ) -> BoundedPage[Task]:
        """List an intent's tasks that the caller may read, newest first."""

        def is_listed(task: Task) -> bool:
            return task.intent_id == intent_id and status in (None, task.status)

        if not self.may_read_intent(caller, intent_id):
            rows = chain.from_iterable(self._intents.list_task_rows(caller.tenant, intent_id))
            readable = self._access.select_readable(caller, [row["task_id"] for row in rows])
            return read_page(wanted, sort_newest(readable, wanted), is_listed)
        groups = self._intents.list_task_rows(caller.tenant, intent_id, wanted)
        return take_page(wanted, self._examine(caller.tenant, groups, is_listed))

    def _examine(
        self, tenant: str, groups: Iterable[list[Item]], is_listed: Callable[[Task], bool]
    ) -> Iterator[Examined[Task]]:
        """Read the tasks of an index's rows, some of which may no longer match."""
        for rows in groups:
            tasks = self._store.get_many(tenant, [row["task_id"] for row in rows])
            found = {each.id: each for each in tasks if is_listed(each)}
            for row in rows:
                yield Examined(row[TYPE_ORDER_ATTRIBUTE], found.get(row["task_id"]))

    def sees_all(self, caller: Principal, agent: str) -> bool:
        """Tell whether the caller may see all tasks of an agent."""
        return caller.id == agent or ADMIN in caller.permissions or inspects(caller)

    def list_of_agent(
        self, caller: Principal, agent: str, status: Status | None, wanted: WantedPage
    ) -> BoundedPage[Task]:
        """List the open tasks assigned to an agent that the caller may see, newest first.

        Workers poll this list: one read, and one for the tasks of the page.
        """

        def is_listed(task: Task) -> bool:
            is_open = task.completed_at is None and task.assigned_agent == agent
            return is_open and status in (None, task.status)

        if not self.sees_all(caller, agent):
            assigned = self._assignments.list_of_agent(caller.tenant, agent)
            task_ids = [each.task_id for each in assigned] or [""]  # one call even without tasks
            tasks = self._store.get_many(caller.tenant, task_ids)
            visible = (each for each in tasks if caller.id in each.members)
            return read_page(wanted, sort_newest(visible, wanted), is_listed)
        if wanted.is_counted and status is None:
            found = self._assignments.list_of_agent(caller.tenant, agent)
            page = read_page(wanted, found)
            tasks = self._store.get_many(caller.tenant, [each.task_id for each in page.elements])
            return BoundedPage(sort_newest(tasks), page.end, page.total)
        groups = self._assignments.list_rows(caller.tenant, agent, wanted)
        return take_page(wanted, self._examine(caller.tenant, groups, is_listed))
