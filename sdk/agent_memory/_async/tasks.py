"""`client.tasks`: tasks, and who may read their memory (contract §5)."""

from typing import Any

from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import Task
from agent_memory.requests import drop_none, join_tags, quote_segment
from agent_memory.responses import parse

_TASKS = "/api/v1/tasks"
_ATTEMPTS = 10

_List = list[Task]
_Tags = list[str]


class AsyncTasks(AsyncResource):
    """The tasks of the caller's tenant."""

    async def create(self, intent_id: str, **fields: Any) -> Task:
        """Register a task.

        Args:
            fields: `id`, `name`, `assigned_agent`, `coordinator`, `parent_task_id`,
                `memory_policy`, `capabilities_required`, `input` and others of RFC-0012.

        Raises:
            MemoryConflictError: the id is taken.
            MemoryAccessError: the caller may not.
        """
        body = {"intent_id": intent_id, **drop_none(**fields)}
        return parse(Task.from_document, await self._call("POST", _TASKS, json=body))

    async def get(self, task_id: str) -> Task:
        """Return one task.

        Raises:
            MemoryNotFoundError: raised when there is no such task.
            MemoryAccessError: raised when the caller may not read the task.
        """
        return parse(
            Task.from_document, await self._call("GET", f"{_TASKS}/{quote_segment(task_id)}")
        )

    async def list(self, intent_id: str, *, status: str | None = None) -> _List:
        """Return an intent's tasks, newest first."""
        found = self._list(
            f"/api/v1/intents/{quote_segment(intent_id)}/tasks", None, drop_none(status=status)
        )
        return [parse(Task.from_document, document) async for document in found]

    async def assigned(self, agent_id: str | None = None, *, status: str | None = None) -> _List:
        """Return the open tasks assigned to an agent (by default, the caller), newest first."""
        agent = agent_id or (await self._client.principals.own()).id
        found = self._list(
            f"/api/v1/agents/{quote_segment(agent)}/tasks", None, drop_none(status=status)
        )
        return [parse(Task.from_document, document) async for document in found]

    async def update(self, task_id: str, *, version: int, **changes: Any) -> Task:
        """Change a task that is at this version.

        Raises:
            MemoryConflictError: it is at another version.
            TaskClosedError: it has ended.
        """
        path = f"{_TASKS}/{quote_segment(task_id)}"
        return parse(
            Task.from_document, await self._call("PATCH", path, json=changes, version=version)
        )

    async def complete(self, task_id: str, output: Any = None) -> Task:
        """End a task as `completed`: its memory is archived when this returns (RFC-0015 §2.1).

        Raises:
            TaskClosedError: it has ended already.
        """
        return await self._end(task_id, drop_none(status="completed", output=output))

    async def fail(self, task_id: str, error: Any = None) -> Task:
        """End a task as `failed`; otherwise like `complete`."""
        return await self._end(task_id, drop_none(status="failed", error=error))

    async def grant(
        self, task_id: str, principal: str, access: str = "read", *, expires_at: str | None = None
    ) -> None:
        """Let a principal `read` or `write` a task's working memory."""
        path = f"{_TASKS}/{quote_segment(task_id)}/grants/{quote_segment(principal)}"
        await self._call("PUT", path, json=drop_none(access=access, expires_at=expires_at))

    async def revoke(self, task_id: str, principal: str) -> None:
        """Take a grant back.

        Raises:
            MemoryNotFoundError: there is none.
        """
        path = f"{_TASKS}/{quote_segment(task_id)}/grants/{quote_segment(principal)}"
        await self._remove(path)

    async def context(
        self,
        task_id: str,
        *,
        episodic_limit: int | None = None,
        tags: _Tags | None = None,
        max_kb: int | None = None,
    ) -> dict[str, Any]:
        """Return a task's memory, packed for a context window (RFC-0015 §6.3)."""
        asked = drop_none(episodic_limit=episodic_limit, max_kb=max_kb, tags=join_tags(tags))
        return await self._call("GET", f"{_TASKS}/{quote_segment(task_id)}/context", params=asked)

    async def _end(self, task_id: str, changes: dict[str, Any]) -> Task:
        for attempt in range(_ATTEMPTS):
            present = await self.get(task_id)
            try:
                return await self.update(task_id, version=present.version, **changes)
            except MemoryConflictError:  # others change it, too
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")
