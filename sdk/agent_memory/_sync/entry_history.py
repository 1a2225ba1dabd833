"""Earlier versions of entries: reading, restoring and removing them."""

from datetime import datetime
from typing import Unpack

from agent_memory._sync.pages import Pages, to_pages
from agent_memory._sync.queries import Queries
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import Entry, EntryVersion, MemoryType
from agent_memory.page import Page, Paging
from agent_memory.requests import drop_none, quote_segment, render_time
from agent_memory.responses import parse

_MEMORY = "/api/v1/memory"


class EntryHistory(Queries):
    """The history of `client.memory`.

    Each method takes the namespace and key of a living entry, or its `id`.
    """

    def history(
        self,
        namespace: str | None = None,
        key: str | None = None,
        *,
        id: str | None = None,
        memory_type: MemoryType | None = None,
        **paging: Unpack[Paging],
    ) -> Pages[EntryVersion]:
        """Return the stored versions of an entry, newest first.

            [each.value for each in client.memory.history("invoices", "progress")]

        Args:
            paging: `limit`, `page_size`, `after`.

        Raises:
            MemoryNotFoundError: there is no such entry.
            TypeError: neither `id` nor namespace and key are given.
        """

        def fetch(size: int, position: str | None) -> Page[EntryVersion]:
            entry = self._require(namespace, key, id, memory_type)
            path = f"{_MEMORY}/{quote_segment(entry.id)}/history"
            return self._fetch(
                path, "versions", EntryVersion.from_document, {}, size, position
            )

        return to_pages(fetch, paging)

    def get_past(
        self,
        namespace: str | None = None,
        key: str | None = None,
        *,
        id: str | None = None,
        memory_type: MemoryType | None = None,
        version: int | None = None,
        as_of: str | datetime | None = None,
    ) -> Entry | None:
        """Return an entry as of a version or a time; None if it did not exist.

            client.memory.get_past("invoices", "progress", version=1).value

        Raises:
            AgentMemoryError: `HISTORY_NOT_KEPT`: the earlier value is not kept.
            MemoryNotFoundError: there is no such entry now.
            TypeError: neither `id` nor namespace and key are given.
        """
        entry = self._require(namespace, key, id, memory_type)
        asked = drop_none(version=version, as_of=render_time(as_of))
        try:
            found = self._call("GET", f"{_MEMORY}/{quote_segment(entry.id)}", params=asked)
        except MemoryNotFoundError:
            return None
        return parse(Entry.from_document, found)

    def restore(
        self,
        namespace: str | None = None,
        key: str | None = None,
        *,
        version: int,
        id: str | None = None,
        memory_type: MemoryType | None = None,
    ) -> Entry:
        """Write the value of an earlier version as a new version.

            client.memory.restore("invoices", "progress", version=1)

        Raises:
            MemoryConflictError: the entry was changed at the same time.
            AgentMemoryError: `HISTORY_NOT_KEPT`: the version is not kept.
            MemoryNotFoundError: there is no such entry.
        """
        entry = self._require(namespace, key, id, memory_type)
        path = f"{_MEMORY}/{quote_segment(entry.id)}/restore"
        body = {"version": version}
        answer = self._call("POST", path, json=body, version=entry.version)
        return parse(Entry.from_document, answer)

    def remove_history(
        self,
        namespace: str | None = None,
        key: str | None = None,
        *,
        id: str | None = None,
        memory_type: MemoryType | None = None,
    ) -> None:
        """Remove the earlier versions of an entry; the entry stays.

            client.memory.remove_history("invoices", "progress")

        Raises:
            MemoryNotFoundError: there is no such entry.
        """
        entry = self._require(namespace, key, id, memory_type)
        self._call("DELETE", f"{_MEMORY}/{quote_segment(entry.id)}/history")

    def _require(
        self,
        namespace: str | None,
        key: str | None,
        id: str | None,
        memory_type: MemoryType | None,
    ) -> Entry:
        if id is not None:
            found = self._by_id(id)
        elif namespace is None or key is None:
            raise TypeError("give namespace and key, or id")
        else:
            found = self._by_key(namespace, key, None, memory_type)
        if found is None:
            raise MemoryNotFoundError("there is no such entry")
        return found
