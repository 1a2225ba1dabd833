"""The start of a worker's function on a task, sync or async."""

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
from agent_memory.conversion import to_async
from agent_memory.model import Task
from agent_memory.task_at_work import TaskAtWork, working_on


class Starter:
    """Starts a function on tasks.

    Args:
        function: of the worker.
        client: for calls of the function.
        shutdown: is woken when the function has ended.
    """

    def __init__(self, function: Callable[[Any], Any], client: Client, shutdown: Shutdown) -> None:
        self._function = function
        self._client = client
        self._shutdown = shutdown

    def __call__(self, task: Task, agent_id: str, hold: Hold) -> Attempt:
        """Start the function.

        Raises:
            TypeError: the function is async, and the client has a sync transport.
        """
        at_work = TaskAtWork(task, agent_id, self._client.settings, hold.check, hold.lose)
        if not inspect.iscoroutinefunction(self._function):
            ctx = self._context(at_work)
            return Attempt(partial(_run, self._function, ctx, at_work), self._shutdown.wake)
        async_ctx = self._async_context(at_work)
        cancellable = Cancellable(partial(_run_async, self._function, async_ctx, at_work))
        hold.when_lost = cancellable.cancel
        return Attempt(cancellable, self._shutdown.wake)

    def _context(self, at_work: TaskAtWork) -> Context:
        return Context(
            task=at_work.task,
            agent_id=at_work.agent_id,
            is_stop_requested=lambda: self._shutdown.is_requested,
            memory=TaskMemory(self._client, at_work),
            client=self._client,
        )

    def _async_context(self, at_work: TaskAtWork) -> AsyncContext:
        client = to_async(self._client)
        return AsyncContext(
            task=at_work.task,
            agent_id=at_work.agent_id,
            is_stop_requested=lambda: self._shutdown.is_requested,
            memory=AsyncTaskMemory(client, at_work),
            client=client,
        )


def _run(function: Callable[[Context], Any], ctx: Context, at_work: TaskAtWork) -> Any:
    with working_on(at_work):
        return function(ctx)


async def _run_async(
    function: Callable[[AsyncContext], Awaitable[Any]], ctx: AsyncContext, at_work: TaskAtWork
) -> Any:
    with working_on(at_work):
        async with ctx.client:
            return await function(ctx)
