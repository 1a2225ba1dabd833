"""Whose memory a caller reads by its tasks (RFC-0015 §2.2, §6.5; contract §4)."""

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.tasks import rules
from functions.tasks.model import Task
from functions.tasks.store import TaskStore


class TaskAccess:
    """Decides by stored tasks, where `functions.tasks.rules` needs more than the task itself."""

    def __init__(self, store: TaskStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def get_many(self, tenant: str, task_ids: set[str]) -> list[Task]:
        """Read the tasks that exist among these."""
        return self._store.get_many(tenant, task_ids)

    def can_read_memory(self, caller: Principal, task: Task) -> bool:
        """Whether the caller reads all working memory of a task (contract §4)."""
        if rules.may_read_memory(caller, task, self._clock()):
            return True
        sub_tasks = self._store.get_many(caller.tenant, task.inheriting_tasks)
        return any(each.assignee == caller.id and each.ended is None for each in sub_tasks)

    def coordinates_agent(self, caller: Principal, agent: str) -> bool:
        """Whether the caller coordinates an open task assigned to the agent (RFC-0015 §2.2)."""
        tasks = self._store.list_of_agent(caller.tenant, agent) if caller.may_coordinate else []
        return any(
            task.ended is None and task.assignee == agent and rules.is_coordinator(caller, task)
            for task in tasks
        )
