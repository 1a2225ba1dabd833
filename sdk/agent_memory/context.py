"""The argument of a worker's function: its task, memory scoped to it, and a client."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from agent_memory._async.client import AsyncClient
from agent_memory._async.task_memory import AsyncTaskMemory
from agent_memory._sync.client import Client
from agent_memory._sync.task_memory import TaskMemory
from agent_memory.exceptions import TaskLostError
from agent_memory.model import Task


@dataclass(frozen=True, kw_only=True)
class _TaskContext:
    task: Task
    agent_id: str
    is_stop_requested: Callable[[], bool] = field(repr=False)

    @property
    def is_stopping(self) -> bool:
        """True if the worker was asked to stop, and waits for the function to end."""
        return self.is_stop_requested()

    def release_task(self) -> NoReturn:
        """End the function, and leave the task to the next worker.

        Raises:
            TaskLostError: always.
        """
        raise TaskLostError


@dataclass(frozen=True, kw_only=True)
class Context(_TaskContext):
    """`ctx` of a worker's function (RFC-0015 "Worker Context").

    Attributes:
        task: the task, as of when the worker took it.
        agent_id: the agent's ID.
        memory: memory, scoped to the task.
        client: all other calls, as the agent.
    """

    memory: TaskMemory
    client: Client


@dataclass(frozen=True, kw_only=True)
class AsyncContext(_TaskContext):
    """`ctx` of a worker's async function: `Context`, whose `memory` and `client` are awaited."""

    memory: AsyncTaskMemory
    client: AsyncClient
