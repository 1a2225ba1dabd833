"""What a client last saw of its entries, so that it can name the version (RFC-0015 §3.2)."""

from threading import Lock
from typing import NamedTuple

from agent_memory.model import Entry

_MOST = 10_000


class Seen(NamedTuple):
    """An entry as it was last seen."""

    id: str
    version: int
    memory_type: str


class Versions:
    """What was last seen under each namespace and key: the newest ten thousand. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[tuple[str, str], Seen] = {}

    def of(self, namespace: str, key: str) -> Seen | None:
        """What was last seen there."""
        with self._lock:
            return self._seen.get((namespace, key))

    def saw(self, entry: Entry) -> None:
        """Remembers an entry; an older version of the same one changes nothing."""
        place = entry.namespace, entry.key
        with self._lock:
            before = self._seen.pop(place, None)
            seen = Seen(entry.id, entry.version, entry.memory_type)
            newer = before is None or before.id != seen.id or before.version < seen.version
            self._seen[place] = seen if newer or before is None else before
            while len(self._seen) > _MOST:
                self._seen.pop(next(iter(self._seen)))

    def forget(self, namespace: str, key: str) -> None:
        """Remembers nothing of it any more."""
        with self._lock:
            self._seen.pop((namespace, key), None)
