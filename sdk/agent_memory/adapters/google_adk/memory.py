"""ADK's memory: texts of sessions, found by meaning."""

import asyncio
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from agent_memory import AsyncClient, Client
from agent_memory.adapters.google_adk.documents import Document
from agent_memory.adapters.hashing import hash_id
from agent_memory.adapters.searching import to_query
from agent_memory.conversion import to_sync
from agent_memory.model import MemoryType

_MOST_TEXT = 8000  # characters in one entry
_DELETED: Document = {"deleted": True}


class AgentMemoryMemoryService(BaseMemoryService):  # type: ignore[misc]
    """Texts of sessions, as entries that the service searches by meaning, words and ids.

    Each app and user has a namespace. The texts of an event are one entry, or several if they are
    long; images and tool calls are not stored. Any event loop may use it.

    Args:
        client: calls as the principal; stays open.
        namespace: the prefix of the namespaces.
        memory_type: `episodic`: the principal's own, of which the service evicts the least recently
            read at its capacity; `semantic`: without bound, for all who have access to the
            namespaces.
        top_k: the maximum number of memories of a search.

    Raises:
        TypeError: raised when it is no client.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        namespace: str = "adk",
        *,
        memory_type: MemoryType = "episodic",
        top_k: int = 10,
    ) -> None:
        self._memory = to_sync(client).memory
        self._namespace = namespace
        self._memory_type: MemoryType = memory_type
        self._top_k = top_k

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session, and replace its earlier ones.

        Raises:
            MemoryAccessError: the key may not write in the namespace.
        """
        place = self._to_namespace(session.app_name, session.user_id)
        entries = dict(_to_entries(session.events))
        await asyncio.to_thread(self._put, place, _session_tag(session.id), entries, True)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events, in addition to earlier ones of their session.

        Args:
            custom_metadata: JSON that a search returns with each of them.
        """
        place = self._to_namespace(app_name, user_id)
        entries = dict(_to_entries(events, custom_metadata))
        await asyncio.to_thread(self._put, place, _session_tag(session_id or ""), entries, False)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories; a memory without an id gets one."""
        entries: dict[str, Document] = {}
        for memory in memories:
            id = memory.id or str(uuid.uuid4())
            metadata = memory.custom_metadata | dict(custom_metadata or {})
            about = {"author": memory.author, "timestamp": memory.timestamp, "metadata": metadata}
            entries |= dict(_to_pieces(id, memory.content, about))
        place = self._to_namespace(app_name, user_id)
        await asyncio.to_thread(self._put, place, _session_tag(""), entries, False)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the best memories for a query, best first; new ones after two seconds."""
        text = to_query(query)
        if text is None:
            return SearchMemoryResponse(memories=[])
        found = await asyncio.to_thread(
            self._memory.search,
            text,
            namespace=self._to_namespace(app_name, user_id),
            memory_type=self._memory_type,
            top_k=self._top_k,
        )
        values = [each.entry.value for each in found]
        memories = [_to_memory(value) for value in values if value != _DELETED]
        return SearchMemoryResponse(memories=memories)

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Delete the memory of an event; adding its session again does not restore it."""
        if memory_id:
            place = self._to_namespace(app_name, user_id)
            await asyncio.to_thread(self._delete, place, memory_id)

    def _to_namespace(self, app: str, user: str) -> str:
        return f"{self._namespace}/{hash_id(app)}/{hash_id(user)}"

    def _put(self, namespace: str, tag: str, entries: dict[str, Document], is_all: bool) -> None:
        """Store missing entries; if these are all of a session, remove the others."""
        found = self._memory.query(namespace=namespace, memory_type=self._memory_type, tags=[tag])
        before = {entry.key: entry.value for entry in found}
        for key, value in entries.items():
            if before.get(key) not in (value, _DELETED):
                event = f"event:{hash_id(value['id'])}"
                self._memory.put(
                    namespace, key, value, memory_type=self._memory_type, tags=[tag, event]
                )
        if is_all:
            for key in before.keys() - entries.keys():
                if before[key] != _DELETED:
                    self._memory.delete(namespace, key, memory_type=self._memory_type)

    def _delete(self, namespace: str, id: str) -> None:
        found = self._memory.query(
            namespace=namespace, memory_type=self._memory_type, tags=[f"event:{hash_id(id)}"]
        )
        for entry in [*found]:
            self._memory.put(
                namespace, entry.key, _DELETED, memory_type=self._memory_type, tags=entry.tags
            )


def _session_tag(id: str) -> str:
    return f"session:{hash_id(id)}"


def _to_entries(
    events: Iterable[Event], metadata: Mapping[str, object] | None = None
) -> Iterator[tuple[str, Document]]:
    for event in events:
        if event.content is not None:
            at = datetime.fromtimestamp(event.timestamp, UTC).isoformat()
            about = {"author": event.author, "timestamp": at, "metadata": dict(metadata or {})}
            yield from _to_pieces(event.id, event.content, about)


def _to_pieces(id: str, content: types.Content, about: Document) -> Iterator[tuple[str, Document]]:
    """Yield the texts of a content as entries that fit into the service, and their keys."""
    text = "\n".join(part.text for part in content.parts or () if part.text)
    for number, start in enumerate(range(0, len(text), _MOST_TEXT)):
        piece = {"id": id, "role": content.role, "text": text[start : start + _MOST_TEXT]}
        yield f"{hash_id(id)}:{number}", piece | about


def _to_memory(value: Document) -> MemoryEntry:
    content = types.Content(role=value.get("role"), parts=[types.Part(text=value.get("text", ""))])
    named: dict[str, Any] = {name: value.get(name) for name in ("id", "author", "timestamp")}
    return MemoryEntry(content=content, custom_metadata=value.get("metadata") or {}, **named)
