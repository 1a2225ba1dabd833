"""Applies workflows: their namespaces, agents and tasks (RFC-0015 §7; contract §5)."""

from functions.entries.agents import AgentMemory
from functions.entries.requests import AgentConfig
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied
from functions.platform.idempotency import RequestToken
from functions.tasks.access import TaskAccess
from functions.tasks.requests import NewTask, TaskChange
from functions.tasks.service import Tasks
from functions.workflows import rules
from functions.workflows.model import Application
from functions.workflows.requests import Workflow
from functions.workflows.store import AppliedFile, AppliedFileStore


class Workflows:
    """The workflows of a caller's tenant."""

    def __init__(
        self,
        store: AppliedFileStore,
        namespaces: Namespaces,
        agents: AgentMemory,
        tasks: Tasks,
        task_access: TaskAccess,
        clock: Clock,
    ) -> None:
        self._store = store
        self._namespaces = namespaces
        self._agents = agents
        self._tasks = tasks
        self._task_access = task_access
        self._clock = clock

    def apply(self, caller: Principal, workflow: Workflow, token: RequestToken) -> Application:
        """Set what a workflow says; the file that was applied last changes nothing.

        What a crash leaves undone, the same file sets when it is applied again.

        Raises:
            AccessDenied: the caller can't coordinate, or others own the workflow's tasks.
            IdempotencyConflict: the last file had the same Idempotency-Key, but another content.
        """
        if not caller.may_coordinate:
            raise AccessDenied("a workflow is applied by a coordinator or user")
        application = rules.build_application(workflow)
        digest = rules.hash_workflow(workflow)
        last = self._store.get(caller.tenant, workflow.name)
        if last is not None:
            token.matches(last.request)
            if last.digest == digest:
                return application
        self._set_tasks(caller, application)
        for name in application.namespaces:
            self._namespaces.configure_if_new(caller, name)
        for agent in application.agents:
            config = AgentConfig(episodic=rules.build_settings(agent))
            self._agents.configure(caller, agent.agent, config, RequestToken.create())
        applied = AppliedFile(digest, token.stored, self._clock())
        self._store.put(caller.tenant, workflow.name, applied)
        return application

    def _set_tasks(self, caller: Principal, application: Application) -> None:
        """Register the plan's tasks, and change those that exist and are open."""
        ids = {task.id for task in application.tasks}
        present = {task.id: task for task in self._task_access.get_many(caller.tenant, ids)}
        for plan in application.tasks:
            fields = rules.build_task_fields(plan, application)
            task = present.get(plan.id)
            if task is None:
                new = NewTask(id=plan.id, intent_id=application.intent, **fields)
                self._tasks.register(caller, new, RequestToken.create())
            elif task.ended is None and not rules.is_up_to_date(task, plan, fields):
                change, token = TaskChange(**fields), RequestToken.create()
                self._tasks.change(caller, task.id, task.version, change, token)
