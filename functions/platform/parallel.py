"""Calls side by side: threads on one pooled client."""

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


def side_by_side(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of the calls, in their order; the first error is raised.

    Calls that such a call makes itself run one after another: the pool could wait for itself.

    None is at work when it returns or raises: a frozen Lambda would leave it half done.
    """
    if len(calls) < 2 or getattr(_thread, "of_pool", False):
        return [call() for call in calls]
    futures = [_pool().submit(call) for call in calls]
    try:
        return [future.result() for future in futures]
    finally:
        wait([future for future in futures if not future.cancel()])
