"""One call of `Worker.run`: takes tasks one by one until it is stopped."""

import logging
import secrets
from functools import partial

from agent_memory._sync.client import Client
from agent_memory._worker.assignments import Assignments
from agent_memory._worker.attempt import Hold
from agent_memory._worker.lease import Lease, LeaseTaken, clock
from agent_memory._worker.options import WorkerOptions
from agent_memory._worker.shutdown import Shutdown
from agent_memory._worker.task_execution import TROUBLE, Start, TaskExecution
from agent_memory.model import Task

_LONGEST_PAUSE = 30.0  # seconds between attempts while the service can't be reached

_log = logging.getLogger("agent_memory.worker")


class RunLoop:
    """Takes tasks until none are left, `max_tasks` are done, or it is stopped.

    Args:
        client: calls as the agent; its timeouts must be well below the lease.
        assignments: the agent's tasks.
        options: how it works.
        start: starts the function on a task.
    """

    def __init__(
        self,
        client: Client,
        assignments: Assignments,
        options: WorkerOptions,
        shutdown: Shutdown,
        start: Start,
    ) -> None:
        self._client = client
        self._assignments = assignments
        self._options = options
        self._shutdown = shutdown
        self._start = start
        self._holder = secrets.token_hex(8)
        self._not_before: dict[str, float] = {}  # tasks that are skipped for a while
        self._pause = options.poll

    def work(self) -> int:
        """Take tasks and run the function on them; return the number of tasks."""
        taken = 0
        while not self._shutdown.is_requested and taken != self._options.max_tasks:
            execution = self._next_execution()
            if execution is not None:
                execution.run()
                self._not_before[execution.task.id] = clock() + self._options.lease
                taken += 1
            elif self._options.once:
                break
            else:
                self._shutdown.sleep(self._pause)
        return taken

    def _next_execution(self) -> TaskExecution | None:
        try:
            execution = self._take_first()
        except TROUBLE as error:
            if self._options.once:
                raise
            _log.warning("can't take tasks now: %s", error)
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
            return None
        self._pause = self._options.poll
        return execution

    def _take_first(self) -> TaskExecution | None:
        for task in self._assignments.waiting():
            if clock() >= self._not_before.get(task.id, 0.0):
                execution = self._take(task)
                if execution is not None:
                    return execution
        return None

    def _take(self, task: Task) -> TaskExecution | None:
        lease = Lease(self._client, task.id, self._options.lease, self._holder)
        try:
            lease.take()
        except LeaseTaken:
            self._not_before[task.id] = clock() + self._options.lease / 3
            return None
        taken = self._assignments.take(task)
        if taken is None:
            lease.release()
            return None
        lease.still_first = partial(self._assignments.is_as_left, taken)
        return TaskExecution(
            taken, Hold(lease), self._assignments, self._options, self._shutdown, self._start
        )
