"""Run calls in parallel: threads that share one pooled client."""

import contextvars
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

_THREADS = 16
T = TypeVar("T")
_thread = threading.local()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        _THREADS, "calls", initializer=lambda: setattr(_thread, "of_pool", True)
    )


def run_parallel(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Run calls, and return their results in order; raise the first error.

    Nested calls run one after another, since the pool could wait for itself. No call is running
    when this returns or raises: a frozen Lambda function would leave it unfinished. Calls have the
    caller's context variables.
    """
    if len(calls) < 2 or getattr(_thread, "of_pool", False):
        return [call() for call in calls]
    futures = [_pool().submit(contextvars.copy_context().run, call) for call in calls]
    try:
        return [future.result() for future in futures]
    finally:
        wait([future for future in futures if not future.cancel()])
