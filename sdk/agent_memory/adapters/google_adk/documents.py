"""Storage of sessions of Google's ADK: JSON documents as objects of the service."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from agent_memory import AsyncClient, Client
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.conversion import to_sync
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Sensitivity

Document = dict[str, Any]
_PAGE = 1000


class Documents:
    """JSON documents by key, each changed by one writer at a time.

    Args:
        root: the prefix of the name of their space.
    """

    def __init__(
        self, client: Client | AsyncClient, root: str, sensitivity: Sensitivity | None
    ) -> None:
        self.storage = ObjectStorage(to_sync(client), root, None, sensitivity)
        self._locks: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._guard = Lock()

    @contextmanager
    def take_turn(self, key: str) -> Iterator[None]:
        """Hold the lock of a key among the threads of this process."""
        with self._guard:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            yield

    def get(self, key: str) -> tuple[Document, int] | None:
        """Return a document and its version; None if there is none."""
        found = self.storage.get(key)
        return None if found is None else (json.loads(found.data), found.version)

    def get_many(self, keys: Iterable[str]) -> dict[str, Document]:
        """Return the existing documents, by key."""
        found = self.storage.get_many(keys)
        return {key: json.loads(data) for key, data in found.items()}

    def get_below(self, prefix: str) -> list[Document]:
        """Return the documents with a prefix, by key."""
        keys = [*self.storage.list_keys(prefix, _PAGE)]
        found = self.get_many(keys)
        return [found[key] for key in keys if key in found]

    def add(self, key: str, document: Document) -> bool:
        """Store a new document; return False if the key exists."""
        try:
            self.storage.put(key, json.dumps(document).encode(), only_new=True)
        except MemoryConflictError:
            return False
        return True

    def replace(self, key: str, document: Document, version: int) -> bool:
        """Replace a document of this version; return False if it has changed."""
        try:
            self.storage.put(key, json.dumps(document).encode(), version=version)
        except (MemoryConflictError, MemoryNotFoundError):
            return False
        return True

    def update(self, key: str, fn: Callable[[Document], Document | None]) -> None:
        """Replace a document, which is empty at first, by `fn(document)`; None changes nothing."""
        while True:
            found = self.get(key)
            changed = fn({} if found is None else found[0])
            if changed is None:
                return
            is_done = (
                self.add(key, changed) if found is None else self.replace(key, changed, found[1])
            )
            if is_done:
                return


class DocumentService:
    """A service of ADK that stores documents.

    Args:
        client: calls as the principal; stays open.
        root: the prefix of the name of the space of objects; each root has its own data.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
    """

    _root: ClassVar[str]

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        root: str | None = None,
        sensitivity: Sensitivity | None = None,
    ) -> None:
        self._documents = Documents(client, root or self._root, sensitivity)
