"""Task events as EventBridge delivers them, and their content as other systems write it."""

from typing import Any, NamedTuple

from functions.platform.errors import ValidationFailed
from functions.platform.validation import Identifier
from functions.tasks.requests import NewTask, TaskChange


class EventEnvelope(NamedTuple):
    """Tells what EventBridge says of an event: its source, its id there, and its content."""

    source: str
    id: str
    detail: Any


def parse_envelope(event: Any) -> EventEnvelope:
    """Parse an EventBridge event."""
    fields = event if isinstance(event, dict) else {}
    source, id = fields.get("source"), fields.get("id")
    if not (isinstance(source, str) and isinstance(id, str) and "detail" in fields):
        raise ValidationFailed("event", "must be an EventBridge event with source, id and detail")
    return EventEnvelope(source, id, fields["detail"])


class TaskEvent(TaskChange):
    """The `detail` of an event: the task, and the fields of a change.

    With an `intent_id`, an unknown task is registered.
    """

    task_id: Identifier
    intent_id: Identifier | None = None

    @property
    def change(self) -> TaskChange:
        """The change of a task that exists."""
        return TaskChange.model_validate(self._given(), strict=False)

    @property
    def new_task(self) -> NewTask:
        """The task to be registered where there is none."""
        given = self._given() | {"id": self.task_id, "intent_id": self.intent_id}
        return NewTask.model_validate(given, strict=False)

    def _given(self) -> dict[str, Any]:
        names = self.model_fields_set - {"task_id", "intent_id"}
        return {name: getattr(self, name) for name in names}
