"""Task events as other systems send them."""

from typing import Any

from functions.platform.validation import Identifier
from functions.tasks.requests import NewTask, TaskChange


class TaskEvent(TaskChange):
    """The `detail` of an event: the task, and the fields of a change (contract §5).

    With an `intent_id`, a task that nobody has registered is registered.
    """

    task_id: Identifier
    intent_id: Identifier | None = None

    @property
    def change(self) -> TaskChange:
        """What changes."""
        return TaskChange.model_validate(self._given(), strict=False)

    @property
    def new_task(self) -> NewTask:
        """The task that is registered, where there is none."""
        given = self._given() | {"id": self.task_id, "intent_id": self.intent_id}
        return NewTask.model_validate(given, strict=False)

    def _given(self) -> dict[str, Any]:
        names = self.model_fields_set - {"task_id", "intent_id"}
        return {name: getattr(self, name) for name in names}
