"""Apply task events of other systems with the permissions of one principal.

An event is delivered at least once and in any order. It has no version, so the task is read, and
read again after a conflict. An event is applied completely or not at all.
"""

from dataclasses import dataclass, replace
from typing import Any

from functions.identity.model import WRITE, Principal
from functions.identity.store import PrincipalStore
from functions.platform.clock import Clock
from functions.platform.errors import (
    AccessDenied,
    EntryExists,
    NotFound,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.retry import retry_on
from functions.platform.validation import Identifier, validate
from functions.tasks.access import TaskReader
from functions.tasks.model import Task
from functions.tasks.requests import NewTask, TaskChange
from functions.tasks.rules import apply_change
from functions.tasks.service import Tasks
from functions.tasks.store import ProcessedEvents


class TaskEvent(TaskChange):
    """The `detail` of an event: the task, and the fields of a change.

    With an `intent_id`, an unknown task is registered.
    """

    task_id: Identifier
    intent_id: Identifier | None = None

    @property
    def change(self) -> TaskChange:
        """The change of an existing task."""
        return TaskChange.model_validate(self._given(), strict=False)

    @property
    def new_task(self) -> NewTask:
        """The task to register if it does not exist."""
        given = self._given() | {"id": self.task_id, "intent_id": self.intent_id}
        return NewTask.model_validate(given, strict=False)

    def _given(self) -> dict[str, Any]:
        names = self.model_fields_set - {"task_id", "intent_id"}
        return {name: getattr(self, name) for name in names}


@dataclass(eq=False)
class TaskEventIngester:
    """Applies events with the permissions of one principal, given as tenant and id."""

    _processed: ProcessedEvents
    _principals: PrincipalStore
    _reader: TaskReader
    _tasks: Tasks
    _principal: tuple[str, str]
    _clock: Clock

    def ingest(self, delivered: Any) -> Task | None:
        """Apply an event of EventBridge once.

        Return the changed task; None if the event was applied before.
        """
        fields = delivered if isinstance(delivered, dict) else {}
        source, id = fields.get("source"), fields.get("id")
        if not (isinstance(source, str) and isinstance(id, str) and "detail" in fields):
            problem = "must be an EventBridge event with source, id and detail"
            raise ValidationFailed("event", problem)
        event = validate(TaskEvent, fields["detail"], "detail")
        caller = self._get_principal()
        if self._processed.contains(caller.tenant, source, id):
            return None
        token = RequestToken.from_event(source, id)
        task = self._apply(caller, event, token)
        self._processed.add(caller.tenant, source, id)
        return task

    def _get_principal(self) -> Principal:
        found = self._principals.get(*self._principal)
        if found is None:
            raise AccessDenied(
                "the principal of task events does not exist; its operator can create it"
            )
        caller = found.principal
        is_expired = caller.expires_at is not None and caller.expires_at <= self._clock()
        if is_expired or not caller.may_coordinate or WRITE not in caller.permissions:
            raise AccessDenied("the principal of task events may not coordinate")
        return caller

    @retry_on((VersionMismatch, EntryExists), "others are changing this task")
    def _apply(self, caller: Principal, event: TaskEvent, token: RequestToken) -> Task:
        try:
            current = self._reader.get(caller, event.task_id)
        except NotFound:
            if event.intent_id is None:
                raise
            return self._tasks.register(caller, event.new_task, token)
        if _is_applied(current, event.change, token):
            return self._tasks.resume(caller.tenant, current)
        return self._tasks.change(caller, current.id, current.version, event.change, token)


def _is_applied(task: Task, change: TaskChange, token: RequestToken) -> bool:
    after = apply_change(task, change, task.updated_at, token)
    return (
        replace(after, version=task.version, request=task.request, completed_at=task.completed_at)
        == task
    )
