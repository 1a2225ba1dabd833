"""Strands' `MemoryStore`: memories of an agent, found by meaning."""

import asyncio
import hashlib
import json
from typing import Any

from strands.memory.types import MemoryEntry, SearchOptions

from agent_memory import AsyncClient, Client
from agent_memory.adapters.searching import to_query
from agent_memory.conversion import to_sync
from agent_memory.model import EntryFields, MemoryType, SearchResult

_MOST_RESULTS = 100
_DEFAULT_RESULTS = 5

Document = dict[str, Any]


class AgentMemoryMemoryStore:
    """Entries of one namespace, which the service searches by meaning, words and ids.

    A text that is added again stays one entry. It has `add` and no `add_messages`: with
    `extraction`, Strands' own model extracts texts to add. Any event loop and thread may use it.

    Args:
        client: calls as the principal; stays open.
        name: of the store, for tools.
        namespace: of its entries.
        memory_type: `episodic`: the principal's own, pinned, up to its capacity; `semantic`: shared
            with all who have access to the namespace, without bound.
        writable: whether an agent may add to it.
        description: of the store, for tools.
        max_search_results: the default maximum of a search, up to 100.
        extraction: as for any store of Strands.

    Raises:
        TypeError: raised when it is no client.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        name: str,
        namespace: str,
        memory_type: MemoryType = "episodic",
        writable: bool = True,
        *,
        description: str | None = None,
        max_search_results: int | None = None,
        extraction: Any = None,
    ) -> None:
        self._memory = to_sync(client).memory
        self._namespace = namespace
        self._memory_type: MemoryType = memory_type
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return the best memories for a query, best first.

        An entry is found two seconds after its write. Its metadata has `score`, `id`, `created_at`,
        and the added metadata. An empty query finds nothing, and only the first few thousand
        characters of a query count.

        Raises:
            ValueError: `max_search_results` is less than 1.
        """
        wanted = (options or {}).get("max_search_results")
        if wanted is not None and wanted < 1:
            raise ValueError("max_search_results must be 1 or more")
        wanted = wanted or self.max_search_results
        text = to_query(query)
        if text is None:
            return []
        found = await asyncio.to_thread(
            self._memory.search,
            text,
            namespace=self._namespace,
            memory_type=self._memory_type,
            top_k=min(wanted or _DEFAULT_RESULTS, _MOST_RESULTS),
        )
        return [self._to_entry(each) for each in found]

    async def add(self, content: str, metadata: Document | None = None) -> str:
        """Store a text; return its key.

        Raises:
            PermissionError: raised when the store isn't writable.
            MemoryCapacityError: there is no room.
            TooLargeError: text and metadata are over `memory.limits.value_bytes`.
        """
        if not self.writable:
            raise PermissionError(f"the store {self.name} isn't writable")
        key = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        value: Document = {"content": content}
        if metadata:
            value["metadata"] = metadata
        pinned: EntryFields = {"pinned": True} if self._memory_type == "episodic" else {}
        await asyncio.to_thread(
            self._memory.put, self._namespace, key, value, memory_type=self._memory_type, **pinned
        )
        return key

    def _to_entry(self, found: SearchResult) -> MemoryEntry:
        entry = found.entry
        text = entry.value.get("content")
        content = text if isinstance(text, str) else json.dumps(entry.value, ensure_ascii=False)
        about = {"score": found.score, "id": entry.id, "created_at": entry.raw["created_at"]}
        metadata = about | (entry.value.get("metadata") or {})
        return MemoryEntry(content=content, store_name=self.name, metadata=metadata)
