"""How a worker's function is started on a task, be it sync or async."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from agent_memory._async.task_memory import AsyncTaskMemory
from agent_memory._sync.client import Client
from agent_memory._sync.task_memory import TaskMemory
from agent_memory._worker.attempt import Attempt, Cancellable, Hold
from agent_memory._worker.shutdown import Shutdown
from agent_memory.context import AsyncContext, Context
from agent_memory.model import Task
from agent_memory.to_async import to_async


class Starter:
    """Starts a function on tasks.

    Args:
        function: the worker's.
        client: what the function calls the service with.
        shutdown: is woken when the function is over.
    """

    def __init__(self, function: Callable[[Any], Any], client: Client, shutdown: Shutdown) -> None:
        self._function = function
        self._client = client
        self._shutdown = shutdown

    def __call__(self, task: Task, agent_id: str, hold: Hold) -> Attempt:
        """Start the function.

        Raises:
            TypeError: it is async, and the client has a transport that can only be sync.
        """
        if not inspect.iscoroutinefunction(self._function):
            ctx = self._context(task, agent_id, hold)
            return Attempt(partial(self._function, ctx), self._shutdown.wake)
        async_ctx = self._async_context(task, agent_id, hold)
        cancellable = Cancellable(partial(_run, self._function, async_ctx))
        hold.when_lost = cancellable.cancel
        return Attempt(cancellable, self._shutdown.wake)

    def _context(self, task: Task, agent_id: str, hold: Hold) -> Context:
        return Context(
            task=task,
            agent_id=agent_id,
            is_stop_requested=lambda: self._shutdown.is_requested,
            memory=TaskMemory(self._client, task.id, agent_id, hold.check),
            client=self._client,
        )

    def _async_context(self, task: Task, agent_id: str, hold: Hold) -> AsyncContext:
        client = to_async(self._client)
        check = partial(asyncio.to_thread, hold.check)
        return AsyncContext(
            task=task,
            agent_id=agent_id,
            is_stop_requested=lambda: self._shutdown.is_requested,
            memory=AsyncTaskMemory(client, task.id, agent_id, check),
            client=client,
        )


async def _run(function: Callable[[AsyncContext], Awaitable[Any]], ctx: AsyncContext) -> Any:
    async with ctx.client:
        return await function(ctx)
