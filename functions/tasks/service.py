"""Use cases on tasks: register, read, change, end (contract §5, RFC-0015 §6.5, §8)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, cast

from functions.audit.service import AuditTrail
from functions.authorization.model import Action
from functions.authorization.rules import authorize, is_allowed
from functions.identity.model import ADMIN, Principal
from functions.platform import task_keys
from functions.platform.bounded_pages import Examined
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, EntryExists, Throttled, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff
from functions.platform.table import TransactionConditionFailed
from functions.platform.writes import Write
from functions.tasks import changes, rules
from functions.tasks.access import TaskAccess
from functions.tasks.assignment_store import AssignmentStore, build_own_tasks_error
from functions.tasks.authority import (
    ADOPT_TASK,
    CHANGE_TASK,
    LET_INHERIT,
    READ_INTENT,
    READ_TASK,
    REGISTER_TASK,
    USE_INTENT,
    Adoption,
    Registration,
    TaskTarget,
    authorize_write,
)
from functions.tasks.guardrail_service import GuardedTask, GuardrailService
from functions.tasks.intent_store import IntentStore, join_intent
from functions.tasks.mapper import task_from_item
from functions.tasks.model import Assignment, Intent, Task
from functions.tasks.requests import NewTask, TaskChange
from functions.tasks.store import TaskStore, change_writes, registration_writes

WritesOf = Callable[[Principal, Task | None, Task], list[Write]]
_ATTEMPTS = 20  # entries of a task may be written all the while that it is to end


class MemoryArchive(Protocol):
    """What archives the memory of ended tasks: `functions.entries.archive.TaskArchive`."""

    def find_entries(self, tenant: str, task: Task) -> Sequence[Any]:
        """Read the entries that end with a task."""

    def archive(self, tenant: str, ended: Task, entries: Any) -> None:
        """Archive the entries of a task that has just ended."""

    def resume(self, tenant: str, task_id: str) -> bool:
        """Finish what an earlier request left."""


class Tasks:
    """The tasks of a caller's tenant.

    Args:
        store: holds the tasks.
        assignments: lists them by assignee.
        intents: holds their intents.
        access: says who reads whose memory.
        guardrails: restricts them.
        archive: takes over the memory of those that end.
        fence_entries: keeps those that left a task from writing for it, by tenant and task.
        kind_of: gives a principal's kind by tenant and id; None if there is no such principal.
        audit: records changes of assignee, coordinator and end.
        clock: gives the time in epoch ms.
    """

    def __init__(
        self,
        store: TaskStore,
        assignments: AssignmentStore,
        intents: IntentStore,
        access: TaskAccess,
        guardrails: GuardrailService,
        archive: MemoryArchive,
        fence_entries: Callable[[str, str], None],
        kind_of: Callable[[str, str], str | None],
        audit: AuditTrail,
        clock: Clock,
    ) -> None:
        self._store = store
        self._assignments = assignments
        self._intents = intents
        self._access = access
        self._guardrails = guardrails
        self._archive = archive
        self._fence_entries = fence_entries
        self._kind_of = kind_of
        self._audit = audit
        self._clock = clock

    def get(self, caller: Principal, task_id: str) -> Task:
        """Read one task.

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: the caller has no part in it or in its intent.
        """
        task = self._store.get_existing(caller.tenant, task_id)
        if not self._may_read(caller, task):
            raise AccessDenied("you have no part in this task")
        return task

    def _may_read(self, caller: Principal, task: Task) -> bool:
        if is_allowed(caller, READ_TASK, TaskTarget(task, self._clock())):
            return True
        member = self._store.get_membership(caller.tenant, task.id, caller.id)
        if is_allowed(caller, READ_TASK, TaskTarget(task, self._clock(), member)):
            return True
        if self._access.can_read_memory(caller, task):
            return True
        return task.intent is not None and self._may_read_intent(caller, task.intent)

    def _may_read_intent(self, caller: Principal, intent: str) -> bool:
        return is_allowed(caller, READ_INTENT, self._intents.get(caller.tenant, intent, caller.id))

    def list_of_intent(self, caller: Principal, intent_id: str) -> list[Task]:
        """List an intent's tasks that the caller may read, newest first."""
        ids = self._intents.list_task_ids(caller.tenant, intent_id)
        if self._may_read_intent(caller, intent_id):
            return _newest_first(self._store.get_many(caller.tenant, ids))
        return _newest_first(self._access.select_readable(caller, ids))

    def iterate_of_intent(
        self, caller: Principal, intent_id: str, before: str | None, count: int
    ) -> Iterator[Examined[Task]]:
        """Examine tasks for the same, newest first, before a position."""
        may_read = self._may_read_intent(caller, intent_id)
        for ids in self._intents.iterate_task_ids(caller.tenant, intent_id, before, count):
            if may_read:
                tasks = self._store.get_many(caller.tenant, ids)
            else:
                tasks = self._access.select_readable(caller, ids)
            readable = {task.id: task for task in tasks}
            yield from (Examined(position, readable.get(id)) for id, position in ids.items())

    def has_any_of_intent(self, caller: Principal, intent_id: str) -> bool:
        """Whether an intent has tasks, whoever may read them: one call."""
        return self._intents.has_tasks(caller.tenant, intent_id)

    def has_hidden_of_agent(self, caller: Principal, agent: str) -> bool:
        """Whether an agent has open tasks, and the caller may not see all of them."""
        if caller.id == agent or ADMIN in caller.permissions:
            return False
        return any(self._assignments.iterate_of_agent(caller.tenant, agent, None, 1))

    def list_assignments(self, caller: Principal, agent: str) -> list[Assignment]:
        """List the open tasks assigned to an agent that the caller may see, newest first.

        Workers poll this: one read, and one of the tasks that a page shows (`get_assigned`).
        """
        assigned = self._assignments.list_of_agent(caller.tenant, agent)
        if caller.id == agent or ADMIN in caller.permissions:
            return assigned
        tasks = self._store.get_many(caller.tenant, [each.task for each in assigned])
        visible = {task.id for task in tasks if caller.id in task.members}
        return [each for each in assigned if each.task in visible]

    def iterate_assigned(
        self, caller: Principal, agent: str, before: str | None, count: int
    ) -> Iterator[Examined[Task]]:
        """Examine the open tasks of an agent for those that the caller may see, newest first."""
        sees_all = caller.id == agent or ADMIN in caller.permissions
        for assigned in self._assignments.iterate_of_agent(caller.tenant, agent, before, count):
            tasks = self._store.get_many(caller.tenant, [each.task for each in assigned])
            visible = {each.id: each for each in tasks if sees_all or caller.id in each.members}
            yield from (Examined(each.list_position, visible.get(each.task)) for each in assigned)

    def get_assigned(self, caller: Principal, assigned: Sequence[Assignment]) -> list[Task]:
        """Read the tasks of assignments, newest first: a call for each hundred."""
        return _newest_first(self._store.get_many(caller.tenant, [each.task for each in assigned]))

    def register(self, caller: Principal, new: NewTask, token: RequestToken) -> Task:
        """Register a task, or adopt one that has no coordinator.

        Raises:
            AccessDenied: the caller would give authority that it doesn't have.
            EntryExists: another task has the id.
            ValidationFailed: the parent doesn't exist, or none is named to inherit from.
            CapacityExceeded: an agent has 100 open tasks without a coordinator.
        """
        parent = self._get_parent(caller, new)
        self._authorize_registration(caller, new, parent)
        roles = rules.choose_roles(caller, new, parent)
        if caller.may_coordinate and roles[1] not in (None, caller.id):
            self._assert_can_coordinate(caller.tenant, str(roles[1]))
        task = changes.build_task(new, caller, roles, self._clock(), token)
        task = replace(task, parent_term=rules.choose_parent_term(caller, task, parent))
        try:
            return self._commit(caller, None, task, self._build_registration)
        except TransactionConditionFailed as refused:
            return self._resolve_registration_conflict(caller, new, task, token, refused)

    def _authorize_registration(self, caller: Principal, new: NewTask, parent: Task | None) -> None:
        names_delegates = new.delegates is not None
        registration = Registration(new.assigned_agent, new.coordinator, parent, names_delegates)
        authorize(caller, REGISTER_TASK, registration)
        if new.memory_policy is not None and new.memory_policy.inherit_from_parent:
            self._authorize_inheritance(caller, parent)

    def _authorize_inheritance(self, caller: Principal, parent: Task | None) -> None:
        """Check that the caller may let a sub-task inherit from this parent.

        Raises:
            ValidationFailed: the task has no parent.
            AccessDenied: the caller is neither the parent's coordinator nor its assignee.
        """
        if parent is None:
            field = "memory_policy.inherit_from_parent"
            raise ValidationFailed(field, "needs a parent_task_id")
        authorize(caller, LET_INHERIT, TaskTarget(parent, self._clock()))

    def _get_parent(self, caller: Principal, new: NewTask) -> Task | None:
        if new.parent_task_id is None:
            return None
        if new.parent_task_id == new.id:
            raise ValidationFailed("parent_task_id", "a task isn't its own parent")
        parent = self._store.get(caller.tenant, new.parent_task_id)
        if parent is None:
            raise ValidationFailed("parent_task_id", "no such task")
        return parent

    def _assert_can_coordinate(self, tenant: str, principal: str) -> None:
        if self._kind_of(tenant, principal) not in ("coordinator", "user"):
            raise AccessDenied("only a principal of kind coordinator or user coordinates a task")

    def _resolve_registration_conflict(
        self,
        caller: Principal,
        new: NewTask,
        task: Task,
        token: RequestToken,
        refused: TransactionConditionFailed,
    ) -> Task:
        """Answer a retry, adopt a task without a coordinator, or say why nothing was done."""
        item = refused.failed.get(task_keys.build_task_key(caller.tenant, task.id))
        if item is not None:
            present = task_from_item(item)
            if token.matches(present.request):
                return self.resume(caller.tenant, present)
            if not is_allowed(caller, ADOPT_TASK, Adoption(present, new.assigned_agent)):
                raise EntryExists(ADOPT_TASK.denied)
            return self._adopt(caller, self._finish_archive(caller.tenant, present), task)
        if task_keys.build_own_tasks_key(caller.tenant, caller.id) in refused.failed:
            raise build_own_tasks_error()
        parent = refused.failed.get(task_keys.build_task_key(caller.tenant, str(task.parent)))
        if parent is not None:
            rules.assert_takes_sub_task(caller, task_from_item(parent))
        raise AccessDenied("the parent has ended, or you are no longer its coordinator or assignee")

    def _finish_archive(self, tenant: str, task: Task) -> Task:
        """Finish archiving the memory of a task that its assignee ended, before it opens again.

        Raises:
            Throttled: it takes longer than a request has.
        """
        if task.awaits_archive and not self._archive.resume(tenant, task.id):
            raise Throttled("the task's memory is being archived; try again")
        return self._store.get_existing(tenant, task.id) if task.awaits_archive else task

    def _adopt(self, caller: Principal, present: Task, wanted: Task) -> Task:
        adopted = changes.adopt_task(present, wanted)
        try:
            return self._save(caller, present, adopted, self._build_registration)
        except TransactionConditionFailed as refused:
            if task_keys.build_task_key(caller.tenant, adopted.id) in refused.failed:
                raise EntryExists(ADOPT_TASK.denied) from refused
            raise AccessDenied("the parent belongs to somebody else") from refused

    def change(
        self,
        caller: Principal,
        task_id: str,
        version: int,
        change: TaskChange,
        token: RequestToken,
    ) -> Task:
        """Change a task (contract §5); one that ends has its memory archived when this returns.

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: a field isn't the caller's to change.
            TaskClosed: the task has ended.
            VersionMismatch: it is at another version.
            ValidationFailed: the change names another task, or no coordinator.
        """
        if change.task_id not in (None, task_id):
            raise ValidationFailed("task_id", "isn't the id in the path")
        present = self._store.get_existing(caller.tenant, task_id)
        if token.matches(present.request):
            return self.resume(caller.tenant, present)
        self._authorize_change(caller, present, change)
        rules.assert_version(present, version)
        rules.assert_open(present)
        self._assert_coordinator(caller.tenant, change)
        new = changes.apply_change(present, change, self._clock(), token)
        if new.policy.inherit_from_parent and not present.policy.inherit_from_parent:
            parent = None if new.parent is None else self._store.get(caller.tenant, new.parent)
            self._authorize_inheritance(caller, parent)
        try:
            return self._save(caller, present, new, self._build_change)
        except TransactionConditionFailed as refused:
            return self._resolve_change_conflict(caller.tenant, present, token, refused)

    def _authorize_change(self, caller: Principal, task: Task, change: TaskChange) -> None:
        """Check who changes what; a former assignee learns that it was one.

        Raises:
            TaskReassigned: the task was the caller's, and is another's by now.
            AccessDenied: a field isn't the caller's to change.
        """
        fields, status = frozenset(change.model_fields_set) - {"task_id"}, change.status
        target = TaskTarget(task, self._clock(), fields=fields, status=status)
        if not is_allowed(caller, CHANGE_TASK, target):
            member = self._store.get_membership(caller.tenant, task.id, caller.id)
            authorize_write(caller, CHANGE_TASK, target._replace(member=member))

    def _assert_coordinator(self, tenant: str, change: TaskChange) -> None:
        """Check the coordinator that a change names, if it does."""
        if "coordinator" not in change.model_fields_set:
            return
        if change.coordinator is None:
            raise ValidationFailed("coordinator", "can't be null")
        self._assert_can_coordinate(tenant, change.coordinator)

    def _resolve_change_conflict(
        self, tenant: str, read: Task, token: RequestToken, refused: TransactionConditionFailed
    ) -> Task:
        item = refused.failed.get(task_keys.build_task_key(tenant, read.id))
        if item is None:
            raise AccessDenied("the parent is no longer yours to use") from refused
        present = task_from_item(item)
        if token.matches(present.request):
            return self.resume(tenant, present)
        rules.assert_open(present)
        raise rules.version_mismatch(present) from refused

    def resume(self, tenant: str, task: Task) -> Task:
        """Finish what an earlier request left of an end or a hand-over; returns the task."""
        if task.awaits_archive:
            self._archive.resume(tenant, task.id)
        elif task.leaving:
            self._fence_entries(tenant, task.id)
        return task

    def _save(self, caller: Principal, old: Task, new: Task, writes_of: WritesOf) -> Task:
        """Write a task that exists; if it ends, archive its memory.

        What it holds is read beside the write; the archive reads again what that misses.
        """
        if new.ended is None:
            return self.resume(caller.tenant, self._commit(caller, old, new, writes_of))
        new = replace(new, ender=caller.actor)
        steps: list[Callable[[], Any]] = [
            partial(self._commit, caller, old, new, writes_of),
            partial(self._archive.find_entries, caller.tenant, old),
        ]
        ended, entries = run_parallel(steps)
        self._archive.archive(caller.tenant, ended, entries)
        return cast("Task", ended)

    def _build_registration(self, caller: Principal, old: Task | None, new: Task) -> list[Write]:
        """Build a registration or adoption, by which the caller names the task's intent.

        Raises:
            AccessDenied: the intent isn't the caller's to use.
        """
        writes = registration_writes(caller, old, new)
        if old is not None:
            writes.append(self._record(caller, ADOPT_TASK, old, new))
        if new.intent is not None:
            intent = self._intents.get(caller.tenant, new.intent, caller.id)
            authorize(caller, USE_INTENT, intent)
            owner = _choose_owner(caller, intent)
            writes += _join(caller.tenant, intent, owner, new.members, new.updated)
        return writes

    def _build_change(self, caller: Principal, old: Task | None, new: Task) -> list[Write]:
        """Build a change; who newly takes part in the task takes part in its intent."""
        if old is None:
            raise ValueError("a task that isn't registered can't be changed")
        writes = change_writes(caller, old, new)
        if _differs_in_authority(old, new):
            writes.append(self._record(caller, CHANGE_TASK, old, new))
        joining = new.members - old.members
        if new.intent is not None and joining:
            intent = self._intents.get(caller.tenant, new.intent, caller.id)
            writes += _join(caller.tenant, intent, intent.owner, joining, new.updated)
        return writes

    def _record(self, caller: Principal, action: Action[Any], old: Task, new: Task) -> Write:
        """Record a change of assignee, coordinator or end."""
        before, after = _describe(old), _describe(new)
        return self._audit.record(caller, action, f"task:{new.id}", before, after)

    def _commit(self, caller: Principal, old: Task | None, new: Task, writes_of: WritesOf) -> Task:
        """Write a task under its coordinator's guardrails; returns it as it was written.

        Raises:
            TransactionConditionFailed: the condition of another item than guardrails, intent and
                counters failed.
        """
        backoff = Backoff("others are changing this task", attempts=_ATTEMPTS, longest_wait=0.1)
        while True:
            guarded = self._guardrails.guard(caller.tenant, old, new)
            try:
                self._store.commit([*writes_of(caller, old, guarded.task), *guarded.writes])
                break
            except TransactionConditionFailed as refused:
                new = _prepare_retry(caller.tenant, old, new, guarded, refused)
                backoff.wait()
        self._guardrails.update_assignees(caller.tenant, old, guarded.task)
        return guarded.task


def _prepare_retry(
    tenant: str,
    old: Task | None,
    new: Task,
    guarded: GuardedTask,
    refused: TransactionConditionFailed,
) -> Task:
    """Return the task for another attempt, after guardrails, intent or counters have changed.

    Raises:
        TransactionConditionFailed: the condition of another item failed, or the task has changed.
    """
    key = task_keys.build_task_key(tenant, new.id)
    item = refused.failed.get(key)
    retried = guarded.keys | {task_keys.build_intent_key(tenant, str(new.intent))}
    conflicts = refused.failed.keys() - retried
    if old is not None and item is not None:
        present = task_from_item(item)
        if changes.is_same_version(old, present):
            new, conflicts = changes.with_counters(new, present), conflicts - {key}
    if conflicts:
        raise refused
    return new


def _choose_owner(caller: Principal, intent: Intent) -> str | None:
    """Return who owns an intent that the caller names: an agent never does."""
    return intent.owner or (caller.id if caller.may_coordinate else None)


def _join(
    tenant: str, intent: Intent, owner: str | None, joining: frozenset[str], now: int
) -> Iterator[Write]:
    """Add participants to an intent, if it has an owner."""
    created, version = intent.created or now, intent.version or 1
    joined = replace(intent, owner=owner, created=created, version=version)
    return join_intent(tenant, intent, joined, joining)


def _describe(task: Task) -> dict[str, Any]:
    """Describe what of a task is changed with authority."""
    return {
        "assigned_agent": task.assignee,
        "coordinator": task.coordinator,
        "status": task.status,
    }


def _differs_in_authority(old: Task, new: Task) -> bool:
    """Whether assignee, coordinator or end differ."""
    is_handed_on = (old.assignee, old.coordinator) != (new.assignee, new.coordinator)
    return is_handed_on or new.ended is not None


def _newest_first(tasks: Iterable[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (task.created, task.id), reverse=True)
