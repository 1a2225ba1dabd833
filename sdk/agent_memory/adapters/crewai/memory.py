"""CrewAI's memories as entries, found by the vectors of CrewAI's embedder."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from crewai.memory.types import MemoryRecord, ScopeInfo

from agent_memory import AsyncClient, Client, Entry
from agent_memory.adapters.crewai.records import get_time, has_metadata, is_meant, to_record
from agent_memory.adapters.crewai.scopes import (
    build_category_tags,
    build_scope_tags,
    build_tags,
    find_children,
    normalize_scope,
)
from agent_memory.adapters.parallel import Parallel
from agent_memory.conversion import to_sync
from agent_memory.model import EntryFields, MemoryType, SearchResult

_MOST_RESULTS = 100  # of one search
_PAGE = 1000


class AgentMemoryStorageBackend:
    """CrewAI's `StorageBackend`: the records of a `Memory` as entries of one namespace.

    A record is one entry under its id, written with its vector: each search finds all records saved
    before it. Scores are cosines. A scope includes those below it: `/user/ann` doesn't include
    `/user/anna`. Any thread and event loop may use it; copies are the same storage.

    Args:
        client: calls as the principal; stays open.
        namespace: of the records. Its first vector sets the length of all: use another namespace
            for another embedder.
        memory_type: `episodic`: the principal's own, pinned, up to its capacity; `semantic`: shared
            with all who have access to the namespace, without bound.

    Raises:
        TypeError: raised when it is no client.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        namespace: str = "crewai",
        *,
        memory_type: MemoryType = "episodic",
    ) -> None:
        self._memory = to_sync(client).memory
        self._namespace = namespace
        self._memory_type: MemoryType = memory_type
        self._parallel = Parallel()

    def __deepcopy__(self, memo: dict[int, Any]) -> "AgentMemoryStorageBackend":
        """Return this storage: CrewAI copies a memory together with its storage."""
        return self

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records, and replace those of the same ids.

        Raises:
            MemoryCapacityError: there is no room.
            ValidationError: a vector is not as long as those of the namespace, or is too short or
                too long; a record has over 50 levels and categories.
            TooLargeError: a record is larger than an entry may be.
        """
        self._parallel.run(self._put, records)

    def update(self, record: MemoryRecord) -> None:
        """Replace a record; without a vector, it keeps the earlier vector.

        Raises:
            ValidationError: the vector is not as long as those of the namespace.
        """
        value = record.model_dump(mode="json")
        self._memory.update(
            self._namespace,
            record.id,
            lambda _: value,
            initial=value,
            memory_type=self._memory_type,
            **self._build_fields(record),
        )

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records with the nearest vectors and their cosines, nearest first.

        Args:
            query_embedding: the vector to compare with.
            scope_prefix: only records of this scope.
            categories: only records with one of these.
            metadata_filter: of the 100 nearest, only records whose metadata has these.
            limit: the maximum number, up to 100.
            min_score: the lowest cosine; 0 also returns records with negative ones, as LanceDB
                does.

        Raises:
            ValidationError: the vector is not as long as those of the namespace.
        """
        if not any(query_embedding) or limit <= 0:
            return []
        depth = _MOST_RESULTS if metadata_filter else min(limit, _MOST_RESULTS)
        scope = build_scope_tags(scope_prefix)
        wanted = [[*scope, each] for each in build_category_tags(categories or ())] or [scope]
        found: dict[str, SearchResult] = {}
        for tags in wanted:
            for result in self._memory.search(
                vector=query_embedding,
                namespace=self._namespace,
                memory_type=self._memory_type,
                top_k=depth,
                min_score=min_score or None,
                tags=tags,
            ):
                found[result.entry.id] = result
        best = sorted(found.values(), key=lambda each: -each.score)
        matches = ((to_record(each.entry), each.score) for each in best)
        fitting = (each for each in matches if has_metadata(each[0], metadata_filter))
        return list(islice(fitting, limit))

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that meet all conditions, or all records; return their number."""
        if record_ids is None and older_than is None and not metadata_filter:
            return self._memory.delete_batch(
                namespace=self._namespace,
                memory_type=self._memory_type,
                tags=build_scope_tags(scope_prefix),
                tags_any=build_category_tags(categories or ()),
            )
        doomed = [
            entry
            for entry in self._find_entries(scope_prefix, record_ids)
            if is_meant(to_record(entry), scope_prefix, categories, older_than, metadata_filter)
        ]
        return sum(self._parallel.run(lambda entry: self._memory.delete(id=entry.id), doomed))

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record; None if there is none."""
        entry = self._get(record_id)
        return None if entry is None else to_record(entry)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope, newest first; it reads all of them."""
        records = sorted(self._find_records(scope_prefix), key=get_time, reverse=True)
        return records[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return the description of a scope: its records, categories, times and children."""
        records = sorted(self._find_records(scope), key=get_time)
        return ScopeInfo(
            path=normalize_scope(scope),
            record_count=len(records),
            categories=sorted({name for record in records for name in record.categories}),
            oldest_record=records[0].created_at if records else None,
            newest_record=records[-1].created_at if records else None,
            child_scopes=find_children(scope, (record.scope for record in records)),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes directly below one."""
        return find_children(parent, (record.scope for record in self._find_records(parent)))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Count the records of a scope by category."""
        counts: dict[str, int] = {}
        for record in self._find_records(scope_prefix):
            for name in record.categories:
                counts[name] = counts.get(name, 0) + 1
        return counts

    def count(self, scope_prefix: str | None = None) -> int:
        """Count the records of a scope."""
        return sum(1 for _ in self._find_entries(scope_prefix, None))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete the records of a scope; all records without one."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Save as `save` does, in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Search as `search` does, in a thread."""
        return await asyncio.to_thread(
            self.search,
            query_embedding,
            scope_prefix,
            categories,
            metadata_filter,
            limit,
            min_score,
        )

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete as `delete` does, in a thread."""
        return await asyncio.to_thread(
            self.delete, scope_prefix, categories, record_ids, older_than, metadata_filter
        )

    def _put(self, record: MemoryRecord) -> None:
        self._memory.put(
            self._namespace,
            record.id,
            record.model_dump(mode="json"),
            memory_type=self._memory_type,
            **self._build_fields(record),
        )

    def _build_fields(self, record: MemoryRecord) -> EntryFields:
        fields: EntryFields = {"tags": build_tags(record.scope, record.categories)}
        if self._memory_type == "episodic":
            fields["pinned"] = True
        if any(record.embedding or ()):  # a vector of zeros has no neighbors
            fields["vector"] = record.embedding
        return fields

    def _get(self, record_id: str) -> Entry | None:
        return self._memory.get_entry(self._namespace, record_id, memory_type=self._memory_type)

    def _find_entries(self, scope: str | None, record_ids: Iterable[str] | None) -> Iterator[Entry]:
        """Yield the entries of these records, or else of a scope."""
        if record_ids is not None:
            found = self._parallel.run(self._get, dict.fromkeys(record_ids))
            yield from (entry for entry in found if entry is not None)
            return
        yield from self._memory.query(
            namespace=self._namespace,
            memory_type=self._memory_type,
            tags=build_scope_tags(scope),
            page_size=_PAGE,
        )

    def _find_records(self, scope: str | None) -> Iterator[MemoryRecord]:
        return map(to_record, self._find_entries(scope, None))
