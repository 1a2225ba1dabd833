"""How the sync client waits and takes turns; `_waiting_async` is the other's."""

import threading
import time
from collections.abc import Callable, Hashable
from weakref import WeakValueDictionary

sleep = time.sleep


def run_check(check: Callable[[], None]) -> None:
    """Run a check that may ask the service."""
    check()


class Turns:
    """One lock for each name, so that those who change one thing queue up. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()

    def of(self, name: Hashable) -> threading.Lock:
        """Return the lock of this name."""
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())
