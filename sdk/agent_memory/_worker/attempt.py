"""One run of a worker's function on one task, in a separate thread.

The worker's own thread checks the lease and the assignment, and can stop in time.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from agent_memory._worker.lease import Lease, LeaseTaken
from agent_memory.exceptions import TaskLostError


class Hold:
    """The check of each call on `ctx.memory`: may the function continue with its task?"""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._lost = threading.Event()
        self.when_lost: Callable[[], object] = lambda: None

    @property
    def lost(self) -> bool:
        """True if the task is no longer this worker's."""
        return self._lost.is_set()

    def lose(self) -> None:
        """Mark the task as lost, or as left by the worker."""
        self._lost.set()
        self.when_lost()

    def renew(self) -> bool:
        """Renew the lease when it is time; return False if the task is lost."""
        try:
            self._lease.renew()
        except LeaseTaken:
            self.lose()
        return not self.lost

    def release(self) -> None:
        """Release the lease."""
        self._lease.release()

    def check(self) -> None:
        """Return if the function may continue.

        Raises:
            TaskLostError: raised when the task is no longer this worker's.
        """
        try:
            if not self.lost:
                self._lease.assert_held()
        except LeaseTaken:
            self.lose()
        if self.lost:
            raise TaskLostError


class Attempt:
    """Runs `work` in a thread, and calls `finished` from there when it has ended."""

    def __init__(self, work: Callable[[], Any], finished: Callable[[], None]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self.over = False
        self._work = work
        self._finished = finished
        self._thread = threading.Thread(target=self._run, name="agent-memory-task", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait for the end, at most for these seconds."""
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 - whatever ends the function is reported
            self.error = error
        self.over = True
        self._finished()


class Cancellable:
    """An async function's run, which can be cancelled from another thread."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._cancelled = False
        self._cancel: Callable[[], object] = lambda: None

    def __call__(self) -> Any:
        """Run it in a new event loop."""
        return asyncio.run(self._main())

    def cancel(self) -> None:
        """Cancel it, now or as soon as it begins."""
        with self._lock:
            self._cancelled = True
            self._cancel()

    async def _main(self) -> Any:
        task = asyncio.ensure_future(self._work())
        with self._lock:
            loop = asyncio.get_running_loop()
            self._cancel = partial(loop.call_soon_threadsafe, task.cancel)
            if self._cancelled:
                task.cancel()
        try:
            return await task
        finally:
            with self._lock:  # after this, the loop may be closed
                self._cancel = lambda: None
