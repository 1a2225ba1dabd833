"""Use cases on grants: access to a task's working memory for others (contract §5)."""

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import (
    AccessDenied,
    CapacityExceeded,
    NotFound,
    ServiceError,
    ValidationFailed,
)
from functions.platform.limits import MAX_GRANTS
from functions.platform.table import ConditionFailed
from functions.tasks import rules
from functions.tasks.mapper import FOREVER, task_from_item
from functions.tasks.model import Grant
from functions.tasks.requests import NewGrant
from functions.tasks.store import TaskStore


class Grants:
    """The grants on a caller's tenant's tasks."""

    def __init__(self, store: TaskStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def grant(self, caller: Principal, task_id: str, principal: str, new: NewGrant) -> Grant:
        """Give a principal access to a task's working memory (contract §5).

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: the caller is neither the task's coordinator nor its assignee.
            TaskClosed: the task has ended.
            ValidationFailed: the expiry lies in the past.
            CapacityExceeded: the task has all the grants that it can hold.
        """
        if new.expires_at is not None and new.expires_at <= self._clock():
            raise ValidationFailed("expires_at", "lies in the past")
        grant = Grant(principal, new.access, new.expires_at or FOREVER)
        try:
            self._store.set_grant(caller, task_id, grant)
        except ConditionFailed as failed:
            raise _grant_conflict(caller, failed) from failed
        return grant

    def revoke(self, caller: Principal, task_id: str, principal: str) -> None:
        """Take a grant back.

        Raises:
            NotFound: there is no such task, or no such grant.
            AccessDenied: the caller is neither the task's coordinator nor its assignee.
            TaskClosed: the task has ended.
        """
        try:
            self._store.remove_grant(caller, task_id, principal)
        except ConditionFailed as failed:
            raise _grant_conflict(caller, failed) from failed


def _grant_conflict(caller: Principal, failed: ConditionFailed) -> ServiceError:
    """Learn from the task as it is stored why a grant couldn't be changed."""
    if failed.item is None:
        return NotFound("no task has this id")
    task = task_from_item(failed.item)
    if not rules.is_assignee_or_coordinator(caller, task):
        return AccessDenied("only the task's coordinator and assignee grant")
    if task.ended is not None:
        return rules.task_closed(task)
    if len(task.grants) >= MAX_GRANTS:
        return CapacityExceeded("grants", len(task.grants), MAX_GRANTS)
    return NotFound("this principal has no grant on the task")
