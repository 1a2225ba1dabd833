"""Applies workflows: their namespaces, agents and tasks (RFC-0015 §7)."""

import secrets
from dataclasses import dataclass
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.entries.agents import AgentMemory
from functions.entries.requests import AgentConfig
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.platform.errors import EntryExists, VersionMismatch
from functions.platform.idempotency import Digests, RequestToken
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed
from functions.tasks.access import TaskAccess
from functions.tasks.intents import Intents
from functions.tasks.model import Task
from functions.tasks.requests import NewTask, TaskChange
from functions.tasks.service import Tasks
from functions.workflows import rules
from functions.workflows.authority import APPLY_WORKFLOW
from functions.workflows.requests import Workflow
from functions.workflows.rules import Application
from functions.workflows.store import AppliedWorkflow, AppliedWorkflowStore

_DIGEST_BYTES, _SEED_BYTES = 16, 16
_BUSY = "others are applying this workflow"


@dataclass(eq=False)
class Workflows:
    """The workflows of a caller's tenant."""

    _store: AppliedWorkflowStore
    _namespaces: Namespaces
    _agents: AgentMemory
    _tasks: Tasks
    _task_access: TaskAccess
    _intents: Intents
    _audit: AuditTrail
    _digests: Digests

    @retry_on(ConditionFailed, _BUSY)
    def apply(self, caller: Principal, workflow: Workflow, token: RequestToken) -> Application:
        """Apply a workflow; the file that was applied last changes nothing.

        After a crash, the next application of any file finishes the work. If another file is
        applied at the same time, this one is applied again.

        Raises:
            AccessDenied: the caller can't coordinate, or others own the workflow's intent.
            EntryExists: a task of the plan belongs to another principal.
            IdempotencyConflict: the last file had the same Idempotency-Key, but another content.
            Throttled: others keep applying files of this workflow.
        """
        authorize(caller, APPLY_WORKFLOW, workflow.name)
        digest = self._digests.compute("workflow", rules.render_workflow(workflow), _DIGEST_BYTES)
        last = self._store.get(caller.tenant, workflow.name)
        if last is not None:
            token.matches(last.request_token)
            if last.digest == digest:
                return rules.build_application(workflow, last.seed)
        self._intents.authorize_use(caller, rules.build_intent_id(workflow))
        known = last or AppliedWorkflow(workflow.name, secrets.token_bytes(_SEED_BYTES))
        application = rules.build_application(workflow, known.seed)
        self._get_tasks(caller, application)  # a rejected workflow changes nothing
        begun = known._replace(digest=None, request_token=token.stored)
        self._store.begin(caller.tenant, begun, is_new=last is None)
        self._set_up(caller, application)
        applied = begun._replace(digest=digest, version=application.version)
        before, after, target = _describe(known), _describe(applied), f"workflow:{applied.name}"
        record = self._audit.record(caller, APPLY_WORKFLOW, target, before, after)
        self._store.finish(caller.tenant, applied, record)
        return application

    def _set_up(self, caller: Principal, application: Application) -> None:
        self._set_tasks(caller, application)
        for name in application.semantic_namespaces:
            self._namespaces.declare(caller, name)
        for agent, settings in application.agents.items():
            config = AgentConfig(episodic=settings)
            self._agents.configure(caller, agent, config, RequestToken.create())

    def _set_tasks(self, caller: Principal, application: Application) -> None:
        """Register the plan's tasks, and change existing open ones.

        Another request may apply the workflow at the same time.
        """
        backoff = Backoff(_BUSY)
        while True:
            present = self._get_tasks(caller, application)
            try:
                return self._set_missing(caller, application, present)
            except (EntryExists, VersionMismatch):
                backoff.wait()

    def _set_missing(
        self, caller: Principal, application: Application, present: dict[str, Task]
    ) -> None:
        for plan in application.tasks:
            task = present.get(plan.id)
            if task is None:
                new = NewTask(id=plan.id, intent_id=application.intent_id, **plan.fields)
                self._tasks.register(caller, new, RequestToken.create())
            elif task.completed_at is None and not rules.is_up_to_date(task, plan):
                change, token = TaskChange(**plan.fields), RequestToken.create()
                self._tasks.change(caller, task.id, task.version, change, token)

    def _get_tasks(self, caller: Principal, application: Application) -> dict[str, Task]:
        """Read the existing tasks of the plan, by id."""
        ids = {task.id for task in application.tasks}
        present = self._task_access.get_many(caller.tenant, ids)
        if any(task.coordinator != caller.id for task in present):
            raise EntryExists("a task of this workflow has another coordinator")
        return {task.id: task for task in present}


def _describe(workflow: AppliedWorkflow) -> dict[str, Any] | None:
    if workflow.digest is None:
        return None
    return {"version": workflow.version, "digest": workflow.digest.hex()}
