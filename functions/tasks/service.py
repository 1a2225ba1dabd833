"""Use cases on tasks: read, change, who sees what (contract §5, RFC-0015 §6.5, §8)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from functions.identity.model import ADMIN, Principal
from functions.platform import keys
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.table import Refused
from functions.platform.writes import Write
from functions.tasks import rules, writes
from functions.tasks.changes import changed
from functions.tasks.governance import Governance
from functions.tasks.items import task_of
from functions.tasks.model import Task
from functions.tasks.store import TaskStore, replace_task

if TYPE_CHECKING:
    from functions.tasks.requests import TaskChange


class Tasks:
    """The tasks of a caller's tenant."""

    def __init__(
        self,
        store: TaskStore,
        governance: Governance,
        clock: Clock,
    ) -> None:
        self._store = store
        self._governance = governance
        self._clock = clock

    def get(self, caller: Principal, task_id: str) -> Task:
        """One task.

        Raises:
            NotFound: no such task in the caller's tenant.
            AccessDenied: the caller has no part in it or in its intent.
        """
        task = self._store.existing(caller.tenant, task_id)
        if not self._sees(caller, task):
            raise AccessDenied("you have no part in this task")
        return task

    def _sees(self, caller: Principal, task: Task) -> bool:
        if caller.id in task.parties or ADMIN in caller.permissions:
            return True
        if self.reads_memory(caller, task):
            return True
        intent = None if task.intent is None else self._store.intent(caller.tenant, task.intent)
        return intent is not None and rules.may_read_intent(caller, intent)

    def of_intent(self, caller: Principal, intent_id: str) -> list[Task]:
        """An intent's tasks, newest first, as far as the caller has part in them or the intent."""
        tasks = self._store.of_intent(caller.tenant, intent_id)
        intent = self._store.intent(caller.tenant, intent_id)
        if intent is None or not rules.may_read_intent(caller, intent):
            tasks = [task for task in tasks if self.reads_memory(caller, task)]
        return _newest_first(tasks)

    def of_agent(self, caller: Principal, agent: str) -> list[Task]:
        """The open tasks assigned to an agent, newest first, as far as the caller has part in them.

        What a worker polls: one read of the agent's task set, one of those tasks.
        """
        return _newest_first(
            [
                task
                for task in self._store.of_agent(caller.tenant, agent)
                if task.assignee == agent
                and task.ended is None
                and (caller.id in task.parties or ADMIN in caller.permissions)
            ]
        )

    def change(
        self,
        caller: Principal,
        task_id: str,
        version: int,
        change: TaskChange,
        token: RequestToken,
    ) -> Task:
        """Changes a task (contract §5).

        Raises:
            NotFound, AccessDenied, TaskClosed, VersionMismatch: as they say.
        """
        present = self._store.existing(caller.tenant, task_id)
        if token.wrote(present.request):
            return present
        rules.assert_may_change(caller, present, change.model_fields_set)
        if version != present.version:
            raise _mismatch(present)
        rules.assert_open(present)
        new = changed(present, change, self._clock(), token)
        try:
            changes = partial(self._changes, caller, present)
            self._governance.commit(caller.tenant, present, new, changes)
        except Refused as refused:
            return self._not_changed(caller, task_id, token, refused)
        return self._store.existing(caller.tenant, task_id)

    def _changes(self, caller: Principal, old: Task, new: Task) -> list[Write]:
        """What a change writes: the task, and what follows from it elsewhere."""
        tenant = caller.tenant
        changes = [replace_task(tenant, old, new)]
        if new.assignee is not None and new.assignee != old.assignee:
            changes.append(writes.join(tenant, new.assignee, new.id))
            if new.intent is not None:
                parties = frozenset({new.assignee})
                changes.append(writes.use_intent(caller, new.intent, new.updated, parties))
        if new.policy.inherit_from_parent and not old.policy.inherit_from_parent:
            parent = None if new.parent is None else self._store.get(tenant, new.parent)
            rules.assert_may_inherit(caller, parent)
            changes.append(writes.inherit(caller, str(new.parent), new.id))
        if old.policy.inherit_from_parent and not new.policy.inherit_from_parent:
            changes.append(writes.disinherit(tenant, str(new.parent), new.id))
        return changes

    def _not_changed(
        self, caller: Principal, task_id: str, token: RequestToken, refused: Refused
    ) -> Task:
        item = refused.failed.get(keys.task_item(caller.tenant, task_id))
        if item is None:
            raise AccessDenied("the intent or the parent is no longer yours to use") from refused
        present = task_of(item)
        if token.wrote(present.request):
            return present
        rules.assert_open(present)
        raise _mismatch(present) from refused

    def reads_memory(self, caller: Principal, task: Task) -> bool:
        """Whether the caller reads all working memory of a task (contract §4)."""
        if rules.may_read_memory(caller, task, self._clock()):
            return True
        heirs = self._store.get_many(caller.tenant, task.heirs)
        return any(heir.assignee == caller.id and heir.ended is None for heir in heirs)

    def known(self, tenant: str, task_ids: set[str]) -> list[Task]:
        """The tasks that exist among these."""
        return self._store.get_many(tenant, task_ids)

    def oversees(self, caller: Principal, agent: str) -> bool:
        """Whether the caller coordinates an open task assigned to the agent (RFC-0015 §2.2)."""
        tasks = self._store.of_agent(caller.tenant, agent) if caller.may_coordinate else []
        return any(
            task.ended is None and task.assignee == agent and rules.coordinates(caller, task)
            for task in tasks
        )


def _newest_first(tasks: list[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (task.created, task.id), reverse=True)


def _mismatch(present: Task) -> VersionMismatch:
    return VersionMismatch(
        f"the task is at version {present.version}; read it and try again",
        current=present,
        version=present.version,
    )
