"""The versions of entries that a client last saw (RFC-0015 §3.2)."""

from collections.abc import Mapping
from threading import Lock
from typing import NamedTuple

from agent_memory.model import Entry, MemoryType

_MOST = 10_000


class Seen(NamedTuple):
    """An entry as it was last seen."""

    id: str
    version: int
    memory_type: MemoryType
    scope: Mapping[str, str]

    def is_in(self, scope: Mapping[str, str]) -> bool:
        """Return whether its scope has the ids of this scope."""
        return all(self.scope.get(name) == id for name, id in scope.items())


class Versions:
    """The newest ten thousand versions, by namespace and key. Thread-safe.

    A name can have two entries, a private and a semantic one.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[tuple[str, str], dict[bool, Seen]] = {}

    def of(self, namespace: str, key: str, memory_type: MemoryType | None = None) -> Seen | None:
        """Return the entry last seen under the name, or the last of that tier."""
        with self._lock:
            slots = self._seen.get((namespace, key), {})
            if memory_type is None:
                return next(reversed(slots.values()), None)
            seen = slots.get(_is_shared(memory_type))
            return seen if seen and seen.memory_type == memory_type else None

    def saw(self, entry: Entry) -> None:
        """Record an entry; an older version of the same entry changes nothing."""
        place, shared = (entry.namespace, entry.key), _is_shared(entry.memory_type)
        with self._lock:
            slots = self._seen.pop(place, {})
            self._seen[place] = slots
            before = slots.pop(shared, None)
            seen = Seen(entry.id, entry.version, entry.memory_type, _scope(entry))
            newer = before is None or before.id != seen.id or before.version < seen.version
            slots[shared] = seen if newer or before is None else before
            while len(self._seen) > _MOST:
                self._seen.pop(next(iter(self._seen)))

    def forget(self, namespace: str, key: str, memory_type: MemoryType | None = None) -> None:
        """Forget the entries of the name, or only the entry of that tier."""
        with self._lock:
            slots = self._seen.get((namespace, key), {})
            if memory_type is not None:
                slots.pop(_is_shared(memory_type), None)
            if memory_type is None or not slots:
                self._seen.pop((namespace, key), None)


def _is_shared(memory_type: MemoryType) -> bool:
    return memory_type == "semantic"


def _scope(entry: Entry) -> dict[str, str]:
    named = {"task_id": entry.task_id, "intent_id": entry.intent_id}
    return {name: id for name, id in named.items() if id is not None}
