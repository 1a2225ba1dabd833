"""The tasks that an agent may take: listing, taking and ending them."""

import logging
from collections.abc import Callable
from functools import cached_property
from typing import Any

from agent_memory._sync.client import Client
from agent_memory.exceptions import (
    MemoryAccessError,
    MemoryConflictError,
    MemoryNotFoundError,
    TaskClosedError,
    TaskReassignedError,
    TooLargeError,
    ValidationError,
)
from agent_memory.model import Task

_TAKEN = frozenset({"pending", "ready", "claimed", "running"})
_OPEN = _TAKEN | {"blocked"}
_DONE = frozenset({"completed", "skipped"})
_GONE = (TaskClosedError, TaskReassignedError, MemoryAccessError, MemoryNotFoundError)
_LONGEST_MESSAGE = 1000  # characters

_log = logging.getLogger("agent_memory.worker")


class Assignments:
    """The tasks of the agent whose key the client has."""

    def __init__(self, client: Client, capabilities: frozenset[str]) -> None:
        self._client = client
        self._capabilities = capabilities
        self._done: set[str] = set()  # tasks that others depended on
        self._unseen: set[str] = set()  # tasks that others depend on and this agent can't read

    @cached_property
    def agent_id(self) -> str:
        """Return the agent."""
        return self._client.principals.cached_me().id

    def waiting(self) -> list[Task]:
        """Return the tasks that the agent may take now: started ones first, then the oldest."""
        tasks = self._client.tasks.list_assigned(self.agent_id)
        ready = [task for task in tasks if self._takes(task)]
        return sorted(ready, key=lambda task: (task.status != "running", task.created_at, task.id))

    def take(self, task: Task) -> Task | None:
        """Set a task running; return None if it can no longer be taken.

        Each call makes a new version, so the version identifies who took it last.
        """
        return self._change(task, self._takes, {"status": "running"})

    def present(self, task_id: str) -> Task | None:
        """Return the present task; None if it has ended, or is assigned to another agent."""
        try:
            task = self._client.tasks.get(task_id)
        except (MemoryAccessError, MemoryNotFoundError):
            return None
        return task if self._is_own(task) else None

    def is_as_left(self, task: Task) -> bool:
        """Return True if a task is unchanged: no other process has taken it."""
        present = self.present(task.id)
        return present is not None and present.version == task.version

    def complete(self, task: Task, output: Any) -> bool:
        """Report a result; if it is too large for the service, the task fails.

        Returns:
            Whether the task was still the agent's to report on.
        """
        result = {} if output is None else {"output": output}
        try:
            return self._change(task, self._is_own, {"status": "completed", **result}) is not None
        except (TooLargeError, ValidationError, TypeError, ValueError) as refused:
            return self.fail(task, refused)

    def fail(self, task: Task, error: BaseException) -> bool:
        """Report a failure: the error's type and message, without the traceback.

        Returns:
            Whether the task was still the agent's to report on.
        """
        described = {"type": type(error).__name__, "message": str(error)[:_LONGEST_MESSAGE]}
        return (
            self._change(task, self._is_own, {"status": "failed", "error": described}) is not None
        )

    def _change(
        self, task: Task, still: Callable[[Task], bool], changes: dict[str, Any]
    ) -> Task | None:
        while still(task):
            try:
                return self._client.tasks.update(task.id, version=task.version, **changes)
            except MemoryConflictError:  # others change the task, too
                present = self.present(task.id)
            except _GONE:
                return None
            if present is None:
                return None
            task = present
        return None

    def _is_own(self, task: Task) -> bool:
        return task.assigned_agent == self.agent_id and task.status in _OPEN

    def _takes(self, task: Task) -> bool:
        capable = set(task.capabilities_required or ()) <= self._capabilities
        return capable and task.status in _TAKEN and self._may_start(task)

    def _may_start(self, task: Task) -> bool:
        return all(self._is_done(each) for each in task.depends_on or ())

    def _is_done(self, task_id: str) -> bool:
        if task_id in self._done:
            return True
        try:
            done = self._client.tasks.get(task_id).status in _DONE
        except (MemoryAccessError, MemoryNotFoundError):
            if task_id not in self._unseen:
                self._unseen.add(task_id)
                _log.warning("a task depends on task %s, which this agent can't read", task_id)
            return False
        if done:
            self._done.add(task_id)
        return done
