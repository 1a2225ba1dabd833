"""The entries of conversations, each an object; histories are read in blocks."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Generic, TypeVar

from pydantic_ai.conversation_store import ConversationEntry

from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.adapters.pydantic_ai.documents import (
    StoredEntry,
    build_entry_key,
    extend_block,
)

_REMEMBERED = 1000

_Item = TypeVar("_Item")


class Recent(Generic[_Item]):
    """The entries read or written last, by name."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._items: OrderedDict[str, _Item] = OrderedDict()

    def add(self, name: str, item: _Item) -> None:
        """Note an item."""
        with self._lock:
            self._items[name] = item
            if len(self._items) > _REMEMBERED:
                self._items.popitem(last=False)

    def get(self, name: str) -> _Item | None:
        """Return an item; None if it is no longer cached."""
        with self._lock:
            return self._items.get(name)

    def forget(self, name: str) -> None:
        """Forget an item."""
        with self._lock:
            self._items.pop(name, None)


class EntryLog:
    """Reads and writes entries."""

    def __init__(self, storage: ObjectStorage) -> None:
        self._storage = storage
        self._ancestors: Recent[list[str]] = Recent()

    def prepare(self, entry: ConversationEntry) -> StoredEntry:
        """Return a new entry with its ancestors, in its stored form.

        Raises:
            KeyError: the entry before it does not exist.
        """
        stored = StoredEntry(entry, self._find_ancestors(entry.parent_id))
        self._ancestors.add(entry.id, stored.ancestors)
        return stored

    def put(self, stored: StoredEntry) -> None:
        """Store an entry."""
        self._storage.put(build_entry_key(stored.entry.id), stored.render())

    def walk(self, head_id: str | None, limit: int | None) -> Iterator[list[StoredEntry]]:
        """Yield the entries up to this one in blocks, the last block first.

        Raises:
            KeyError: one of them is gone.
        """
        remaining = limit
        while head_id is not None and remaining != 0:
            (head,) = self.read([head_id])
            ids = head.ancestors
            if remaining is not None:
                ids = ids[max(0, len(ids) + 1 - remaining) :]
            block = [*self.read(ids), head]
            yield block
            head_id = block[0].entry.parent_id
            remaining = None if remaining is None else remaining - len(block)

    def read(self, ids: Sequence[str]) -> list[StoredEntry]:
        """Return entries in this order.

        Raises:
            KeyError: one of them is gone.
        """
        found = self._storage.get_many(build_entry_key(id) for id in ids)
        stored = [StoredEntry.parse(found[build_entry_key(id)]) for id in ids]
        for each in stored:
            self._ancestors.add(each.entry.id, each.ancestors)
        return stored

    def _find_ancestors(self, parent_id: str | None) -> list[str]:
        if parent_id is None:
            return []
        known = self._ancestors.get(parent_id)
        before = self.read([parent_id])[0].ancestors if known is None else known
        return extend_block(before, parent_id)
