"""Queries and searches of entries (RFC-0015 §4)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Unpack

from agent_memory._async.pages import AsyncPages, to_pages
from agent_memory._async.resource import AsyncResource
from agent_memory._async.task_memory import AsyncTaskMemory
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import Entry, MemorySummary, MemoryType, SearchResult
from agent_memory.page import Page, Paging
from agent_memory.requests import (
    drop_none,
    join_tags,
    quote_segment,
    render_time,
    to_list,
    to_numbers,
)
from agent_memory.responses import get_member, parse, parse_items
from agent_memory.task_at_work import find_task_at_work

_MEMORY = "/api/v1/memory"
_IN_TASK, _BEYOND_TASK = "task:", "beyond-task:"  # prefixes of the positions of a worker's queries


class AsyncQueries(AsyncResource):
    """Queries and searches of `client.memory`."""

    def query(
        self,
        *,
        namespace: str | None = None,
        key: str | None = None,
        memory_type: MemoryType | None = None,
        tags: Iterable[str] | None = None,
        tags_any: Iterable[str] | None = None,
        agent_id: str | None = None,
        task_id: str | None = None,
        intent_id: str | None = None,
        pinned: bool | None = None,
        updated_after: str | datetime | None = None,
        updated_before: str | datetime | None = None,
        touch: bool = True,
        as_of: str | datetime | None = None,
        **paging: Unpack[Paging],
    ) -> AsyncPages[Entry]:
        """Return the entries that match, newest first.

            for entry in client.memory.query(namespace="invoices", tags=["open"]):
                print(entry.key, entry.value)

        An entry that matches during the whole iteration is returned exactly once. Entries that are
        created or deleted during the iteration may be missing.

        Args:
            namespace: `billing.*` means all that begin with `billing.`.
            tags: only entries with all of these; `tags_any`: with one of these.
            agent_id: the owner; by default the caller.
            touch: False does not count as a use for the order of eviction.
            as_of: the existing entries of a namespace, or of episodic memory, as of this time.
            paging: `limit`, `page_size`, `after`.

        In a worker's function, without agent and scope, working entries are those of its task:
        first its own, then those that it inherits from its parent (`inherited`).
        """
        filters = _filters(
            namespace,
            key,
            memory_type,
            tags,
            tags_any,
            task_id,
            intent_id,
            pinned,
            updated_after,
            updated_before,
        )
        filters |= {} if touch else {"touch": "false"}
        filters |= drop_none(as_of=render_time(as_of))
        task = self._find_task_memory(memory_type, agent_id, task_id, intent_id)

        async def fetch(size: int, position: str | None) -> Page[Entry]:
            if task is not None and (position or _IN_TASK).startswith(_IN_TASK):
                found = (position or _IN_TASK).removeprefix(_IN_TASK) or None
                page = await self._page(filters | await task.check_filters(), size, found)
                ending = None if memory_type is not None else _BEYOND_TASK
                return Page(page.items, _IN_TASK + page.next if page.next else ending)
            owned = drop_none(agent_id=await self._owner(agent_id, memory_type, task_id))
            page = await self._page(
                filters | owned, size, None if position == _BEYOND_TASK else position
            )
            if task is None:
                return page
            return Page([each for each in page.items if each.memory_type != "working"], page.next)

        return to_pages(fetch, paging)

    async def delete_batch(
        self,
        *,
        namespace: str | None = None,
        key: str | None = None,
        memory_type: MemoryType | None = None,
        tags: Iterable[str] | None = None,
        tags_any: Iterable[str] | None = None,
        agent_id: str | None = None,
        task_id: str | None = None,
        intent_id: str | None = None,
        pinned: bool | None = None,
        updated_after: str | datetime | None = None,
        updated_before: str | datetime | None = None,
    ) -> int:
        """Delete the matching entries that the caller may write; return their number.

            client.memory.delete_batch(namespace="invoices", tags=["done"])

        If the response to an attempt is lost, the entries that it deleted are not counted.
        """
        filters = _filters(
            namespace,
            key,
            memory_type,
            tags,
            tags_any,
            task_id,
            intent_id,
            pinned,
            updated_after,
            updated_before,
        )
        if (task := self._find_task_memory(memory_type, agent_id, task_id, intent_id)) is not None:
            filters |= await task.check_filters()
        filters |= drop_none(agent_id=await self._owner(agent_id, memory_type, task_id))
        answer = await self._call("DELETE", f"{_MEMORY}/batch", params=filters)
        return parse(int, get_member(answer, "deleted"))

    async def search(
        self,
        query: str | None = None,
        *,
        vector: Iterable[float] | None = None,
        memory_type: MemoryType | None = None,
        top_k: int = 5,
        min_score: float | None = None,
        namespace: str | None = None,
        agent_id: str | None = None,
        tags: Iterable[str] | None = None,
        fields: Mapping[str, str | bool | float | None] | None = None,
    ) -> list[SearchResult]:
        """Return the entries that match a query best, best first (RFC-0015 §4.3).

        A text finds entries by meaning, words and ids, each with its `score`, 1 for the words of
        the query, and the words that `matched`; a new entry is found some seconds later. A vector
        finds the entries of one namespace with the nearest vectors; the score is the cosine, and
        new entries are found at once. Sensitive entries are never found.

            client.memory.search("hot drinks", namespace="recipes")
            client.memory.search(vector=embed("hot drinks"), namespace="recipes")

        Args:
            query: a text; required unless `vector` is given.
            vector: numbers, as many as in the vectors of the namespace.
            memory_type: the tier; by default all, with one request for each.
            top_k: the maximum number of results, up to 100.
            min_score: the lowest score; no limit by default.
            namespace: `billing.*` means all that begin with `billing.`.
            agent_id: the owner; by default the caller.
            tags: all of them.
            fields: names and values at the top level; declared search fields of the namespace.

        Raises:
            ValidationError: raised when neither or both of query and vector are given, the vector
                has another length than the namespace's, or a field isn't declared.
            AgentMemoryError: the service lacks this extension; `GET /api/v1/capabilities` lists its
                extensions.
        """
        vector = to_numbers(vector)
        tiers: tuple[MemoryType, ...] = ("working", "episodic")
        if memory_type is not None:
            tiers = (memory_type,)
        elif agent_id is None:
            tiers = (*tiers, "semantic")
        found: list[SearchResult] = []
        for tier in tiers:
            body = drop_none(
                query=query,
                vector=vector,
                memory_type=tier,
                top_k=top_k,
                min_score=min_score,
                namespace=namespace,
                agent_id=await self._owner(agent_id, tier, None),
                tags=to_list(tags),
                fields=None if fields is None else dict(fields),
            )
            answer = await self._call("POST", f"{_MEMORY}/search", json=body)
            results = parse_items(get_member(answer, "results"))
            found += [parse(SearchResult.from_document, each) for each in results]
        return sorted(found, key=lambda each: -each.score)[:top_k]

    async def summary(self, agent_id: str | None = None) -> MemorySummary:
        """Return an agent's memory in figures (RFC-0015 "Agent Memory Summary").

        client.memory.summary().episodic.capacity
        """
        owner = agent_id or (await self._client.principals.me()).id
        path = f"/api/v1/agents/{quote_segment(owner)}/memory/summary"
        return parse(MemorySummary.from_document, await self._call("GET", path))

    async def _page(self, filters: Mapping[str, Any], limit: int, after: str | None) -> Page[Entry]:
        return await self._fetch(_MEMORY, "entries", Entry.from_document, filters, limit, after)

    def _find_task_memory(
        self, memory_type: MemoryType | None, *scope: str | None
    ) -> AsyncTaskMemory | None:
        """Return the memory of the worker's task if a call belongs to it.

        A call in a worker's function belongs to it if it is about working memory and names neither
        another agent nor a scope.
        """
        if memory_type not in (None, "working") or any(scope):
            return None
        at_work = find_task_at_work(self._client.settings)
        return None if at_work is None else AsyncTaskMemory(self._client, at_work)

    async def _by_id(self, id: str, *, with_vector: bool = False) -> Entry | None:
        asked = {"vector": "include"} if with_vector else None
        try:
            found = await self._call("GET", f"{_MEMORY}/{quote_segment(id)}", params=asked)
        except MemoryNotFoundError:
            return None
        return parse(Entry.from_document, found)

    async def _by_key(
        self, namespace: str, key: str, agent_id: str | None, memory_type: MemoryType | None
    ) -> Entry | None:
        me = await self._client.principals.cached_me()
        asked = drop_none(namespace=namespace, key=key, memory_type=memory_type, agent_id=agent_id)
        if agent_id is not None or memory_type == "semantic" or me.kind == "agent":
            return await self._first(asked, namespace)
        own = await self._first(asked | {"agent_id": me.id}, namespace)
        if own is not None or memory_type is not None:
            return own
        return await self._first(asked | {"memory_type": "semantic"}, namespace)

    async def _first(self, asked: Mapping[str, Any], namespace: str) -> Entry | None:
        """Return the private entry, else the semantic one; a name with a final `*` is a prefix."""
        found: Entry | None = None
        async for entry in self._list(_MEMORY, "entries", Entry.from_document, {}, asked):
            if entry.namespace == namespace:
                found = entry
                if entry.memory_type != "semantic":
                    return entry
        return found

    async def _owner(
        self, agent_id: str | None, memory_type: MemoryType | None, task_id: str | None
    ) -> str | None:
        """Return the owner of the queried memory; for an agent, the service infers it."""
        if agent_id is not None or task_id is not None or memory_type in (None, "semantic"):
            return agent_id
        own = await self._client.principals.cached_me()
        return own.id


def _filters(
    namespace: str | None,
    key: str | None,
    memory_type: MemoryType | None,
    tags: Iterable[str] | None,
    tags_any: Iterable[str] | None,
    task_id: str | None,
    intent_id: str | None,
    pinned: bool | None,
    updated_after: str | datetime | None,
    updated_before: str | datetime | None,
) -> dict[str, Any]:
    """Return the query parameters."""
    named = drop_none(namespace=namespace, key=key, memory_type=memory_type)
    scope = {"scope.task_id": task_id, "scope.intent_id": intent_id}
    listed = drop_none(tags=join_tags(tags), tags_any=join_tags(tags_any))
    flag = {} if pinned is None else {"pinned": "true" if pinned else "false"}
    times = {
        "updated_after": render_time(updated_after),
        "updated_before": render_time(updated_before),
    }
    return named | listed | flag | drop_none(**scope, **times)
