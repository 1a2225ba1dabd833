"""Whose memory a caller reads by its tasks (RFC-0015 §2.2, §6.5)."""

from collections.abc import Iterable

from functions.authorization.rules import is_allowed
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.tasks.assignment_store import AssignmentStore
from functions.tasks.authority import READ_MEMORY, TaskTarget
from functions.tasks.model import Membership, Task
from functions.tasks.rules import is_coordinator
from functions.tasks.store import TaskStore


class TaskAccess:
    """Decides by stored tasks, and by what they list of the caller."""

    def __init__(self, store: TaskStore, assignments: AssignmentStore, clock: Clock) -> None:
        self._store = store
        self._assignments = assignments
        self._clock = clock

    def get_many(self, tenant: str, task_ids: set[str]) -> list[Task]:
        """Read the tasks that exist among these."""
        return self._store.get_many(tenant, task_ids)

    def select_readable(self, caller: Principal, task_ids: Iterable[str]) -> list[Task]:
        """Read the tasks among these whose working memory the caller reads.

        One call for fifty, one for what the caller may read by inheritance, and one for each such.
        """
        found = self._store.get_with_grants(caller.tenant, task_ids, caller.id)
        readable, others = list[Task](), list[Task]()
        for task, grant in found:
            can_read = self._can_read(caller, task, Membership(grant=grant))
            (readable if can_read else others).append(task)
        return readable + self._select_inherited(caller, others)

    def _select_inherited(self, caller: Principal, tasks: list[Task]) -> list[Task]:
        if len(tasks) > 1:
            assigned = self._assignments.list_of_agent(caller.tenant, caller.id)
            parents = {each.inherits_from for each in assigned}
            tasks = [task for task in tasks if task.id in parents]
        return [task for task in tasks if self._can_read(caller, task, self._inherit(caller, task))]

    def _inherit(self, caller: Principal, task: Task) -> Membership:
        return Membership(inherits=self._store.is_inherited_by(caller.tenant, task, caller.id))

    def find_memory_target(self, caller: Principal, task_id: str) -> TaskTarget | None:
        """Read what decides on the caller's access to a task's memory; None without the task.

        One call, and one more for what the caller may read by inheritance.
        """
        for task, grant in self._store.get_with_grants(caller.tenant, (task_id,), caller.id):
            target = TaskTarget(task, self._clock(), Membership(grant=grant))
            if is_allowed(caller, READ_MEMORY, target):
                return target
            return target._replace(member=self._inherit(caller, task))
        return None

    def can_read_memory(self, caller: Principal, task: Task) -> bool:
        """Tell whether the caller reads all working memory of a task."""
        return bool(self.select_readable(caller, (task.id,)))

    def _can_read(self, caller: Principal, task: Task, member: Membership) -> bool:
        return is_allowed(caller, READ_MEMORY, TaskTarget(task, self._clock(), member))

    def list_overseen_agents(self, caller: Principal) -> set[str]:
        """Return the agents that work on an open task of the caller.

        A call, and one for each hundred of its open tasks.
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
