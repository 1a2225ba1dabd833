"""Registers tasks, and adopts those that a write registered (contract §5, RFC-0015 §6.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, EntryExists, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.table import Refused
from functions.platform.writes import Write
from functions.tasks import rules, writes
from functions.tasks.changes import new_task
from functions.tasks.governance import Governance
from functions.tasks.items import task_of
from functions.tasks.model import Task
from functions.tasks.store import TaskStore, replace_task

if TYPE_CHECKING:
    from functions.tasks.requests import NewTask


class Registrations:
    """The tasks that callers register. `kind_of(tenant, id)` tells a principal's kind."""

    def __init__(
        self,
        store: TaskStore,
        governance: Governance,
        clock: Clock,
        kind_of: Callable[[str, str], str | None],
    ) -> None:
        self._store = store
        self._governance = governance
        self._clock = clock
        self._kind_of = kind_of

    def register(self, caller: Principal, new: NewTask, token: RequestToken) -> Task:
        """Registers a task, or adopts one that a write registered.

        Raises:
            AccessDenied: the caller would make authority that it doesn't have.
            EntryExists: the id is taken.
            ValidationFailed: the parent isn't there, or the coordinator can't coordinate.
        """
        parent = self._parent(caller, new)
        assignee, coordinator = rules.roles(caller, new, parent)
        if caller.may_coordinate and coordinator not in (None, caller.id):
            self._assert_coordinates(caller.tenant, str(coordinator))
        task = new_task(new, caller, assignee, coordinator, self._clock(), token)
        try:
            registration = partial(self._registration, caller)
            return self._governance.commit(caller.tenant, None, task, registration)
        except Refused as refused:
            return self._not_registered(caller, new, task, token, refused)

    def _parent(self, caller: Principal, new: NewTask) -> Task | None:
        if new.parent_task_id is None:
            return None
        if new.parent_task_id == new.id:
            raise ValidationFailed("parent_task_id", "a task isn't its own parent")
        parent = self._store.get(caller.tenant, new.parent_task_id)
        if parent is None:
            raise ValidationFailed("parent_task_id", "no such task")
        return parent

    def _assert_coordinates(self, tenant: str, principal: str) -> None:
        if self._kind_of(tenant, principal) not in ("coordinator", "user"):
            raise AccessDenied("only a principal of kind coordinator or user coordinates a task")

    def _registration(self, caller: Principal, task: Task) -> list[Write]:
        return [writes.add_task(caller.tenant, task), *self._around(caller, task)]

    def _around(self, caller: Principal, task: Task) -> list[Write]:
        """What a task's registration changes beside the task itself."""
        tenant, around = caller.tenant, []
        if task.intent is not None:
            around.append(writes.use_intent(caller, task.intent, task.created, task.parties))
            around.append(writes.list_under_intent(tenant, task, task.intent))
        if task.assignee is not None:
            around.append(writes.join(tenant, task.assignee, task.id))
        if task.parent is not None and task.policy.inherit_from_parent:
            around.append(writes.inherit(caller, task.parent, task.id))
        elif task.parent is not None and not caller.may_coordinate:
            around.append(writes.still_directed(caller, task.parent))
        return around

    def _not_registered(
        self, caller: Principal, new: NewTask, task: Task, token: RequestToken, refused: Refused
    ) -> Task:
        place = keys.task_item(caller.tenant, task.id)
        item = refused.failed.get(place)
        if item is not None:
            present = task_of(item)
            if token.wrote(present.request):
                return present
            if caller.may_coordinate and rules.adoptable(present, new, task.assignee):
                return self._adopt(caller, present, task)
            raise EntryExists("a task has this id already")
        if keys.intent_item(caller.tenant, str(task.intent)) in refused.failed:
            raise AccessDenied("this intent belongs to somebody else; ask its owner for access")
        raise AccessDenied("the parent has ended, or you no longer direct it")

    def _adopt(self, caller: Principal, present: Task, wanted: Task) -> Task:
        adopted = replace(
            wanted,
            version=present.version + 1,
            created=present.created,
            parties=present.parties | wanted.parties,
            by_write=False,
            adopted=wanted.created if present.intent is None else None,
        )
        tenant = caller.tenant
        try:
            adoption = partial(self._adoption, caller, present)
            self._governance.commit(tenant, present, adopted, adoption)
        except Refused as refused:
            if keys.task_item(tenant, adopted.id) in refused.failed:
                raise EntryExists("a task has this id already") from refused
            raise AccessDenied("this intent or parent belongs to somebody else") from refused
        return self._store.existing(tenant, adopted.id)

    def _adoption(self, caller: Principal, old: Task, new: Task) -> list[Write]:
        return [replace_task(caller.tenant, old, new), *self._around(caller, new)]
