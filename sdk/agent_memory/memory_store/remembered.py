"""The sessions that a store used last. Thread-safe."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

_MOST = 10_000

T = TypeVar("T")


class Remembered(Generic[T]):
    """A value for each of the last 10,000 used sessions."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def get(self, session_id: str) -> T | None:
        """Return the value of a session; None if unknown."""
        with self._lock:
            return self._values.get(session_id)

    def put(self, session_id: str, value: T) -> None:
        """Store the value of a session."""
        with self._lock:
            self._values[session_id] = value
            self._values.move_to_end(session_id)
            if len(self._values) > _MOST:
                self._values.popitem(last=False)
