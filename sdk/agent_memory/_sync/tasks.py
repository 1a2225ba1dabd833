"""`client.tasks`: tasks, and who may read their memory (contract §5)."""

from typing import Any

from agent_memory._sync.resource import Resource, given, joined, made, segment
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import Task

_TASKS = "/api/v1/tasks"
_ATTEMPTS = 10

_List = list[Task]
_Tags = list[str]


class Tasks(Resource):
    """The tasks of the caller's tenant."""

    def create(self, intent_id: str, **fields: Any) -> Task:
        """Registers a task.

        Args:
            fields: `id`, `name`, `assigned_agent`, `coordinator`, `parent_task_id`,
                `memory_policy`, `capabilities_required`, `input` and others of RFC-0012.

        Raises:
            MemoryConflictError: the id is taken.
            MemoryAccessError: the caller may not.
        """
        body = {"intent_id": intent_id, **given(**fields)}
        return made(Task.from_document, self._document("POST", _TASKS, json=body))

    def get(self, task_id: str) -> Task:
        """One task.

        Raises:
            MemoryNotFoundError, MemoryAccessError: as they say.
        """
        return made(Task.from_document, self._document("GET", f"{_TASKS}/{segment(task_id)}"))

    def list(self, intent_id: str, *, status: str | None = None) -> _List:
        """An intent's tasks, newest first."""
        found = self._listed(
            f"/api/v1/intents/{segment(intent_id)}/tasks", None, given(status=status)
        )
        return [made(Task.from_document, document) for document in found]

    def assigned(self, agent_id: str | None = None, *, status: str | None = None) -> _List:
        """The open tasks assigned to an agent (by default, the caller), newest first."""
        agent = agent_id or (self._client.principals.own()).id
        found = self._listed(f"/api/v1/agents/{segment(agent)}/tasks", None, given(status=status))
        return [made(Task.from_document, document) for document in found]

    def update(self, task_id: str, *, version: int, **changes: Any) -> Task:
        """Changes a task that is at this version.

        Raises:
            MemoryConflictError: it is at another version.
            TaskClosedError: it has ended.
        """
        path = f"{_TASKS}/{segment(task_id)}"
        return made(
            Task.from_document, self._document("PATCH", path, json=changes, version=version)
        )

    def complete(self, task_id: str, output: Any = None) -> Task:
        """Ends a task as `completed`: its memory is archived when this returns (RFC-0015 §2.1).

        Raises:
            TaskClosedError: it has ended already.
        """
        return self._end(task_id, given(status="completed", output=output))

    def fail(self, task_id: str, error: Any = None) -> Task:
        """Ends a task as `failed`; otherwise like `complete`."""
        return self._end(task_id, given(status="failed", error=error))

    def grant(
        self, task_id: str, principal: str, access: str = "read", *, expires_at: str | None = None
    ) -> None:
        """Lets a principal `read` or `write` a task's working memory."""
        path = f"{_TASKS}/{segment(task_id)}/grants/{segment(principal)}"
        self._document("PUT", path, json=given(access=access, expires_at=expires_at))

    def revoke(self, task_id: str, principal: str) -> None:
        """Takes a grant back.

        Raises:
            MemoryNotFoundError: there is none.
        """
        path = f"{_TASKS}/{segment(task_id)}/grants/{segment(principal)}"
        self._removed(path)

    def context(
        self,
        task_id: str,
        *,
        episodic_limit: int | None = None,
        tags: _Tags | None = None,
        max_kb: int | None = None,
    ) -> dict[str, Any]:
        """A task's memory, packed for a context window (RFC-0015 §6.3)."""
        asked = given(episodic_limit=episodic_limit, max_kb=max_kb, tags=joined(tags))
        return self._document("GET", f"{_TASKS}/{segment(task_id)}/context", params=asked)

    def _end(self, task_id: str, changes: dict[str, Any]) -> Task:
        for attempt in range(_ATTEMPTS):
            present = self.get(task_id)
            try:
                return self.update(task_id, version=present.version, **changes)
            except MemoryConflictError:  # others change it, too
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")
