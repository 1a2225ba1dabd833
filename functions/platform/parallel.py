"""Reads side by side: threads on one pooled client."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_THREADS = 16
T = TypeVar("T")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="reads")


def side_by_side(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of the calls, in their order; the first error is raised. No call may nest."""
    if len(calls) < 2:
        return [call() for call in calls]
    return [future.result() for future in [_pool().submit(call) for call in calls]]
