"""Use cases on coordinators' guardrails: read, change, enforce (RFC-0015 §6.6).

Restrictions of an agent are read in each request: `functions.namespaces.store`. Restrictions of a
task are stored on the task, since a working entry is created by one write, which reads nothing: the
task's room is its condition. A task gets them in the transaction that registers it. The
coordinator's other open tasks get them before the response to a change. Until then, guardrails are
due, so that the schedule finishes after a crash.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError, Unavailable, ValueTooLarge, VersionMismatch
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.items import Item
from functions.platform.json_text import dumps_checked
from functions.platform.keys import get_tenant
from functions.platform.limits import MAX_GUARDRAILS_BYTES
from functions.platform.observability import log_unexpected
from functions.platform.parallel import run_parallel
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.tasks.authority import CHANGE_GUARDRAILS, READ_GUARDRAILS
from functions.tasks.guardrail_store import GuardrailStore, check_guardrails
from functions.tasks.lifecycle_store import AssignmentStore
from functions.tasks.model import GUARDRAILS, CoordinatorGuardrails, Task
from functions.tasks.requests import GuardrailsChange
from functions.tasks.store import TaskStore


@dataclass(eq=False)
class GuardrailService:
    """Coordinators' guardrails, and their enforcement."""

    _store: GuardrailStore
    _tasks: TaskStore
    _assignments: AssignmentStore
    _audit: AuditTrail
    _clock: Clock

    def get(self, caller: Principal, coordinator: str) -> CoordinatorGuardrails:
        """Read a coordinator's guardrails; version 0 if there are none.

        Raises:
            AccessDenied: the caller is not the coordinator, and lacks `memory.admin`.
        """
        authorize(caller, READ_GUARDRAILS, coordinator)
        return self._store.get(caller.tenant, coordinator)

    def list_allowed_namespaces(self, tenant: str, coordinator: str) -> list[str]:
        """List the namespaces that a coordinator's guardrails name as allowed."""
        given = self._store.get(tenant, coordinator).given
        return list(given.get("allowed_semantic_namespaces", ()))

    def change(
        self,
        caller: Principal,
        coordinator: str,
        asked: GuardrailsChange,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        """Change guardrails.

        When this returns, they apply to the coordinator, its open tasks and their assignees.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            VersionMismatch: `version` is given and isn't the present one, or the request had been
                carried out, and the guardrails were changed.
            ValueTooLarge: other guardrails than memory's have over 16 KB together.
            Unavailable: some tasks couldn't be changed; the schedule finishes.
        """
        authorize(caller, CHANGE_GUARDRAILS, coordinator)
        changed = self._replace(caller, coordinator, asked, version, token)
        if not self.enforce(caller.tenant, coordinator):
            raise Unavailable("the guardrails are stored; some open tasks get them within a minute")
        return changed

    @retry_on(ConditionFailed, "others are changing these guardrails")
    def _replace(
        self,
        caller: Principal,
        coordinator: str,
        asked: GuardrailsChange,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        tenant, given = caller.tenant, asked.guardrails.model_dump(exclude_unset=True)
        present = self._store.get(tenant, coordinator)
        verdict = token.judge(present.requests)
        if verdict is Verdict.REPLAY:
            return present
        if verdict is Verdict.SUPERSEDED or version not in (None, present.version):
            raise VersionMismatch.of("the set of guardrails", present.version)
        new = change_guardrails(present, given, self._clock(), token)
        record = self._audit.record(
            caller,
            CHANGE_GUARDRAILS,
            f"coordinator:{coordinator}",
            {name: present.given.get(name) for name in given},
            given,
        )
        self._store.replace(tenant, new, record)
        return new

    def guard(self, tenant: str, old: Task | None, new: Task) -> tuple[Task, list[Write]]:
        """Apply guardrails to a task that is registered, adopted or ended.

        Returns:
            The task under guardrails, and the checks for its transaction.
        """
        if new.coordinator is None or new.completed_at is not None:
            return replace(new, delegates=new.delegates or ()), []
        if old is not None and old.coordinator == new.coordinator:
            return new, []
        own, *former = every = self._store.get_many(tenant, new.guarding_coordinators)
        is_default = new.delegates is None
        guarded = replace(
            new,
            delegates=tuple(own.given.get("delegates", ())) if is_default else new.delegates,
            # Former coordinators without guardrails no longer count.
            guarded_by=tuple(each.coordinator_id for each in former if each.version),
        )
        checks = [check_guardrails(tenant, each) for each in every]
        return restrict_task(guarded, *(each.given for each in every)), checks

    def enforce(self, tenant: str, coordinator: str) -> bool:
        """Apply the present guardrails of a coordinator to its open tasks, one by one.

        Returns:
            True if all tasks have them; else the guardrails stay due.
        """
        version = self._store.get(tenant, coordinator).version
        task_ids = self._assignments.list_coordinated(tenant, coordinator)
        steps = [partial(self._try_restrict, tenant, task_id) for task_id in task_ids]
        if not all(run_parallel(steps)):
            return False
        self._store.complete(tenant, coordinator, version)
        return True

    def resume(self, item: Item) -> bool:
        """Enforce guardrails that the schedule found due."""
        return self.enforce(get_tenant(item["pk"]), item["coordinator"])

    def _try_restrict(self, tenant: str, task_id: str) -> bool:
        try:
            self._restrict(tenant, task_id)
        except ServiceError as error:
            log_unexpected(error, step="guardrails")
            return False
        return True

    @retry_on(ConditionFailed, "others are changing the same tasks and guardrails")
    def _restrict(self, tenant: str, task_id: str) -> None:
        # in this order: guardrails read after the task are never older than those that it has
        task = self._tasks.get(tenant, task_id)
        if task is None or task.completed_at is not None:
            return
        every = self._store.get_many(tenant, task.guarding_coordinators)
        restricted = restrict_task(task, *(each.given for each in every))
        if restricted != task:
            self._tasks.restrict(tenant, task, restricted)


def change_guardrails(
    present: CoordinatorGuardrails, given: dict[str, Any], now: int, token: RequestToken
) -> CoordinatorGuardrails:
    """Return guardrails after a change of the given ones; None removes one."""
    merged = {name: each for name, each in {**present.given, **given}.items() if each is not None}
    others = {name: each for name, each in merged.items() if name not in GUARDRAILS}
    size = len(dumps_checked(others, "guardrails"))
    if size > MAX_GUARDRAILS_BYTES:
        raise ValueTooLarge("the guardrails are too large", max=MAX_GUARDRAILS_BYTES, actual=size)
    requests = token.add_to(present.requests)
    return CoordinatorGuardrails(present.coordinator_id, merged, present.version + 1, now, requests)


def restrict_task(task: Task, *guardrails: Mapping[str, Any]) -> Task:
    """Return a task under the strictest guardrails; its room changes with its limit."""
    caps = [each.get("max_working_memory_per_task") for each in guardrails]
    restricted = replace(
        task,
        entry_cap=min((each for each in caps if each is not None), default=None),
        archive_required=any(each.get("memory_archive_required") for each in guardrails),
    )
    return replace(
        restricted, free_entries=task.free_entries + restricted.max_entries - task.max_entries
    )
