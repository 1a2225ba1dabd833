"""Use cases on grants: access to a task's working memory for others (contract §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform import limits
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, CapacityExceeded, NotFound, ValidationFailed
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.tasks import grant_writes, rules
from functions.tasks.items import FOREVER, task_of
from functions.tasks.model import Grant
from functions.tasks.store import TaskStore

if TYPE_CHECKING:
    from functions.tasks.requests import NewGrant


class Grants:
    """The grants on a caller's tenant's tasks."""

    def __init__(self, store: TaskStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def grant(self, caller: Principal, task_id: str, principal: str, new: NewGrant) -> Grant:
        """Gives somebody access to the task's working memory (contract §5).

        Raises:
            NotFound, AccessDenied, TaskClosed: as they say.
            ValidationFailed: the expiry lies in the past.
            CapacityExceeded: the task has all the grants that it can hold.
        """
        if new.expires_at is not None and new.expires_at <= self._clock():
            raise ValidationFailed("expires_at", "lies in the past")
        grant = Grant(principal, new.access, new.expires_at or FOREVER)
        self._direct(caller, grant_writes.set_grant(caller.tenant, task_id, caller, grant))
        return grant

    def revoke(self, caller: Principal, task_id: str, principal: str) -> None:
        """Takes a grant back.

        Raises:
            NotFound: no such task, or no such grant.
            AccessDenied, TaskClosed: as they say.
        """
        write = grant_writes.remove_grant(caller.tenant, task_id, caller, principal)
        self._direct(caller, write)

    def _direct(self, caller: Principal, write: Write) -> None:
        try:
            self._store.change(write)
        except ConditionFailed as failed:
            if failed.item is None:
                raise NotFound("no task has this id") from failed
            task = task_of(failed.item)
            if not rules.directs(caller, task):
                raise AccessDenied("only the task's coordinator and assignee grant") from failed
            rules.assert_open(task)
            if len(task.grants) >= limits.MAX_GRANTS:
                raise CapacityExceeded("grants", len(task.grants), limits.MAX_GRANTS) from failed
            raise NotFound("this principal has no grant on the task") from failed
