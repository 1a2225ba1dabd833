"""`client.tasks`: tasks, and who may read their memory."""

from datetime import datetime
from typing import Any, Unpack

from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import Grant, GrantAccess, Task, TaskChanges, TaskFields, TaskStatus
from agent_memory.requests import assert_known, drop_none, join_tags, quote_segment, render_time
from agent_memory.responses import parse

_TASKS = "/api/v1/tasks"
_ATTEMPTS = 10

_List = list[Task]
_Grants = list[Grant]
_Tags = list[str]


class AsyncTasks(AsyncResource):
    """The tasks of the caller's tenant."""

    async def create(self, intent_id: str, **fields: Unpack[TaskFields]) -> Task:
        """Register a task.

            client.tasks.create("invoices", assigned_agent="biller", input={"month": "2026-03"})

        Args:
            fields: `id`, `name`, `assigned_agent`, `coordinator`, `delegates`, `parent_task_id`,
                `memory_policy`, `capabilities_required`, `input` and others of RFC-0012.

        Raises:
            MemoryConflictError: raised when the id is taken.
            MemoryAccessError: raised when the caller may not register it.
            TypeError: raised when a field is unknown.
        """
        assert_known(fields, TaskFields)
        body = {"intent_id": intent_id, **fields}
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

    async def list(self, intent_id: str, *, status: TaskStatus | None = None) -> _List:
        """Return an intent's tasks, newest first.

        client.tasks.list("invoices", status="running")
        """
        found = self._list(
            f"/api/v1/intents/{quote_segment(intent_id)}/tasks", None, drop_none(status=status)
        )
        return [parse(Task.from_document, document) async for document in found]

    async def assigned(
        self, agent_id: str | None = None, *, status: TaskStatus | None = None
    ) -> _List:
        """Return the open tasks assigned to an agent (by default, the caller), newest first."""
        agent = agent_id or (await self._client.principals.cached_me()).id
        found = self._list(
            f"/api/v1/agents/{quote_segment(agent)}/tasks", None, drop_none(status=status)
        )
        return [parse(Task.from_document, document) async for document in found]

    async def update(self, task_id: str, *, version: int, **changes: Unpack[TaskChanges]) -> Task:
        """Change a task that is at this version.

            client.tasks.update(task.id, version=task.version, assigned_agent="other")

        Args:
            version: the version that must be there.
            changes: `status`, `assigned_agent`, `coordinator`, `delegates`, `memory_policy` and
                others of RFC-0012. What isn't given stays as it is.

        Raises:
            MemoryConflictError: raised when it is at another version.
            TaskClosedError: raised when it has ended.
            TypeError: raised when a field is unknown.
        """
        assert_known(changes, TaskChanges)
        path = f"{_TASKS}/{quote_segment(task_id)}"
        return parse(
            Task.from_document, await self._call("PATCH", path, json=changes, version=version)
        )

    async def complete(self, task_id: str, output: Any = None) -> Task:
        """End a task as `completed`: its memory is archived when this returns (RFC-0015 §2.1).

        Raises:
            TaskClosedError: it has ended already.
        """
        ending: TaskChanges = {"status": "completed"}
        return await self._end(task_id, ending if output is None else {**ending, "output": output})

    async def fail(self, task_id: str, error: Any = None) -> Task:
        """End a task as `failed`; otherwise like `complete`."""
        ending: TaskChanges = {"status": "failed"}
        return await self._end(task_id, ending if error is None else {**ending, "error": error})

    async def grant(
        self,
        task_id: str,
        principal: str,
        access: GrantAccess = "read",
        *,
        expires_at: str | datetime | None = None,
    ) -> None:
        """Let a principal `read` or `write` a task's working memory.

        client.tasks.grant(task.id, "auditor", expires_at=datetime(2027, 1, 1, tzinfo=UTC))
        """
        path = f"{_TASKS}/{quote_segment(task_id)}/grants/{quote_segment(principal)}"
        await self._call(
            "PUT", path, json=drop_none(access=access, expires_at=render_time(expires_at))
        )

    async def grants(self, task_id: str) -> _Grants:
        """Return who may read or write a task's working memory by a grant.

        Raises:
            MemoryAccessError: raised when the caller is neither coordinator nor assignee.
        """
        path = f"{_TASKS}/{quote_segment(task_id)}/grants"
        found = self._list(path, "grants")
        return [parse(Grant.from_document, document) async for document in found]

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

    async def _end(self, task_id: str, changes: TaskChanges) -> Task:
        for attempt in range(_ATTEMPTS):
            present = await self.get(task_id)
            try:
                return await self.update(task_id, version=present.version, **changes)
            except MemoryConflictError:  # others change it, too
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")
