"""Use cases on grants: others' access to a task's working memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, is_allowed
from functions.identity.model import Principal
from functions.platform.bounded_pages import (
    BoundedPage,
    WantedPage,
    read_page,
    sort_newest,
)
from functions.platform.clock import Clock, to_rfc3339
from functions.platform.errors import AccessDenied, CapacityExceeded, NotFound, ValidationFailed
from functions.platform.limits import MAX_GRANTS
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed
from functions.tasks.authority import GRANT, LIST_GRANTS, REVOKE_GRANT, TaskTarget, authorize_write
from functions.tasks.grant_store import GrantStore, count_granted, replace_grant
from functions.tasks.model import FOREVER, Grant, Task
from functions.tasks.requests import NewGrant
from functions.tasks.rules import assert_open, is_coordinator
from functions.tasks.store import TaskStore

BuildGrant = Callable[[Task, Grant | None], Grant | None]

_ATTEMPTS = 30  # many may change one grant at once


@dataclass(eq=False)
class Grants:
    """The grants on a caller's tenant's tasks."""

    _store: GrantStore
    _tasks: TaskStore
    _audit: AuditTrail
    _clock: Clock

    def list_page(self, caller: Principal, task_id: str, wanted: WantedPage) -> BoundedPage[Grant]:
        """List a page of the valid grants on a task, newest first.

        A holder sees its own grant.

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: the caller has no grant on the task, and may not give grants.
        """
        task, now = self._tasks.get_existing(caller.tenant, task_id), self._clock()
        if is_allowed(caller, LIST_GRANTS, TaskTarget(task, now)):
            grants = self._store.list_all(caller.tenant, task_id, wanted)
            return read_page(wanted, grants, lambda each: each.counts(task.term, now))
        own = self._store.get(caller.tenant, task_id, caller.id)
        if own is None or not own.counts(task.term, now):
            raise AccessDenied(LIST_GRANTS.denied)
        return read_page(wanted, sort_newest([own], wanted))

    def grant(self, caller: Principal, task_id: str, principal: str, new: NewGrant) -> Grant:
        """Give a principal access to a task's working memory.

        A coordinator's grant ends with the task; an assignee's grant ends when the task is handed
        over.

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: the caller is neither the task's coordinator nor its assignee.
            TaskReassigned: the task has another assignee now.
            TaskClosed: the task has ended.
            ValidationFailed: the expiry lies in the past.
            CapacityExceeded: its assignee has made the maximum number of grants.
        """
        now = self._clock()
        if new.expires_at is not None and new.expires_at <= now:
            raise ValidationFailed("expires_at", "must be in the future")

        grant = Grant(principal, new.access, new.expires_at or FOREVER, caller.id, now)

        def build(task: Task, _: Grant | None) -> Grant:
            return grant._replace(term=None if is_coordinator(caller, task) else task.term)

        self._replace(caller, GRANT, task_id, principal, build)
        return grant

    def revoke(self, caller: Principal, task_id: str, principal: str) -> None:
        """Revoke a grant.

        Raises:
            NotFound: there is no such task, or no such grant.
            AccessDenied: the caller is neither the task's coordinator nor its assignee.
            TaskReassigned: the task has another assignee now.
            TaskClosed: the task has ended.
        """

        def build(task: Task, old: Grant | None) -> None:
            if old is None or not old.counts(task.term, self._clock()):
                raise NotFound("this principal has no grant on the task")

        self._replace(caller, REVOKE_GRANT, task_id, principal, build)

    @retry_on(ConditionFailed, "others are changing this task's grants", attempts=_ATTEMPTS)
    def _replace(
        self,
        caller: Principal,
        action: Action[TaskTarget],
        task_id: str,
        principal: str,
        build: BuildGrant,
    ) -> None:
        """Replace the present grant, in one transaction with its audit record."""
        task = self._tasks.get_existing(caller.tenant, task_id)
        target = TaskTarget(task, self._clock())
        if not is_allowed(caller, action, target):
            member = self._tasks.get_membership(caller.tenant, task.id, caller.id)
            authorize_write(caller, action, target._replace(member=member))
        assert_open(task)
        old = self._store.get(caller.tenant, task_id, principal)
        new = build(task, old)
        _assert_fits(task, old, new)
        before, after = _describe(old), _describe(new)
        record = self._audit.record(caller, action, f"task:{task_id}", before, after)
        self._store.commit([*replace_grant(caller.tenant, task, old, new), record])


def _assert_fits(task: Task, old: Grant | None, new: Grant | None) -> None:
    """Check the maximum number of grants of a task's assignee."""
    if count_granted(task, old, new) > 0 and task.granted >= MAX_GRANTS:
        raise CapacityExceeded(
            "grants", task.granted, MAX_GRANTS, "revoke some, or let the coordinator grant"
        )


def _describe(grant: Grant | None) -> dict[str, Any] | None:
    if grant is None:
        return None
    expires = None if grant.expires_at == FOREVER else to_rfc3339(grant.expires_at)
    return {"principal": grant.principal, "access": grant.access, "expires_at": expires}
