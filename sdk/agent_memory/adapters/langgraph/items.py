"""Put and delete whole entries, as LangGraph does, at their present versions."""

from collections.abc import Callable, Iterable
from typing import Any

from agent_memory import Client, Entry
from agent_memory.exceptions import MemoryAccessError, MemoryConflictError, MemoryNotFoundError
from agent_memory.model import EntryFields, MemoryType, SearchResult
from agent_memory.responses import parse
from agent_memory.versions import Seen, Versions

_MEMORY = "/api/v1/memory"
MOST_RANKED = 100  # the maximum number of results of one search
Value = dict[str, Any]


class Items:
    """The principal's entries of one tier.

    Args:
        strict: whether an entry that this object has read or written is replaced only at that
            version, and another entry only if it does not exist.
    """

    def __init__(self, client: Client, memory_type: MemoryType, *, strict: bool) -> None:
        self._client = client
        self._memory_type = memory_type
        self._strict = strict
        self._pinned: EntryFields = {"pinned": True} if memory_type == "episodic" else {}
        self._seen = Versions()

    def get(self, namespace: str, key: str) -> Entry | None:
        """Return the entry in this place."""
        entry = self._client.memory.get_entry(namespace, key, memory_type=self._memory_type)
        if entry is None:
            self._seen.forget(namespace, key)
            return None
        return self._known(entry)

    def query(self, namespace: str, page_size: int, tags: Iterable[str] = ()) -> Iterable[Entry]:
        """Return the entries of a namespace, or of all with this prefix, newest first."""
        return self._client.memory.query(
            namespace=namespace, memory_type=self._memory_type, tags=tags, page_size=page_size
        )

    def search(
        self,
        namespace: str,
        query: str | None = None,
        vector: Iterable[float] | None = None,
        most: int = MOST_RANKED,
    ) -> list[SearchResult]:
        """Return the best entries for a query in words, or with the nearest vectors."""
        return self._client.memory.search(
            query,
            vector=vector,
            namespace=namespace,
            memory_type=self._memory_type,
            top_k=most,
        )

    def read(self, entry: Entry, *, refresh: bool) -> Entry:
        """Return the entry; with `refresh`, its time to live starts again."""
        if not refresh or entry.ttl is None:
            return self._known(entry)
        try:
            return self._known(self._patched(entry.id, entry.version, {"ttl": entry.ttl}))
        except (MemoryConflictError, MemoryNotFoundError, MemoryAccessError):
            return entry  # the last write has set the time, or the caller may only read

    def put(
        self,
        namespace: str,
        key: str,
        value: Value,
        ttl: str | None,
        *,
        vector: Iterable[float] | None = None,
        tags: Iterable[str] = (),
    ) -> None:
        """Create or replace an entry by a value with its vector and tags.

        Raises:
            MemoryConflictError: strict, and the present entry differs.
            MemoryCapacityError: there is no room.
        """
        known = self._seen.of(namespace, key) if self._strict else None
        if known is not None:
            changes = {"value": value, "ttl": ttl, "vector": vector, "tags": [*tags]}
            self._known(self._changed(known, changes))
            return
        fields: EntryFields = {**self._pinned, "ttl": ttl, "tags": tags}
        if vector is not None:
            fields["vector"] = vector
        entry = self._client.memory.put(
            namespace,
            key,
            value,
            memory_type=self._memory_type,
            version=0 if self._strict else None,
            **fields,
        )
        self._known(entry)

    def update(
        self,
        namespace: str,
        key: str,
        fn: Callable[[Value], Value],
        initial: Value | None,
        ttl: str | None,
        *,
        keeps_tags: bool = False,
    ) -> Entry:
        """Replace the value by `fn(value)`; repeat it after each conflict.

        The new version has no vector, and no tags unless they are kept.
        """
        fields: EntryFields = {**self._pinned, "ttl": ttl, "vector": None}
        if not keeps_tags:
            fields["tags"] = ()
        entry = self._client.memory.update(
            namespace, key, fn, initial=initial, memory_type=self._memory_type, **fields
        )
        return self._known(entry)

    def delete(self, namespace: str, key: str) -> None:
        """Remove the entry in this place, if there is one.

        Raises:
            MemoryConflictError: strict, and it was changed since it was read or written.
        """
        known = self._seen.of(namespace, key) if self._strict else None
        if known is None:
            self._client.memory.delete(namespace, key, memory_type=self._memory_type)
        else:
            self._client.memory.delete(id=known.id, version=known.version)
        self._seen.forget(namespace, key)

    def add_vector(self, entry: Entry, vector: Iterable[float], tags: Iterable[str]) -> Entry:
        """Add a vector and tags to an entry, unless another writer has changed it."""
        try:
            return self._known(
                self._patched(entry.id, entry.version, {"vector": vector, "tags": [*tags]})
            )
        except (MemoryConflictError, MemoryNotFoundError):
            return entry

    def remove(self, entry: Entry) -> None:
        """Remove an entry, if it exists."""
        self._client.memory.delete(id=entry.id)

    def _changed(self, known: Seen, fields: dict[str, Any]) -> Entry:
        try:
            return self._patched(known.id, known.version, fields)
        except MemoryNotFoundError as gone:
            message = "the item was deleted or has expired since it was read"
            raise MemoryConflictError(message, status=gone.status, code=gone.code) from gone

    def _patched(self, id: str, version: int, fields: dict[str, Any]) -> Entry:
        headers = {"If-Match": str(version)}
        answer = self._client.request("PATCH", f"{_MEMORY}/{id}", json=fields, headers=headers)
        return parse(Entry.from_document, answer.json())

    def _known(self, entry: Entry) -> Entry:
        if self._strict:
            self._seen.saw(entry)
        return entry
