"""`client.tasks`: tasks and grants on their memory."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Unpack

from agent_memory._async.pages import AsyncPages, to_pages
from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import (
    Grant,
    GrantAccess,
    Task,
    TaskChanges,
    TaskContext,
    TaskFields,
    TaskStatus,
)
from agent_memory.page import Page, Paging
from agent_memory.requests import assert_known, drop_none, join_tags, quote_segment, render_time
from agent_memory.responses import parse

_TASKS = "/api/v1/tasks"
_ATTEMPTS = 10


class AsyncTasks(AsyncResource):
    """The tasks of the caller's tenant."""

    async def create(self, intent_id: str = "", **fields: Unpack[TaskFields]) -> Task:
        """Register a task.

            client.tasks.create("invoices", assigned_agent="biller", input={"month": "2026-03"})

        Args:
            intent_id: the intent of the task, such as a project; any name.
            fields: `id`, `name`, `assigned_agent`, `coordinator`, `delegates`, `parent_task_id`,
                `memory_policy`, `capabilities_required`, `input` and others of RFC-0012.

        Raises:
            MemoryConflictError: raised when the id is taken.
            MemoryAccessError: raised when the caller may not register it.
            TypeError: raised when a field is unknown, or no intent is named.
        """
        if not intent_id:
            raise TypeError('name the intent that the task belongs to: tasks.create("invoices")')
        assert_known(fields, TaskFields)
        body = {"intent_id": intent_id, **fields}
        return parse(Task.from_document, await self._call("POST", _TASKS, json=body))

    async def get(self, task_id: str) -> Task:
        """Return one task.

            client.tasks.get("task_1").status

        Raises:
            MemoryNotFoundError: raised when there is no such task.
            MemoryAccessError: raised when the caller may not read the task.
        """
        return parse(
            Task.from_document, await self._call("GET", f"{_TASKS}/{quote_segment(task_id)}")
        )

    def list(
        self, intent_id: str, *, status: TaskStatus | None = None, **paging: Unpack[Paging]
    ) -> AsyncPages[Task]:
        """Return an intent's tasks, newest first.

            for task in client.tasks.list("invoices", status="running"):
                print(task.name, task.assigned_agent)

        Args:
            status: only those with this status.
            paging: `limit`, `page_size`, `after`.
        """
        path = f"/api/v1/intents/{quote_segment(intent_id)}/tasks"
        return self._list(path, None, Task.from_document, paging, drop_none(status=status))

    def list_assigned(
        self,
        agent_id: str | None = None,
        *,
        status: TaskStatus | None = None,
        **paging: Unpack[Paging],
    ) -> AsyncPages[Task]:
        """Return the open tasks assigned to an agent (by default, the caller), newest first.

            client.tasks.list_assigned("biller", limit=1).list()

        Args:
            status: only those with this status.
            paging: `limit`, `page_size`, `after`.
        """
        asked = drop_none(status=status)

        async def fetch(size: int, position: str | None) -> Page[Task]:
            agent = agent_id or (await self._client.principals.cached_me()).id
            path = f"/api/v1/agents/{quote_segment(agent)}/tasks"
            return await self._fetch(path, None, Task.from_document, asked, size, position)

        return to_pages(fetch, paging)

    async def update(self, task_id: str, *, version: int, **changes: Unpack[TaskChanges]) -> Task:
        """Change a task that is at this version.

            client.tasks.update(task.id, version=task.version, assigned_agent="other")

        Args:
            version: the present version.
            changes: `status`, `assigned_agent`, `note`, `coordinator`, `delegates`, `memory_policy`
                and others of RFC-0012. Other fields stay unchanged.

        Raises:
            MemoryConflictError: raised when it has another version.
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

            client.tasks.complete(task.id, {"invoices": 42})

        Raises:
            TaskClosedError: it has ended already.
        """
        ending: TaskChanges = {"status": "completed"}
        return await self._end(task_id, ending if output is None else {**ending, "output": output})

    async def fail(self, task_id: str, error: Any = None) -> Task:
        """End a task as `failed`; otherwise like `complete`.

        client.tasks.fail(task.id, {"reason": "the scan can't be read"})
        """
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

    def list_grants(self, task_id: str, **paging: Unpack[Paging]) -> AsyncPages[Grant]:
        """Return the grants on a task's working memory.

            [each.principal for each in client.tasks.list_grants(task.id)]

        Args:
            paging: `limit`, `page_size`, `after`.

        Raises:
            MemoryAccessError: raised when the caller is neither coordinator nor assignee.
        """
        path = f"{_TASKS}/{quote_segment(task_id)}/grants"
        return self._list(path, "grants", Grant.from_document, paging)

    async def revoke(self, task_id: str, principal: str) -> None:
        """Revoke a grant.

            client.tasks.revoke(task.id, "auditor")

        Raises:
            MemoryNotFoundError: there is none.
        """
        path = f"{_TASKS}/{quote_segment(task_id)}/grants/{quote_segment(principal)}"
        await self._remove(path)

    async def get_context(
        self,
        task_id: str,
        *,
        episodic_limit: int | None = None,
        tags: Iterable[str] | None = None,
        max_kb: int | None = None,
    ) -> TaskContext:
        """Return a task's memory, packed for a context window (RFC-0015 §6.3).

            context = client.tasks.get_context(task.id, episodic_limit=20, max_kb=64)
            context.working, context.episodic, context.semantic

        Args:
            episodic_limit: the maximum number of episodic entries.
            tags: only episodic entries with all of these tags.
            max_kb: the maximum size of all entries together, in units of 1,024 bytes.
        """
        asked = drop_none(episodic_limit=episodic_limit, max_kb=max_kb, tags=join_tags(tags))
        path = f"{_TASKS}/{quote_segment(task_id)}/context"
        return parse(TaskContext.from_document, await self._call("GET", path, params=asked))

    async def _end(self, task_id: str, changes: TaskChanges) -> Task:
        for attempt in range(_ATTEMPTS):
            present = await self.get(task_id)
            try:
                return await self.update(task_id, version=present.version, **changes)
            except MemoryConflictError:  # others change the task, too
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")
