"""The lease by which two processes with one agent id never run one task at once.

It is an own working entry outside of any task, in the namespace `agent_memory.worker` under the
task's id, that expires unless it is renewed. A create on a taken slot is refused and one on an
expired slot is not, so the service decides who holds it.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from agent_memory._sync.client import Client
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError

NAMESPACE = "agent_memory.worker"
_MEMORY = "/api/v1/memory"


class LeaseTaken(Exception):
    """Another process of this agent holds the lease."""


def clock() -> float:
    """Return a clock's seconds, which pass while the machine sleeps, too, as a lease's do."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


class Lease:
    """A lease on a task, held until it is released or its time is over. Thread-safe.

    Args:
        client: calls as the agent; its timeouts must be well below `seconds`.
        task_id: the task.
        seconds: how long the lease lasts without renewal.
        holder: names this process among all others of the agent.

    Attributes:
        still_first: tells, after the lease has expired and was taken again, that no other process
            has taken the task.
    """

    def __init__(self, client: Client, task_id: str, seconds: int, holder: str) -> None:
        self.still_first: Callable[[], bool] = lambda: False
        self._client = client
        self._task_id = task_id
        self._seconds = seconds
        self._holder = holder
        self._lock = threading.Lock()
        self._id = ""
        self._version = 0
        self._renewed = 0.0

    def take(self) -> None:
        """Take the lease.

        Raises:
            LeaseTaken: another process holds it.
        """
        with self._lock:
            self._create()

    def renew(self) -> None:
        """Renew the lease if half of its time is over.

        Raises:
            LeaseTaken: it ran out, and another process took the task.
        """
        self._renew_after(self._seconds / 2)

    def assert_held(self) -> None:
        """Make sure that the lease is valid now; ask the service only if it may have run out.

        Raises:
            LeaseTaken: it ran out, and another process took the task.
        """
        self._renew_after(self._seconds)

    def release(self) -> None:
        """Give the lease back, unless it has run out."""
        with self._lock:
            try:
                self._client.request("DELETE", f"{_MEMORY}/{self._id}")
            except MemoryNotFoundError:
                return

    def _renew_after(self, seconds: float) -> None:
        with self._lock:
            if clock() < self._renewed + seconds:
                return
            try:
                self._renew()
            except MemoryNotFoundError:  # it ran out
                self._create()
                if not self.still_first():
                    raise LeaseTaken(self._task_id) from None

    def _create(self) -> None:
        body = {
            "namespace": NAMESPACE,
            "key": self._task_id,
            "memory_type": "working",
            "value": {"holder": self._holder},
            "ttl": self._ttl,
        }
        asked = clock()
        try:
            self._holds(self._client.request("POST", _MEMORY, json=body).json(), asked)
        except MemoryConflictError as taken:
            self._recover(taken)

    def _recover(self, taken: MemoryConflictError) -> None:
        """Take up a lease of our own whose answer was lost."""
        if taken.current is None or taken.current.value.get("holder") != self._holder:
            raise LeaseTaken(self._task_id) from taken
        self._id, self._version = taken.current.id, taken.current.version
        self._renew()

    def _renew(self) -> None:
        asked = clock()
        try:
            answer = self._patch()
        except MemoryConflictError as changed:  # by ourselves: no other process knows this id
            self._version = changed.current_version or 0
            answer = self._patch()
        self._holds(answer, asked)

    def _patch(self) -> dict[str, Any]:
        version = {"If-Match": str(self._version)}
        body = {"ttl": self._ttl}
        answer: dict[str, Any] = self._client.request(
            "PATCH", f"{_MEMORY}/{self._id}", json=body, headers=version
        ).json()
        return answer

    def _holds(self, entry: dict[str, Any], asked: float) -> None:
        """Count from when it was asked for: the service counts from a moment later."""
        self._id, self._version, self._renewed = entry["id"], entry["version"], asked

    @property
    def _ttl(self) -> str:
        return f"duration:PT{self._seconds}S"
