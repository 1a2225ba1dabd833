"""Waiting and locks of the sync client; `_waiting_async` has those of the async one."""

import os
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from weakref import WeakValueDictionary

import httpx

from agent_memory.page import FirstPageView, Item, Page

sleep = time.sleep
Fetch = Callable[[int, str | None], Page[Item]]


def run_check(check: Callable[[], None]) -> None:
    """Run a check that may call the service."""
    check()


class Connections:
    """The HTTP client of all threads of a process.

    A forked process creates its own: on shared connections, each would read responses to the
    other's requests.

    Args:
        connect: creates a client.
    """

    def __init__(self, connect: Callable[[], httpx.Client]) -> None:
        self._connect = connect
        self._http: httpx.Client | None = connect()
        self._process = os.getpid()

    def get(self) -> httpx.Client | None:
        """Return the HTTP client of this process; None once it is closed."""
        if self._http is not None and self._process != os.getpid():
            self._http = self._connect()
            self._process = os.getpid()
        return self._http

    def close(self) -> None:
        """Close it."""
        http, self._http = self._http, None
        if http is not None:
            http.close()


class Turns:
    """One lock for each name, so that changes of one thing wait for each other. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()

    def of(self, name: Hashable) -> threading.Lock:
        """Return the lock of this name."""
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())


class FirstPage(FirstPageView[Item], Iterable[Item]):
    """A list whose first page is read at its first use."""

    _first: Page[Item] | None = None

    @abstractmethod
    def _read_first_page(self) -> Page[Item]: ...

    def _get_first_page(self) -> Page[Item]:
        if self._first is None:
            self._first = self._read_first_page()
        return self._first

    def __bool__(self) -> bool:
        return any(True for _ in self)
