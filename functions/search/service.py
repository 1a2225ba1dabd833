"""Similarity search under the access rules of queries (RFC-0015 §4.3; contract §8).

The vector index gives candidates. Each is read again from the table and passes the checks of a
query; so the index may lag behind, but a deleted, expired or restricted entry is never found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

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
from functions.search.text import extract_text
from functions.tasks.access import TaskAccess
from functions.vectors.hybrid import Query, read_query
from functions.vectors.model import Hit, Vector, VectorSearch

if TYPE_CHECKING:
    from functions.search.requests import MemorySearch


class Match(NamedTuple):
    """An entry that a search found.

    Attributes:
        score: how well it fits the query: 1 for its very words, about 0.2 at least.
        matched: the words and ids of the query that it has.
    """

    entry: Entry
    score: float
    matched: list[str]


class Search:
    """Finds the entries that fit a text best, among those that the caller may read."""

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

    def search(
        self, caller: Principal, request: MemorySearch, *, is_touched: bool = True
    ) -> list[Match]:
        """Find the `top_k` entries that fit the query best by meaning, words and ids; best first.

        Args:
            caller: who searches.
            request: what to find.
            is_touched: whether the owner's reads count for the order of eviction.

        Raises:
            ValidationFailed: the search needs an agent_id, as a query does (RFC-0015 §4.1).
        """
        filters = request.filters
        assert_owner_known(caller, filters)
        spaces = self._readable_spaces(caller, filters)
        if not spaces:
            return []
        found = self._find_matches(caller, spaces, request)
        if is_touched:
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
        self, caller: Principal, spaces: Sequence[str], request: MemorySearch
    ) -> list[Match]:
        vector = self._vector_search.embed(request.query)
        query = read_query(request.query, self._vector_search.weigh)

        def search(depth: int) -> tuple[list[Match], bool]:
            cosines, is_complete = self._find_candidates(spaces, vector, request.filters, depth)
            entries = self._read_entries(caller, list(cosines), request.filters)
            found = [_rank(query, entry, cosines[ref]) for ref, entry in entries.items()]
            return sorted(found, key=lambda each: (-each.score, each.entry.id)), is_complete

        best = self._vector_search.search_with_expansion(request.top_k, search)
        return [each for each in best if each.score >= request.min_score]

    def _find_candidates(
        self, spaces: Sequence[str], query: Vector, filters: Filters, depth: int
    ) -> tuple[dict[str, float], bool]:
        """Find the best of all spaces together, with the cosines of their meaning.

        Returns:
            The candidates by the ids of their entries, and whether there can be no others.
        """
        index, wanted = self._vector_search.index, _index_filters(filters)
        found = run_parallel(
            [partial(index.find_candidates, space, query, depth, wanted) for space in spaces]
        )
        by_meaning = list(chain.from_iterable(each.by_meaning for each in found))
        by_words = list(chain.from_iterable(each.by_words for each in found))
        best = [*nlargest(depth, by_meaning, _get_score), *nlargest(depth, by_words, _get_score)]
        is_complete = all(each.is_complete for each in found) and len(by_meaning) <= depth
        return {hit.ref: hit.cosine for hit in best}, is_complete

    def _read_entries(
        self, caller: Principal, ids: Sequence[str], filters: Filters
    ) -> dict[str, Entry]:
        """Read the candidates that exist, match the filters and may be read, by their id."""
        addresses = (entry_keys.parse_entry_id(caller.tenant, each) for each in ids)
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


def _get_score(hit: Hit) -> float:
    return hit.score


def _rank(query: Query, entry: Entry, cosine: float) -> Match:
    return Match(entry, *query.compare(cosine, extract_text(entry) or ""))


def _index_filters(filters: Filters) -> dict[str, str]:
    """Choose the filters that the index itself applies."""
    wanted = {"tier": filters.tier, "namespace": filters.namespace, "agent_id": filters.agent_id}
    return {name: value for name, value in wanted.items() if value is not None}
