"""A task's change, with what its end means for memory (contract §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.entries.archival import Archival
from functions.identity.model import Principal
from functions.platform.idempotency import RequestToken
from functions.tasks.model import Task
from functions.tasks.registrations import Registrations
from functions.tasks.service import Tasks

if TYPE_CHECKING:
    from functions.tasks.requests import NewTask, TaskChange


class Endings:
    """Changes tasks; the call that ends one answers when its memory is archived."""

    def __init__(self, tasks: Tasks, registrations: Registrations, archival: Archival) -> None:
        self._tasks = tasks
        self._registrations = registrations
        self._archival = archival

    def register(self, caller: Principal, new: NewTask, token: RequestToken) -> Task:
        """Registers a task, as `functions.tasks.registrations.Registrations.register` says."""
        return self.finished(caller, self._registrations.register(caller, new, token))

    def change(
        self,
        caller: Principal,
        task_id: str,
        version: int,
        change: TaskChange,
        token: RequestToken,
    ) -> Task:
        """Changes a task, as `functions.tasks.service.Tasks.change` says."""
        return self.finished(caller, self._tasks.change(caller, task_id, version, change, token))

    def finished(self, caller: Principal, task: Task) -> Task:
        """The task; if it has ended, its memory is archived when this returns."""
        if task.ended is not None:
            self._archival.finish(caller.tenant, task.id)
        return task
