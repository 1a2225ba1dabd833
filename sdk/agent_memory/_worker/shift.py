"""One call of `Worker.run`: takes tasks, one after another, until it is told to stop."""

import logging
import secrets
from functools import partial

from agent_memory._sync.client import Client
from agent_memory._worker.assignments import Assignments
from agent_memory._worker.attempt import Hold
from agent_memory._worker.lease import Lease, LeaseTaken, clock
from agent_memory._worker.stop import Stop
from agent_memory._worker.terms import Terms
from agent_memory._worker.turn import TROUBLE, Start, Turn
from agent_memory.model import Task

_LONGEST_PAUSE = 30.0  # seconds between tries while the service is out of reach

_log = logging.getLogger("agent_memory.worker")


class Shift:
    """Takes tasks until there are none, enough, or it is told to stop.

    Args:
        client: calls as the agent; its timeouts must be well below the lease.
        assignments: the agent's tasks.
        terms: how it works.
        start: starts the function on a task.
    """

    def __init__(
        self, client: Client, assignments: Assignments, terms: Terms, stop: Stop, start: Start
    ) -> None:
        self._client = client
        self._assignments = assignments
        self._terms = terms
        self._stop = stop
        self._start = start
        self._holder = secrets.token_hex(8)
        self._not_before: dict[str, float] = {}  # tasks that are let alone for a while
        self._pause = terms.poll

    def work(self) -> int:
        """Takes tasks and has the function run on them; how many it took."""
        taken = 0
        while not self._stop.asked and taken != self._terms.max_tasks:
            turn = self._next_turn()
            if turn is not None:
                turn.run()
                self._not_before[turn.task.id] = clock() + self._terms.lease
                taken += 1
            elif self._terms.once:
                break
            else:
                self._stop.sleep(self._pause)
        return taken

    def _next_turn(self) -> Turn | None:
        try:
            turn = self._take_first()
        except TROUBLE as error:
            if self._terms.once:
                raise
            _log.warning("can't take tasks now: %s", error)
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
            return None
        self._pause = self._terms.poll
        return turn

    def _take_first(self) -> Turn | None:
        for task in self._assignments.waiting():
            if clock() >= self._not_before.get(task.id, 0.0):
                turn = self._take(task)
                if turn is not None:
                    return turn
        return None

    def _take(self, task: Task) -> Turn | None:
        lease = Lease(self._client, task.id, self._terms.lease, self._holder)
        try:
            lease.take()
        except LeaseTaken:
            self._not_before[task.id] = clock() + self._terms.lease / 3
            return None
        taken = self._assignments.take(task)
        if taken is None:
            lease.release()
            return None
        lease.still_first = partial(self._assignments.is_as_left, taken)
        return Turn(taken, Hold(lease), self._assignments, self._terms, self._stop, self._start)
