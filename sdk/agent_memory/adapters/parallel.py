"""Parallel calls of adapters."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_THREADS = 8

Argument = TypeVar("Argument")
Result = TypeVar("Result")


class Parallel:
    """Up to 8 threads, which start with the first calls."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="agent-memory")

    def run(self, act: Callable[[Argument], Result], arguments: Iterable[Argument]) -> list[Result]:
        """Call `act` with each argument (a single one in this thread); return the results in order.

        Raises:
            Exception: the error of the first failed call; all calls are made.
        """
        listed = list(arguments)
        if len(listed) == 1:
            return [act(listed[0])]
        futures = [self._pool.submit(act, each) for each in listed]
        return [future.result() for future in futures]
