"""Tell which writes a search finds: the index of entries follows the change stream.

Messages, facts and episodes are found immediately.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from functions.entries.filters import Filters
from functions.entries.query import Queries, begin_before
from functions.entries.tiers import POLICIES, SEMANTIC
from functions.entries.writer import EntryWriter
from functions.identity.model import Principal
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.limits import MAX_WAIT_SECONDS
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.search.requests import MemorySearch

_PAUSE = 0.1
_NEWEST = 25  # entries whose vectors are read together
_FIRST_STEP, _STEP_FACTOR = 1_000, 4  # ms; steps back of the search for an embedded entry


@dataclass(eq=False)
class Freshness:
    """Tells the lag of the index of entries, and waits for it."""

    _queries: Queries
    _writer: EntryWriter
    _indexer: EmbeddingIndexer | None
    _clock: Clock

    def get(
        self, caller: Principal, request: MemorySearch, *, is_awaited: bool
    ) -> tuple[int, list[str] | None]:
        """Find the time up to which a search of a tier is complete.

        Returns a time (epoch ms) before which all writes are found, and the namespaces of the
        search that the caller may read; None if they were not listed.

        Args:
            is_awaited: wait until the newest entries are found, but at most `MAX_WAIT_SECONDS`.
        """
        started = self._clock()
        if self._indexer is None or not POLICIES[request.memory_type].has_vectors:
            return started, None
        deadline = time.monotonic() + (MAX_WAIT_SECONDS if is_awaited else 0)
        filters, names = request.filters._replace(tags=frozenset()), None
        while True:
            if request.memory_type == SEMANTIC.name:
                names = self._queries.list_readable_namespaces(caller, filters)
            waiting = self._list_changed(self._indexer, caller, filters, names)
            oldest = self._find_oldest_unindexed(self._indexer, caller, filters, names)
            oldest = min(filter(None, (oldest, *waiting)), default=None)
            if oldest is None or oldest > started or time.monotonic() >= deadline:
                return started if oldest is None else min(oldest, started), names
            time.sleep(_PAUSE)

    def _list_changed(
        self,
        indexer: EmbeddingIndexer,
        caller: Principal,
        filters: Filters,
        names: Sequence[str] | None,
    ) -> list[int]:
        """List the times of this process's latest changes that have no vectors yet.

        The changed entries may be older than the newest ones, which are looked at besides.
        """
        owner = filters.agent_id or caller.id
        changed = [
            each
            for each in tuple(self._writer.changed)
            if each.address.tenant == caller.tenant
            and each.memory_type == filters.memory_type
            and (each.agent_id == owner if names is None else each.namespace in names)
        ]
        return [each.updated_at for each in indexer.select_unindexed(changed)]

    def _find_oldest_unindexed(
        self,
        indexer: EmbeddingIndexer,
        caller: Principal,
        filters: Filters,
        names: Sequence[str] | None,
    ) -> int | None:
        """Find a time before which all entries have vectors; None if the newest entries have them.

        Entries are embedded in the order of their writes. If the newest 25 have none, the search
        goes back a second, then 4, then 16, until it finds an entry with a vector.
        """
        oldest, after, step = None, None, _FIRST_STEP
        while True:
            wanted = WantedPage(_NEWEST, after=after)
            entries = self._queries.find_page(caller, filters, wanted, namespaces=names).elements
            waiting = indexer.select_unindexed(entries)
            if not waiting:
                newest = max((each.updated_at for each in entries), default=None)
                return oldest if oldest is None or newest is None else newest + 1
            oldest = min(each.updated_at for each in waiting)
            if len(waiting) < len(entries):
                return oldest
            after = begin_before(after, min(each.created_at for each in entries) - step)
            step *= _STEP_FACTOR
