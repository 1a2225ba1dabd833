"""Applies workflows: their namespaces, agents and tasks (RFC-0015 §7; contract §5)."""

from dataclasses import asdict
from typing import Any

from functions.entries.agents import AgentMemory
from functions.entries.requests import AgentConfig, EpisodicSettings
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied
from functions.platform.idempotency import RequestToken
from functions.platform.table import Table
from functions.platform.task_keys import build_workflow_key
from functions.platform.writes import put
from functions.tasks.model import Task
from functions.tasks.requests import EXTRA_FIELDS, MemoryPolicy, NewTask, TaskChange
from functions.tasks.service import Tasks
from functions.workflows.model import AgentPlan, Application, TaskPlan
from functions.workflows.requests import Workflow
from functions.workflows.rules import application, digest


class Workflows:
    """The workflows of a caller's tenant."""

    def __init__(
        self,
        table: Table,
        namespaces: Namespaces,
        agents: AgentMemory,
        tasks: Tasks,
        clock: Clock,
    ) -> None:
        self._table = table
        self._namespaces = namespaces
        self._agents = agents
        self._tasks = tasks
        self._clock = clock

    def apply(self, caller: Principal, workflow: Workflow, token: RequestToken) -> Application:
        """Sets what a workflow says; the file that was applied last changes nothing.

        Whatever a crash leaves out, the same file sets when it comes again.

        Raises:
            AccessDenied: the caller can't coordinate, or others own the workflow's tasks.
        """
        if not caller.may_coordinate:
            raise AccessDenied("a workflow is applied by a coordinator or user")
        wanted = application(workflow)
        place = build_workflow_key(caller.tenant, workflow.name)
        standing = self._table.get(place) or {}
        token.matches(standing.get("req"))
        said = digest(workflow)
        if standing.get("said") == said:
            return wanted
        self._set_tasks(caller, wanted)
        for name in wanted.namespaces:
            self._namespaces.introduce(caller, name)
        for agent in wanted.agents:
            config = AgentConfig(episodic=_settings(agent))
            self._agents.configure(caller, agent.agent, config, RequestToken.create())
        item = {"name": workflow.name, "said": said, "req": token.stored, "at": self._clock()}
        self._table.put(put(place, item))
        return wanted

    def _set_tasks(self, caller: Principal, wanted: Application) -> None:
        """Registers the plan's tasks, and changes those that are there and still open."""
        ids = {task.id for task in wanted.tasks}
        present = {task.id: task for task in self._tasks.get_many(caller.tenant, ids)}
        for plan in wanted.tasks:
            fields = _fields(plan, wanted)
            task = present.get(plan.id)
            if task is None:
                new = NewTask(id=plan.id, intent_id=wanted.intent, **fields)
                self._tasks.register(caller, new, RequestToken.create())
            elif task.ended is None and not _stands(task, plan, fields):
                change, token = TaskChange(**fields), RequestToken.create()
                self._tasks.change(caller, task.id, task.version, change, token)


def _settings(agent: AgentPlan) -> EpisodicSettings:
    given: dict[str, Any] = {
        "capacity": agent.capacity,
        "pinned_namespaces": agent.pinned_namespaces,
    }
    return EpisodicSettings(**{name: value for name, value in given.items() if value is not None})


def _fields(plan: TaskPlan, wanted: Application) -> dict[str, Any]:
    return {
        "name": plan.name,
        "assigned_agent": plan.agent,
        "depends_on": plan.depends_on,
        "memory_policy": MemoryPolicy(**asdict(plan.policy)),
        "semantic_namespaces": wanted.namespaces if wanted.declares_memory else None,
        "metadata": {
            "workflow": wanted.name,
            "workflow_version": wanted.version,
            "outputs": plan.outputs,
        },
    }


def _stands(task: Task, plan: TaskPlan, fields: dict[str, Any]) -> bool:
    """Whether a task is already as the workflow says."""
    kept = {
        name: value for name, value in fields.items() if name in EXTRA_FIELDS and value is not None
    }
    same = all(task.extra_fields.get(name) == value for name, value in kept.items())
    return same and (task.assignee, task.policy) == (plan.agent, plan.policy)
