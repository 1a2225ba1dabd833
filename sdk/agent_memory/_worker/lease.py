"""The lease of a task: two processes with one agent id never run it at once.

The lease is a working entry outside tasks, in the namespace `agent_memory.worker` with the task's
id as its key, which expires unless it is renewed. A create is rejected if the slot is taken, and
succeeds if it has expired, so the service decides who holds the lease.
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
    """Return the seconds of a clock that also runs while the machine sleeps, as leases do."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


class Lease:
    """A lease on a task, held until it is released or expires. Thread-safe.

    Args:
        client: calls as the agent; its timeouts must be well below `seconds`.
        task_id: the task.
        seconds: how long the lease lasts without renewal.
        holder: the id of this process.

    Attributes:
        still_first: after the lease has expired and was taken again: tells whether no other process
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
        """Renew the lease if half of its time has passed.

        Raises:
            LeaseTaken: it expired, and another process took the task.
        """
        self._renew_after(self._seconds / 2)

    def assert_held(self) -> None:
        """Check that the lease is valid now; ask the service only if it may have expired.

        Raises:
            LeaseTaken: it expired, and another process took the task.
        """
        self._renew_after(self._seconds)

    def release(self) -> None:
        """Release the lease, unless it has expired."""
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
        """Recover our own lease if the response to its creation was lost."""
        if taken.current is None or taken.current.value.get("holder") != self._holder:
            raise LeaseTaken(self._task_id) from taken
        self._id, self._version = taken.current.id, taken.current.version
        self._renew()

    def _renew(self) -> None:
        asked = clock()
        try:
            answer = self._patch()
        except MemoryConflictError as changed:  # by this process: no other one knows this id
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
        """Count from the time of the request: the service counts from a later time."""
        self._id, self._version, self._renewed = entry["id"], entry["version"], asked

    @property
    def _ttl(self) -> str:
        return f"duration:PT{self._seconds}S"
