"""Register tasks, and adopt those that an agent registered for itself."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize, is_allowed
from functions.identity.model import Principal
from functions.platform import task_keys
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, EntryExists, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.tasks import changes, rules
from functions.tasks.assignment_store import build_own_tasks_error
from functions.tasks.authority import (
    ADOPT_TASK,
    REGISTER_TASK,
    Adoption,
    Registration,
    authorize_inheritance,
)
from functions.tasks.intent_authority import USE_INTENT
from functions.tasks.intent_store import IntentStore
from functions.tasks.lifecycle_store import registration_writes
from functions.tasks.mapper import task_from_item
from functions.tasks.model import Intent, Task
from functions.tasks.requests import NewTask
from functions.tasks.store import TaskStore
from functions.tasks.writer import TaskWriter, add_to_intent, record_change


@dataclass(eq=False)
class TaskRegistration:
    """Registers the tasks of a caller's tenant.

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
            rules.assert_can_coordinate(self._kind_of(caller.tenant, str(roles[1])))
        task = changes.build_task(new, caller, roles, self._clock(), token)
        task = replace(task, parent_term=rules.choose_parent_term(caller, task, parent))
        try:
            return self._writer.commit(caller, None, task, self._build_registration)
        except ConditionFailed as refused:
            return self._resolve_registration_conflict(caller, new, task, token, refused)

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
            raise ValidationFailed("parent_task_id", "a task isn't its own parent")
        parent = self._store.get(caller.tenant, new.parent_task_id)
        if parent is None:
            raise ValidationFailed("parent_task_id", "no such task")
        return parent

    def _resolve_registration_conflict(
        self,
        caller: Principal,
        new: NewTask,
        task: Task,
        token: RequestToken,
        refused: ConditionFailed,
    ) -> Task:
        """Answer a retry, adopt a task without a coordinator, or say why nothing was done."""
        item = refused.failed.get(task_keys.build_task_key(caller.tenant, task.id))
        if item is not None:
            present = task_from_item(item)
            if token.matches(present.request):
                return self._writer.resume(caller.tenant, present)
            if not is_allowed(caller, ADOPT_TASK, Adoption(present, new.assigned_agent)):
                raise EntryExists(ADOPT_TASK.denied)
            return self._adopt(caller, self._writer.finish_archive(caller.tenant, present), task)
        if task_keys.build_own_tasks_key(caller.tenant, caller.id) in refused.failed:
            raise build_own_tasks_error()
        parent = refused.failed.get(task_keys.build_task_key(caller.tenant, str(task.parent)))
        if parent is not None:
            rules.assert_takes_sub_task(caller, task_from_item(parent))
        raise AccessDenied("the parent has ended, or you are no longer its coordinator or assignee")

    def _adopt(self, caller: Principal, present: Task, wanted: Task) -> Task:
        adopted = changes.adopt_task(present, wanted)
        try:
            return self._writer.save(caller, present, adopted, self._build_registration)
        except ConditionFailed as refused:
            if task_keys.build_task_key(caller.tenant, adopted.id) in refused.failed:
                raise EntryExists(ADOPT_TASK.denied) from refused
            raise AccessDenied("the parent belongs to somebody else") from refused

    def _build_registration(self, caller: Principal, old: Task | None, new: Task) -> list[Write]:
        """Build a registration or adoption, by which the caller names the task's intent.

        Raises:
            AccessDenied: the intent isn't the caller's to use.
        """
        writes = registration_writes(caller, old, new)
        if old is not None:
            writes.append(record_change(self._audit, caller, ADOPT_TASK, old, new))
        if new.intent is not None:
            intent = self._intents.get(caller.tenant, new.intent, caller.id)
            authorize(caller, USE_INTENT, intent)
            owner = _choose_owner(caller, intent)
            writes += add_to_intent(caller.tenant, intent, owner, new.members, new.updated)
        return writes


def _choose_owner(caller: Principal, intent: Intent) -> str | None:
    """Return who owns an intent that the caller names: an agent never does."""
    return intent.owner or (caller.id if caller.may_coordinate else None)
