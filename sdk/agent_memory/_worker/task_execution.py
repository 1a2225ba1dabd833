"""One execution of a task: from the start of the worker's function to the report."""

import logging
from collections.abc import Callable

from agent_memory._worker.assignments import Assignments
from agent_memory._worker.attempt import Attempt, Hold
from agent_memory._worker.options import WorkerOptions
from agent_memory._worker.shutdown import Shutdown
from agent_memory.exceptions import (
    ConnectionFailedError,
    InvalidAnswerError,
    ServiceUnavailableError,
    TaskLostError,
    ThrottledError,
)
from agent_memory.model import Task

TROUBLE = (ConnectionFailedError, InvalidAnswerError, ServiceUnavailableError, ThrottledError)
"""Transient errors, which neither fail a task nor end a worker."""

Start = Callable[[Task, str, Hold], Attempt]
"""Starts the function on a task, as an agent."""

_UNWINDING = 1.0  # seconds for a function to leave its task at the end of the grace period

_log = logging.getLogger("agent_memory.worker")


class TaskExecution:
    """Runs the function on one task, and keeps the lease until it ends.

    Args:
        task: as the worker took it.
        hold: the worker's hold on it.
        assignments: the agent's tasks.
        options: how the worker works.
        shutdown: says that it is to stop.
        start: starts the function.
    """

    def __init__(
        self,
        task: Task,
        hold: Hold,
        assignments: Assignments,
        options: WorkerOptions,
        shutdown: Shutdown,
        start: Start,
    ) -> None:
        self.task = task
        self._hold = hold
        self._assignments = assignments
        self._options = options
        self._shutdown = shutdown
        self._start = start

    def run(self) -> None:
        """Run the function, and report its result unless the task is lost."""
        _log.info("task %s: taken", self.task.id)
        try:
            attempt = self._start(self.task, self._assignments.agent_id, self._hold)
            self._wait_for_end(attempt)
            if attempt.over:
                self._conclude(attempt)
        finally:
            self._hold.lose()

    @property
    def _remaining(self) -> float:
        return self._shutdown.remaining(self._options.grace)

    def _wait_for_end(self, attempt: Attempt) -> None:
        """Renew the lease and check the assignment until the function or the grace period ends."""
        while not attempt.over and self._remaining > 0:
            self._shutdown.sleep(min(self._options.interval, self._remaining))
            if not attempt.over:
                self._check_ownership()
        if not attempt.over:
            self._hold.lose()
            attempt.join(_UNWINDING)

    def _check_ownership(self) -> None:
        try:
            if not (self._hold.renew() and self._assignments.present(self.task.id)):
                self._hold.lose()
        except TROUBLE as error:
            _log.warning("task %s: %s", self.task.id, error)

    def _conclude(self, attempt: Attempt) -> None:
        if isinstance(attempt.error, TROUBLE):
            _log.warning("task %s: retried later: %s", self.task.id, attempt.error)
        elif self._hold.lost or isinstance(attempt.error, TaskLostError):
            _log.info("task %s: unchanged", self.task.id)
        else:
            self._report(attempt)
        try:
            self._hold.release()
        except TROUBLE as error:
            _log.warning("task %s: its lease will expire: %s", self.task.id, error)

    def _report(self, attempt: Attempt) -> None:
        """Report as soon as the service accepts it, unless the task is lost or time has run out."""
        while True:
            try:
                self._hold.check()
                self._report_end(attempt)
            except TaskLostError:
                _log.info(
                    "task %s: taken by another worker before its end was reported", self.task.id
                )
            except TROUBLE as error:
                _log.warning("task %s: its end isn't reported yet: %s", self.task.id, error)
                if self._remaining > 0:
                    self._shutdown.sleep(self._options.interval)
                    continue
            return

    def _report_end(self, attempt: Attempt) -> None:
        if attempt.error is None:
            is_reported = self._assignments.complete(self.task, attempt.result)
        else:
            _log.error("task %s: failed", self.task.id, exc_info=attempt.error)
            is_reported = self._assignments.fail(self.task, attempt.error)
        _log.info("task %s: %s", self.task.id, "reported" if is_reported else "ended by others")
