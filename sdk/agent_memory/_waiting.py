"""How the sync client waits and takes turns; `_waiting_async` is the other's."""

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from weakref import WeakValueDictionary

import httpx

from agent_memory.page import Item, Page

sleep = time.sleep
Fetch = Callable[[int, str | None], Page[Item]]


def run_check(check: Callable[[], None]) -> None:
    """Run a check that may ask the service."""
    check()


class Connections:
    """The HTTP client of all threads.

    Args:
        connect: makes it.
    """

    def __init__(self, connect: Callable[[], httpx.Client]) -> None:
        self._http: httpx.Client | None = connect()

    def get(self) -> httpx.Client | None:
        """Return the HTTP client; None once it is closed."""
        return self._http

    def close(self) -> None:
        """Close it."""
        http, self._http = self._http, None
        if http is not None:
            http.close()


class Turns:
    """One lock for each name, so that those who change one thing queue up. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()

    def of(self, name: Hashable) -> threading.Lock:
        """Return the lock of this name."""
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())


class Testable(Iterable[Item]):
    """Items that are true where there are any, as a list is."""

    def __bool__(self) -> bool:
        return any(True for _ in self)
