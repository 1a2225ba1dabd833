"""Register tasks, hand them over, end them, report results (RFC-0015 §6.5, §8)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize, is_allowed
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, EntryExists, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.retry import retry_on
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
from functions.tasks.intent_store import IntentStore, unlist_under_intent
from functions.tasks.lifecycle_store import (
    build_own_tasks_error,
    change_writes,
    registration_writes,
)
from functions.tasks.mapper import task_from_item
from functions.tasks.model import Task
from functions.tasks.requests import NewTask, TaskChange
from functions.tasks.store import TaskStore
from functions.tasks.writer import TaskWriter, add_to_intent, record_change


@dataclass(eq=False)
class Tasks:
    """Registers and changes the tasks of a caller's tenant.

    Args:
        kind_of: gives a principal's kind by tenant and id; None if there is no such principal.
    """

    _store: TaskStore
    _intents: IntentStore
    _writer: TaskWriter
    _kind_of: Callable[[str, str], str | None]
    _audit: AuditTrail
    _clock: Clock

    def register(self, caller: Principal, new: NewTask, token: RequestToken) -> Task:
        """Register a task, or adopt or take over one of agents.

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
            rules.assert_can_coordinate(self._kind_of(caller.tenant, str(roles[1])))
        task = rules.build_task(new, caller, roles, self._clock(), token)
        task = replace(task, parent_term=rules.choose_parent_term(caller, task, parent))
        try:
            return self._writer.commit(caller, None, task, self._build_registration)
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
            raise ValidationFailed("parent_task_id", "no such task")
        return parent

    def _resolve_registration_conflict(
        self, caller: Principal, task: Task, token: RequestToken, refused: ConditionFailed
    ) -> Task:
        """Answer a retry, adopt a task without a coordinator, or say why nothing was done."""
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

        For another assignee, or from another coordinator, the id is taken over, once the memory
        has been archived.
        """
        present = self._store.get_existing(caller.tenant, wanted.id)
        if token.matches(present.request):
            return self._writer.resume(caller.tenant, present)
        _assert_adoptable(caller, present)
        if present.completed_at is None and not rules.keeps_memory(present, wanted):
            ended = rules.end_before_take_over(present, self._clock())
            present = self._writer.save(caller, present, ended, _build_end)
        present = self._writer.finish_archive(caller.tenant, present)
        _assert_adoptable(caller, present)
        adopted = rules.adopt_task(present, wanted)
        try:
            return self._writer.save(caller, present, adopted, self._build_registration)
        except ConditionFailed as refused:
            if item_types.TASK.build_key(caller.tenant, task=adopted.id) in refused.failed:
                raise
            raise AccessDenied("the parent belongs to another principal") from refused

    def _build_registration(self, caller: Principal, old: Task | None, new: Task) -> list[Write]:
        """Build a registration or adoption, by which the caller names the task's intent."""
        writes = registration_writes(caller, old, new)
        if old is not None:
            writes.append(record_change(self._audit, caller, ADOPT_TASK, old, new))
        elif new.assigned_agent not in (None, caller.id):
            writes.append(record_change(self._audit, caller, REGISTER_TASK, None, new))
        if new.intent_id is not None:
            intent = self._intents.get(caller.tenant, new.intent_id, caller.id)
            authorize(caller, USE_INTENT, intent)
            owner = intent.owner or (caller.id if caller.may_coordinate else None)
            writes += add_to_intent(caller.tenant, intent, owner, new.members, new.updated_at)
        return writes

    def change(
        self, caller: Principal, task_id: str, version: int, change: TaskChange, token: RequestToken
    ) -> Task:
        """Change a task; one that ends has its memory archived when this returns.

        Raises:
            NotFound: no task of the caller's tenant has this id.
            AccessDenied: a field isn't the caller's to change.
            TaskClosed: the task has ended.
            VersionMismatch: it is at another version.
            ValidationFailed: the change names another task, or no coordinator.
        """
        if change.task_id not in (None, task_id):
            raise ValidationFailed("task_id", "must be the id in the path")
        present = self._store.get_existing(caller.tenant, task_id)
        is_repeated = token.matches(present.request)
        self._authorize_change(caller, present, change, is_repeated=is_repeated)
        if is_repeated:
            return self._writer.resume(caller.tenant, present)
        rules.assert_version(present, version)
        rules.assert_open(present)
        if "coordinator" in change.model_fields_set:
            self._assert_coordinator(caller.tenant, change.coordinator)
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
            return self._writer.save(caller, present, new, self._build_change)
        except ConditionFailed as refused:
            return self._resolve_change_conflict(caller.tenant, present, token, refused)

    def _authorize_change(
        self, caller: Principal, task: Task, change: TaskChange, *, is_repeated: bool
    ) -> None:
        """Check who changes what; a former assignee learns that it was one.

        A repeated request may be the one by which the caller left the task.
        """
        fields = change.changed_fields
        target = TaskTarget(
            task, self._clock(), fields=fields, status=change.status, assignee=change.assigned_agent
        )
        if not is_allowed(caller, CHANGE_TASK, target):
            member = self._store.get_membership(caller.tenant, task.id, caller.id)
            if is_repeated and has_left(caller, target, member):
                return
            authorize_write(caller, CHANGE_TASK, target._replace(member=member))

    def _assert_coordinator(self, tenant: str, coordinator: str | None) -> None:
        if coordinator is None:
            raise ValidationFailed("coordinator", "can't be null")
        rules.assert_can_coordinate(self._kind_of(tenant, coordinator))

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
            return self._writer.resume(tenant, present)
        rules.assert_open(present)
        raise rules.version_mismatch(present) from refused

    def _build_change(self, caller: Principal, old: Task | None, new: Task) -> list[Write]:
        """Build a change; who newly takes part in the task takes part in its intent."""
        if old is None:
            raise ValueError("a task that isn't registered can't be changed")
        writes = change_writes(caller, old, new)
        if _differs_in_authority(old, new):
            writes.append(record_change(self._audit, caller, CHANGE_TASK, old, new))
        joining = new.members - old.members
        if new.intent_id is not None and joining:
            intent = self._intents.get(caller.tenant, new.intent_id, caller.id)
            writes += add_to_intent(caller.tenant, intent, intent.owner, joining, new.updated_at)
        return writes


def _differs_in_authority(old: Task, new: Task) -> bool:
    """Tell whether assignee, coordinator or end differ."""
    is_handed_on = (old.assigned_agent, old.coordinator) != (new.assigned_agent, new.coordinator)
    return is_handed_on or new.completed_at is not None


def _build_end(caller: Principal, old: Task | None, new: Task) -> list[Write]:
    if old is None:
        raise ValueError("a task that isn't registered can't end")
    writes = change_writes(caller, old, new)
    if old.intent_id is not None:
        writes.append(unlist_under_intent(caller.tenant, old.id, old.intent_id))
    return writes


def _assert_adoptable(caller: Principal, present: Task) -> None:
    if not is_allowed(caller, ADOPT_TASK, present):
        raise EntryExists(ADOPT_TASK.denied)
