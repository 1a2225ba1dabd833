"""The task of a worker's function, for its calls on memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from agent_memory.exceptions import TaskLostError, TaskReassignedError
from agent_memory.model import Entry, Task
from agent_memory.settings import Settings

Slot = tuple[str, str]


@dataclass(frozen=True, eq=False)
class TaskAtWork:
    """A task, its worker's hold on it, and the versions seen of the agent's own entries.

    Attributes:
        task: as of when the worker took it.
        agent_id: the agent.
        settings: of the worker's client.
        check: raises `TaskLostError` if this worker no longer has the task.
        lose: marks the task as lost.
        own: the agent's entries of the task, as last seen.
        written: the entries that this worker wrote.
    """

    task: Task
    agent_id: str
    settings: Settings = field(repr=False)
    check: Callable[[], None]
    lose: Callable[[], None]
    own: dict[Slot, Entry] = field(default_factory=dict, repr=False)
    written: set[Slot] = field(default_factory=set, repr=False)

    @property
    def inherited_task_id(self) -> str | None:
        """The parent task whose memory this one inherits, if it does."""
        inherits = self.task.memory_policy.inherit_from_parent
        return self.task.parent_task_id if inherits else None

    def is_of(self, settings: Settings) -> bool:
        """Return whether a client with these settings calls as this worker's agent."""
        own = self.settings
        return (own.server_url, own.api_key) == (settings.server_url, settings.api_key)

    @contextmanager
    def losing_when_reassigned(self) -> Iterator[None]:
        """Stop the function as soon as the service reports that the task is another agent's.

        Raises:
            TaskLostError: raised when the service reports it.
        """
        try:
            yield
        except TaskReassignedError as reassigned:
            self.lose()
            raise TaskLostError from reassigned


_at_work: ContextVar[TaskAtWork | None] = ContextVar("agent_memory_task_at_work", default=None)


def find_task_at_work(settings: Settings) -> TaskAtWork | None:
    """Return the task that a call of this client belongs to, if a worker's function makes it."""
    at_work = _at_work.get()
    return at_work if at_work is not None and at_work.is_of(settings) else None


@contextmanager
def working_on(at_work: TaskAtWork | None) -> Iterator[None]:
    """Assign calls without a scope to a task, or to none, in this thread or async task."""
    token = _at_work.set(at_work)
    try:
        yield
    finally:
        _at_work.reset(token)
