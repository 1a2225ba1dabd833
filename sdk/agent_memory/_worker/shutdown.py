"""Waits and stops of a worker."""

from queue import Empty, SimpleQueue

from agent_memory._worker.lease import clock


class Shutdown:
    """The request to stop a worker, and its time.

    Signal handlers may call `request` during a `sleep` of the same thread: a `SimpleQueue` allows
    that, an `Event` would deadlock.
    """

    def __init__(self) -> None:
        self._since: float | None = None
        self._wakes: SimpleQueue[None] = SimpleQueue()

    @property
    def is_requested(self) -> bool:
        """True if the worker was asked to stop."""
        return self._since is not None

    def request(self) -> None:
        """Tell the worker to stop, and wake it."""
        self._since = self._since or clock()
        self.wake()

    def remaining(self, grace: float) -> float:
        """Return the remaining seconds of grace."""
        return grace if self._since is None else max(0.0, self._since + grace - clock())

    def wake(self) -> None:
        """End a `sleep`, or the next one."""
        self._wakes.put(None)

    def sleep(self, seconds: float) -> None:
        """Wait for these seconds, or until `wake` is called."""
        try:
            self._wakes.get(timeout=seconds)
        except Empty:
            return
