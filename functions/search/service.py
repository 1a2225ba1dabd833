"""Search by meaning, under the access rules of queries (RFC-0015 §4.3; contract §8).

The index only proposes. What is shown is read from the table and has passed the checks of a query;
so the index may lag behind, but nothing that is gone, expired or barred ever shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from functions.entries.access import in_readable_tasks
from functions.entries.matching import matches
from functions.entries.model import ENCRYPTED, Entry, Filters
from functions.entries.query import Queries, assert_owner_known
from functions.entries.recency import Recency
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.clock import Clock
from functions.platform.parallel import side_by_side
from functions.platform.vector_keys import agent_space, namespace_space
from functions.search.model import Match
from functions.tasks.service import Tasks
from functions.vectors.depth import look_deeper
from functions.vectors.model import Hit, Meanings, Vector

if TYPE_CHECKING:
    from functions.search.requests import MemorySearch


class Search:
    """Finds entries by what they mean. What the caller may not read is never found."""

    def __init__(
        self,
        meanings: Meanings,
        store: EntryStore,
        queries: Queries,
        tasks: Tasks,
        recency: Recency,
        clock: Clock,
    ) -> None:
        self._index = meanings.index
        self._embed = meanings.embed
        self._store = store
        self._queries = queries
        self._tasks = tasks
        self._recency = recency
        self._clock = clock

    def find(self, caller: Principal, asked: MemorySearch) -> list[Match]:
        """The `top_k` entries most alike to the query, best first.

        Raises:
            ValidationFailed: the search needs an agent_id, as a query does (RFC-0015 §4.1).
        """
        filters = asked.filters
        assert_owner_known(caller, filters)
        spaces = self._spaces(caller, filters)
        if not spaces:
            return []
        found = self._best(caller, spaces, self._embed(asked.query), filters, asked.top_k)
        self._recency.note_all(caller, [match.entry for match in found])
        return found

    def _spaces(self, caller: Principal, filters: Filters) -> list[str]:
        """The spaces in which the caller may find something."""
        if filters.tier == "semantic":
            names = self._queries.readable_namespaces(caller, filters)
            return [namespace_space(caller.tenant, name) for name in names]
        owner = filters.agent_id or caller.id
        anothers = filters.tier == "episodic" and owner != caller.id
        if anothers and not self._tasks.oversees(caller, owner):
            return []
        return [agent_space(caller.tenant, owner)]

    def _best(
        self,
        caller: Principal,
        spaces: Sequence[str],
        query: Vector,
        filters: Filters,
        wanted: int,
    ) -> list[Match]:
        def look(depth: int) -> tuple[list[Match], bool]:
            hits, complete = self._ranked(spaces, query, filters, depth)
            return list(islice(self._shown(caller, hits, filters, wanted), wanted)), complete

        return look_deeper(wanted, self._index.most, look)

    def _ranked(
        self, spaces: Sequence[str], query: Vector, filters: Filters, depth: int
    ) -> tuple[list[Hit], bool]:
        """The best hits of all spaces together, and whether there can be no others.

        Where a space may hold more, what lies below the last that it gave has to wait.
        """
        equal = _equal(filters)
        lists = side_by_side(
            [partial(self._index.search, space, query, depth, equal) for space in spaces]
        )
        cut = [hits[-1].score for hits in lists if len(hits) == depth < self._index.most]
        horizon = max(cut, default=-2.0)
        hits = (hit for each in lists for hit in each if hit.score >= horizon)
        return sorted(hits, key=lambda hit: (-hit.score, hit.ref)), not cut

    def _shown(
        self, caller: Principal, hits: Iterable[Hit], filters: Filters, at_once: int
    ) -> Iterator[Match]:
        """The hits whose entries stand, match and may be read; read as far as is asked for."""
        remaining = iter(hits)
        while chunk := list(islice(remaining, at_once)):
            standing = self._standing(caller, chunk, filters)
            yield from (Match(standing[hit.ref], hit.score) for hit in chunk if hit.ref in standing)

    def _standing(
        self, caller: Principal, hits: Sequence[Hit], filters: Filters
    ) -> dict[str, Entry]:
        addresses = (keys.parse_entry_id(caller.tenant, hit.ref) for hit in hits)
        entries = self._store.get_many(slot.item for slot, _ in filter(None, addresses)).values()
        now = self._clock()
        fitting = [
            entry
            for entry in entries
            if matches(entry, filters, now) and entry.sensitivity not in ENCRYPTED
        ]
        if filters.tier == "working" and filters.agent_id not in (None, caller.id):
            fitting = in_readable_tasks(self._tasks, caller, fitting)
        return {entry.id: entry for entry in fitting}


def _equal(filters: Filters) -> dict[str, str]:
    """What the index itself filters by."""
    asked = {"tier": filters.tier, "namespace": filters.namespace, "agent_id": filters.agent_id}
    return {name: wanted for name, wanted in asked.items() if wanted is not None}
