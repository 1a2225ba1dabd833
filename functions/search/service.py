"""Similarity search under the access rules of queries (RFC-0015 §4.3; contract §8).

The vector index gives candidates. Each is read again from the table and passes the checks of a
query; so the index may lag behind, but a deleted, expired or restricted entry is never found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from functions.entries.access import select_readable_by_task
from functions.entries.capacity import AccessTracker
from functions.entries.model import Entry, Filters
from functions.entries.query import Queries, assert_owner_known
from functions.entries.rules import matches_filters
from functions.entries.store import EntryStore
from functions.entries.tiers import EPISODIC, SEMANTIC, WORKING
from functions.identity.model import Principal
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.entry_keys import build_agent_space, build_namespace_space
from functions.platform.parallel import run_parallel
from functions.platform.sensitivity import ENCRYPTED
from functions.tasks.access import TaskAccess
from functions.vectors.model import Hit, Vector, VectorSearch

if TYPE_CHECKING:
    from functions.search.requests import MemorySearch


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that a search found, and its cosine similarity to the query, at most 1."""

    entry: Entry
    score: float


class Search:
    """Finds the entries most similar to a text, among those that the caller may read."""

    def __init__(
        self,
        vector_search: VectorSearch,
        store: EntryStore,
        queries: Queries,
        tasks: TaskAccess,
        access_tracker: AccessTracker,
        clock: Clock,
    ) -> None:
        self._vector_search = vector_search
        self._store = store
        self._queries = queries
        self._tasks = tasks
        self._access_tracker = access_tracker
        self._clock = clock

    def search(self, caller: Principal, request: MemorySearch) -> list[Match]:
        """Find the `top_k` entries most similar to the query, best first.

        Raises:
            ValidationFailed: the search needs an agent_id, as a query does (RFC-0015 §4.1).
        """
        filters = request.filters
        assert_owner_known(caller, filters)
        spaces = self._readable_spaces(caller, filters)
        if not spaces:
            return []
        query = self._vector_search.embed(request.query)
        found = self._find_matches(caller, spaces, query, filters, request.top_k)
        self._access_tracker.record_reads(caller, [match.entry for match in found])
        return found

    def _readable_spaces(self, caller: Principal, filters: Filters) -> list[str]:
        if filters.tier == SEMANTIC.name:
            names = self._queries.list_readable_namespaces(caller, filters)
            return [build_namespace_space(caller.tenant, name) for name in names]
        owner = filters.agent_id or caller.id
        is_anothers = filters.tier == EPISODIC.name and owner != caller.id
        if is_anothers and not self._tasks.coordinates_agent(caller, owner):
            return []
        return [build_agent_space(caller.tenant, owner)]

    def _find_matches(
        self,
        caller: Principal,
        spaces: Sequence[str],
        query: Vector,
        filters: Filters,
        wanted: int,
    ) -> list[Match]:
        def search(depth: int) -> tuple[list[Match], bool]:
            hits, is_complete = self._search_spaces(spaces, query, filters, depth)
            found = self._read_matches(caller, hits, filters, wanted)
            return list(islice(found, wanted)), is_complete

        return self._vector_search.search_with_expansion(wanted, search)

    def _search_spaces(
        self, spaces: Sequence[str], query: Vector, filters: Filters, depth: int
    ) -> tuple[list[Hit], bool]:
        """Give the best hits of all spaces together, and whether there can be no others.

        A space that may hold more hits limits what counts: below its last hit's score another one
        of its own might come first.
        """
        index, wanted = self._vector_search.index, _index_filters(filters)
        lists = run_parallel(
            [partial(index.search, space, query, depth, wanted) for space in spaces]
        )
        cut = [hits[-1].score for hits in lists if len(hits) == depth < index.max_results]
        horizon = max(cut, default=-2.0)
        hits = (hit for each in lists for hit in each if hit.score >= horizon)
        return sorted(hits, key=lambda hit: (-hit.score, hit.ref)), not cut

    def _read_matches(
        self, caller: Principal, hits: Iterable[Hit], filters: Filters, page_size: int
    ) -> Iterator[Match]:
        """Give the hits that qualify; entries are read a page at a time, as far as needed."""
        remaining = iter(hits)
        while page := list(islice(remaining, page_size)):
            entries = self._read_entries(caller, page, filters)
            yield from (Match(entries[hit.ref], hit.score) for hit in page if hit.ref in entries)

    def _read_entries(
        self, caller: Principal, hits: Sequence[Hit], filters: Filters
    ) -> dict[str, Entry]:
        """Read the entries of hits that exist, match the filters and may be read, by their id."""
        addresses = (entry_keys.parse_entry_id(caller.tenant, hit.ref) for hit in hits)
        entries = self._store.get_many(address for address, _ in filter(None, addresses)).values()
        now = self._clock()
        matching = [
            entry
            for entry in entries
            if matches_filters(entry, filters, now) and entry.sensitivity not in ENCRYPTED
        ]
        if filters.tier == WORKING.name and filters.agent_id not in (None, caller.id):
            matching = select_readable_by_task(self._tasks, caller, matching)
        return {entry.id: entry for entry in matching}


def _index_filters(filters: Filters) -> dict[str, str]:
    """Choose the filters that the index itself applies."""
    wanted = {"tier": filters.tier, "namespace": filters.namespace, "agent_id": filters.agent_id}
    return {name: value for name, value in wanted.items() if value is not None}
