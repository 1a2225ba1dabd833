"""Run calls in parallel: threads that share one pooled client."""

import contextvars
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import TypeVar

_THREADS = 16
T = TypeVar("T")


class WorkerPool:
    """A bounded number of threads, which start with the first calls.

    Work that may be slow gets its own pool, so that nothing else waits for its threads.
    """

    def __init__(self, name: str, threads: int) -> None:
        self._name = name
        self._threads = threads
        self._thread = threading.local()

    @cached_property
    def _executor(self) -> ThreadPoolExecutor:
        mark = (self._thread, "is_own", True)
        return ThreadPoolExecutor(self._threads, self._name, initializer=setattr, initargs=mark)

    def run(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Run calls, and return their results in order; raise the first error.

        Calls from a thread of the same pool run one after another, since the pool could wait for
        itself. No call is running when this returns or raises: a frozen Lambda function would not
        finish it. Calls have the caller's context variables.
        """
        if len(calls) < 2 or getattr(self._thread, "is_own", False):
            return [call() for call in calls]
        submit = self._executor.submit
        futures = [submit(contextvars.copy_context().run, call) for call in calls]
        try:
            return [future.result() for future in futures]
        finally:
            wait([future for future in futures if not future.cancel()])


run_parallel = WorkerPool("calls", _THREADS).run
"""Run calls in the shared pool."""
