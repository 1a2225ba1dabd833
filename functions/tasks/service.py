"""Register tasks, hand them over, end them, report results (RFC-0015 §6.5, §8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, cast

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize, is_allowed
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, EntryExists, Throttled, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.keys import Key
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.tasks import rules
from functions.tasks.authority import (
    ADOPT_TASK,
    CHANGE_TASK,
    REGISTER_TASK,
    USE_INTENT,
    Registration,
    TaskTarget,
    authorize_inheritance,
    authorize_write,
    has_left,
)
from functions.tasks.guardrails import GuardrailService
from functions.tasks.intent_store import IntentStore, join_intent
from functions.tasks.lifecycle_store import (
    build_own_tasks_error,
    change_writes,
    registration_writes,
)
from functions.tasks.model import Task
from functions.tasks.requests import NewTask, TaskChange
from functions.tasks.store import TaskStore, task_from_item

WritesOf = Callable[[Principal, Task | None, Task], list[Write]]
_ATTEMPTS = 20  # an agent may be assigned many tasks at once, each with restrictions


class MemoryArchive(Protocol):
    """Archives the memory of ended tasks: `functions.entries.archive.TaskArchive`."""

    def list_keys(self, tenant: str, task: Task) -> Sequence[Key]:
        """Return the keys of the entries that end with a task, by an index."""

    def archive(self, tenant: str, ended: Task, item_keys: Sequence[Key]) -> None:
        """Archive the entries of a task that has just ended."""

    def resume_at(self, partition: str) -> bool:
        """Finish the archiving of the task in a partition."""


@dataclass(eq=False)
class Tasks:
    """Registers and changes the tasks of a caller's tenant, with all consequences.

    Args:
        fence_entries: keeps those that left a task from writing for it, by its partition.
        kind_of: gives a principal's kind by tenant and id; None if there is no such principal.
    """

    _store: TaskStore
    _intents: IntentStore
    _guardrails: GuardrailService
    _archive: MemoryArchive
    _fence_entries: Callable[[str], object]
    _kind_of: Callable[[str, str], str | None]
    _audit: AuditTrail
    _clock: Clock

    def register(self, caller: Principal, new: NewTask, token: RequestToken) -> Task:
        """Register a task, or adopt or take over one of agents.

        Raises:
            AccessDenied: the caller would give authority that it lacks.
            EntryExists: another task has the id.
            ValidationFailed: the parent doesn't exist, or the task inherits without a parent.
            CapacityExceeded: an agent has 100 open tasks without a coordinator.
        """
        parent = self._get_parent(caller, new)
        self._authorize_registration(caller, new, parent)
        roles = rules.choose_roles(caller, new, parent)
        if caller.may_coordinate and roles[1] not in (None, caller.id):
            rules.assert_can_coordinate(self._kind_of(caller.tenant, str(roles[1])))
        task = rules.build_task(new, caller, roles, self._clock(), token)
        if parent and task.assigned_agent == caller.id and not rules.is_coordinator(caller, parent):
            # A task that the parent's assignee registers for itself inherits until the hand-over.
            task = replace(task, parent_term=parent.term)
        try:
            return self._commit(caller, None, task, self._build_registration)
        except ConditionFailed as refused:
            return self._resolve_registration_conflict(caller, task, token, refused)

    def _authorize_registration(self, caller: Principal, new: NewTask, parent: Task | None) -> None:
        names_delegates = new.delegates is not None
        registration = Registration(new.assigned_agent, new.coordinator, parent, names_delegates)
        authorize(caller, REGISTER_TASK, registration)
        if new.memory_policy is not None and new.memory_policy.inherit_from_parent:
            authorize_inheritance(caller, parent, self._clock())

    def _get_parent(self, caller: Principal, new: NewTask) -> Task | None:
        if new.parent_task_id is None:
            return None
        if new.parent_task_id == new.id:
            raise ValidationFailed("parent_task_id", "must be another task")
        parent = self._store.get(caller.tenant, new.parent_task_id)
        if parent is None:
            raise ValidationFailed("parent_task_id", "must be the id of a task")
        return parent

    def _resolve_registration_conflict(
        self, caller: Principal, task: Task, token: RequestToken, refused: ConditionFailed
    ) -> Task:
        """Return the task of a retry, adopt a task without a coordinator, or raise the reason."""
        if refused.failed.get(item_types.TASK.build_key(caller.tenant, task=task.id)) is not None:
            return self._adopt(caller, task, token)
        if item_types.OWN_TASKS.build_key(caller.tenant, agent=caller.id) in refused.failed:
            raise build_own_tasks_error()
        parent = refused.failed.get(
            item_types.TASK.build_key(caller.tenant, task=str(task.parent_task_id))
        )
        if parent is not None:
            rules.assert_takes_sub_task(caller, task_from_item(parent))
        raise AccessDenied("the parent has ended, or you are no longer its coordinator or assignee")

    @retry_on(ConditionFailed, "others are changing this task")
    def _adopt(self, caller: Principal, wanted: Task, token: RequestToken) -> Task:
        """Adopt the task; retry if its agent ends it, or another principal adopts it.

        With another assignee or coordinator, only the id is taken over, after the memory was
        archived.
        """
        present = self._store.get_existing(caller.tenant, wanted.id)
        if token.matches(present.request):
            return self.resume(caller.tenant, present)
        _assert_adoptable(caller, present)
        if present.completed_at is None and not rules.keeps_memory(present, wanted):
            ended = rules.end_before_take_over(present, self._clock())
            present = self._save(caller, present, ended, _build_end)
        present = self._finish_archive(caller.tenant, present)
        _assert_adoptable(caller, present)
        adopted = rules.adopt_task(present, wanted)
        try:
            return self._save(caller, present, adopted, self._build_registration)
        except ConditionFailed as refused:
            if item_types.TASK.build_key(caller.tenant, task=adopted.id) in refused.failed:
                raise
            raise AccessDenied("the parent belongs to another principal") from refused

    def _build_registration(self, caller: Principal, old: Task | None, new: Task) -> list[Write]:
        """Build a registration or adoption, with the caller's use of the intent."""
        writes = registration_writes(caller, old, new)
        if old is not None:
            writes.append(self._record(caller, ADOPT_TASK, old, new))
        elif new.assigned_agent not in (None, caller.id):
            writes.append(self._record(caller, REGISTER_TASK, None, new))
        if new.intent_id is not None:
            intent = self._intents.get(caller.tenant, new.intent_id, caller.id)
            authorize(caller, USE_INTENT, intent)
            owner = intent.owner or (caller.id if caller.may_coordinate else None)
            writes += join_intent(caller.tenant, intent, owner, new.members, new.updated_at)
        return writes

    def change(
        self, caller: Principal, task_id: str, version: int, change: TaskChange, token: RequestToken
    ) -> Task:
        """Change a task; if it ends, its memory is archived when this returns.

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: a field isn't the caller's to change.
            TaskClosed: the task has ended.
            VersionMismatch: it has another version.
            ValidationFailed: the change names another task, or a principal that can't coordinate.
        """
        rules.assert_consistent(change, task_id)
        present = self._store.get_existing(caller.tenant, task_id)
        is_repeated = token.matches(present.request)
        self._authorize_change(caller, present, change, is_repeated=is_repeated)
        if is_repeated:
            return self.resume(caller.tenant, present)
        if present.version != version:
            raise rules.version_mismatch(present)
        rules.assert_open(present)
        if "coordinator" in change.model_fields_set:
            if change.coordinator is None:
                raise ValidationFailed("coordinator", "can't be null")
            rules.assert_can_coordinate(self._kind_of(caller.tenant, change.coordinator))
        new = rules.apply_change(present, change, self._clock(), token)
        if caller.id != present.assigned_agent:
            new = replace(new, is_of_agents=False)
        if new.memory_policy.inherit_from_parent and not present.memory_policy.inherit_from_parent:
            parent = (
                None
                if new.parent_task_id is None
                else self._store.get(caller.tenant, new.parent_task_id)
            )
            authorize_inheritance(caller, parent, self._clock())
        try:
            return self._save(caller, present, new, self._build_change)
        except ConditionFailed as refused:
            return self._resolve_change_conflict(caller.tenant, present, token, refused)

    def _authorize_change(
        self, caller: Principal, task: Task, change: TaskChange, *, is_repeated: bool
    ) -> None:
        """Check that the caller may change these fields; a former assignee gets its own error.

        By a repeated request, the caller may have left the task.
        """
        fields = frozenset(change.model_fields_set - {"task_id"})
        target = TaskTarget(
            task, self._clock(), fields=fields, status=change.status, assignee=change.assigned_agent
        )
        if not is_allowed(caller, CHANGE_TASK, target):
            member = self._store.get_membership(caller.tenant, task.id, caller.id)
            if is_repeated and has_left(caller, target, member):
                return
            authorize_write(caller, CHANGE_TASK, target._replace(member=member))

    def _resolve_change_conflict(
        self, tenant: str, read: Task, token: RequestToken, refused: ConditionFailed
    ) -> Task:
        item = refused.failed.get(item_types.TASK.build_key(tenant, task=read.id))
        if item is None:
            raise AccessDenied(
                "you are no longer the parent's coordinator or assignee"
            ) from refused
        present = task_from_item(item)
        if token.matches(present.request):
            return self.resume(tenant, present)
        rules.assert_open(present)
        raise rules.version_mismatch(present) from refused

    def _build_change(self, caller: Principal, old: Task | None, new: Task) -> list[Write]:
        """Build a change; new participants of the task become participants of its intent."""
        if old is None:
            raise ValueError("a task that isn't registered can't be changed")
        writes = change_writes(caller, old, new)
        before, after = ((task.assigned_agent, task.coordinator) for task in (old, new))
        if before != after or new.completed_at is not None:
            writes.append(self._record(caller, CHANGE_TASK, old, new))
        joining = new.members - old.members
        if new.intent_id is not None and joining:
            intent = self._intents.get(caller.tenant, new.intent_id, caller.id)
            writes += join_intent(caller.tenant, intent, intent.owner, joining, new.updated_at)
        return writes

    def _save(self, caller: Principal, old: Task, new: Task, writes_of: WritesOf) -> Task:
        """Write an existing task; if it ends, archive its memory.

        While an end is written, the index lists the entries to read. The archive reads entries
        again that the index misses.
        """
        tenant = caller.tenant
        if new.completed_at is None:
            return self.resume(tenant, self._commit(caller, old, new, writes_of))
        new = replace(new, ender=caller.actor)
        steps: list[Callable[[], Any]] = [
            partial(self._commit, caller, old, new, writes_of),
            partial(self._archive.list_keys, tenant, old),
        ]
        ended, item_keys = run_parallel(steps)
        self._archive.archive(tenant, ended, item_keys)
        return cast("Task", ended)

    def _commit(self, caller: Principal, old: Task | None, new: Task, writes_of: WritesOf) -> Task:
        """Write a task under its coordinator's guardrails; return the written task."""
        backoff = Backoff("others are changing this task", attempts=_ATTEMPTS, longest_wait=0.1)
        while True:
            guarded, guards = self._guardrails.guard(caller.tenant, old, new)
            try:
                self._store.commit([*writes_of(caller, old, guarded), *guards])
                return guarded
            except ConditionFailed as refused:
                old, new = _prepare_retry(caller.tenant, old, new, guards, refused)
                backoff.wait()

    def resume(self, tenant: str, task: Task) -> Task:
        """Finish an interrupted registration or change; return the task."""
        partition = item_types.TASK.build_key(tenant, task=task.id)[0]
        if task.awaits_archive:
            self._archive.resume_at(partition)
        elif task.leaving:
            self._fence_entries(partition)
        return task

    def _finish_archive(self, tenant: str, task: Task) -> Task:
        """Finish archiving the memory of a task that its assignee ended, before it opens again."""
        if not task.awaits_archive:
            return task
        if not self._archive.resume_at(item_types.TASK.build_key(tenant, task=task.id)[0]):
            raise Throttled("the task's memory is being archived; try again")
        return self._store.get_existing(tenant, task.id)

    def _record(self, caller: Principal, action: Action[Any], old: Task | None, new: Task) -> Write:
        """Record a registration, or a change of assignee, coordinator or end."""
        before = None if old is None else _describe(old)
        return self._audit.record(caller, action, f"task:{new.id}", before, _describe(new))


def _build_end(caller: Principal, old: Task | None, new: Task) -> list[Write]:
    if old is None:
        raise ValueError("a task that isn't registered can't end")
    return change_writes(caller, old, new)


def _assert_adoptable(caller: Principal, present: Task) -> None:
    if not is_allowed(caller, ADOPT_TASK, present):
        raise EntryExists(ADOPT_TASK.denied)


def _prepare_retry(
    tenant: str, old: Task | None, new: Task, guards: Sequence[Write], refused: ConditionFailed
) -> tuple[Task | None, Task]:
    """Return the present and the new task for another attempt.

    Guardrails, intent or counters have changed. The next attempt doesn't depend on the counters:
    entries may be written while a task ends.
    """
    key = item_types.TASK.build_key(tenant, task=new.id)
    item = refused.failed.get(key)
    retried = {each.key for each in guards} | {
        item_types.INTENT.build_key(tenant, intent=str(new.intent_id))
    }
    conflicts = refused.failed.keys() - retried
    if old is not None and item is not None:
        present = task_from_item(item)
        if rules.is_same_version(old, present):
            new = replace(rules.with_present_state(new, present), counter_changes=None)
            old = present
            conflicts -= {key}
    if conflicts:
        raise refused
    return old, new


def _describe(task: Task) -> dict[str, Any]:
    return {
        "assigned_agent": task.assigned_agent,
        "coordinator": task.coordinator,
        "status": task.status,
    }
