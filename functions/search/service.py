"""Similarity search under the access rules of queries (RFC-0015 §4.3).

A search is by words, by a client's vector, or by both. The vector index finds candidates; in a tier
without stored vectors, all of an agent's newest entries are candidates. Each candidate of an index
is read again from the table and checked as in a query. So the index may lag behind, but a deleted,
expired or restricted entry is never found.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from itertools import chain
from operator import attrgetter

from functions.authorization.rules import inspects
from functions.entries.authority import assert_owner_known
from functions.entries.capacity import AccessTracker
from functions.entries.filters import Filters, select_matching
from functions.entries.model import Entry
from functions.entries.query import Queries
from functions.entries.store import EntryStore
from functions.entries.tiers import EPISODIC, POLICIES, SEMANTIC, WORKING
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.platform import entry_keys, item_types
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock
from functions.platform.errors import ValidationFailed
from functions.platform.json_text import loads
from functions.platform.limits import MAX_RESULTS, MAX_SEARCHED_ENTRIES
from functions.platform.parallel import run_parallel
from functions.platform.sensitivity import ENCRYPTED
from functions.search.embedding_indexer import FILTERS, extract_text
from functions.search.requests import MemorySearch
from functions.tasks.access import TaskAccess
from functions.vectors.client_vector_store import ClientVectorStore, count_numbers, pack_vector
from functions.vectors.held_texts import HeldTexts, Text
from functions.vectors.hybrid import Found, Query, VectorSearch, read_query
from functions.vectors.model import (
    Candidates,
    Embedding,
    add_statistics,
    search_with_expansion,
)

Accept = Callable[[Entry], bool]
"""True if a search may return an entry."""


@dataclass(eq=False)
class Search:
    """Finds the best entries for a text, among those that the caller may read."""

    _vector_search: VectorSearch
    _held_texts: HeldTexts
    _store: EntryStore
    _queries: Queries
    _tasks: TaskAccess
    _namespaces: Namespaces
    _client_vectors: ClientVectorStore
    _access_tracker: AccessTracker
    _clock: Clock

    def search(
        self,
        caller: Principal,
        request: MemorySearch,
        *,
        is_touched: bool = True,
        accept: Accept = lambda _: True,
        namespaces: Sequence[str] | None = None,
    ) -> list[Found[Entry]]:
        """Find the `top_k` best entries for a query by meaning, words and ids, best first.

        Args:
            is_touched: whether the owner's reads count for the order of eviction.
            accept: selects the entries that may be returned.
            namespaces: the readable namespaces to search; None to list them.

        Raises:
            ValidationFailed: the search needs an agent_id, as a query does (RFC-0015 §4.1), or a
                namespace; neither query nor vector is given; the vector's dimensions differ from
                the namespace's; a field isn't declared.
            Unavailable: the query has words, and no embedding model is installed, or it doesn't
                answer.
        """
        _assert_complete(request)
        filters = request.filters
        assert_owner_known(caller, filters)
        spaces = self._readable_spaces(caller, request, namespaces)
        if not spaces:
            return []
        found = self._find_matches(caller, spaces, request, accept)
        if is_touched:
            self._access_tracker.record_reads(caller, [each.element for each in found])
        return found

    def _readable_spaces(
        self, caller: Principal, request: MemorySearch, namespaces: Sequence[str] | None
    ) -> list[str]:
        filters = request.filters
        if filters.memory_type == SEMANTIC.name:
            names = namespaces
            if names is None:
                names = self._queries.list_readable_namespaces(caller, filters)
            build = item_types.NAMESPACE_VECTOR.build_partition
            return [build(caller.tenant, namespace=name) for name in names]
        owner = filters.agent_id or caller.id
        may_read = True
        if owner != caller.id and not inspects(caller):
            if filters.memory_type == EPISODIC.name:
                may_read = self._tasks.coordinates_agent(caller, owner)
            elif request.vector is not None:  # a query in words checks access at its reads
                may_read = bool(self._tasks.list_readable_of(caller, owner))
        space = item_types.AGENT_VECTOR.build_partition(caller.tenant, agent=owner)
        return [space] if may_read else []

    def _find_matches(
        self, caller: Principal, spaces: Sequence[str], request: MemorySearch, accept: Accept
    ) -> list[Found[Entry]]:
        if request.fields:
            self._assert_declared(caller, request)
        if request.query is None:
            best = self._find_by_vector(caller, request, accept)
        elif request.vector is not None:
            best = self._find_by_both(caller, spaces, request, accept)
        else:
            best = self._find_by_text(caller, spaces, request, accept)
        return [each for each in best if each.score >= request.min_score]

    def _assert_declared(self, caller: Principal, request: MemorySearch) -> None:
        configured = self._namespaces.find(caller, request.namespace or "").configured
        declared = () if configured is None else configured.search_fields
        for name in request.fields:
            if name not in declared:
                raise ValidationFailed(
                    f"fields.{name}", "must be a declared search field of the namespace"
                )

    def _find_by_text(
        self, caller: Principal, spaces: Sequence[str], request: MemorySearch, accept: Accept
    ) -> list[Found[Entry]]:
        text = request.query or ""
        embedding = self._vector_search.embed_query(text)
        query = read_query(text)
        if not POLICIES[request.memory_type].has_vectors:
            return self._rank_newest(caller, request, accept, query, embedding)

        def search(depth: int) -> tuple[list[Found[Entry]], bool]:
            found = self._find_candidates(spaces, embedding, request.filters, depth)
            present = self._read_entries(caller, found.cosines)
            entries = self._select_readable(caller, present, request, accept)
            asked = query.use_statistics(found.statistics)
            return _rank(asked, entries, found.cosines), found.is_complete

        return search_with_expansion(request.top_k, self._vector_search.index.max_results, search)

    def _rank_newest(
        self,
        caller: Principal,
        request: MemorySearch,
        accept: Accept,
        query: Query,
        embedding: Embedding,
    ) -> list[Found[Entry]]:
        page = self._queries.find_page(caller, request.filters, WantedPage(MAX_SEARCHED_ENTRIES))
        entries = self._select_matching(page.elements, request, accept)
        texts = [
            Text(each.id, each.version, text)
            for each in entries
            if (text := extract_text(each)) is not None
        ]
        owner = request.filters.agent_id or caller.id
        space = item_types.AGENT_VECTOR.build_partition(caller.tenant, agent=owner)
        found = self._held_texts.find(space, texts, embedding)
        ranked = [each for each in entries if each.id in found.cosines]
        asked = query.use_statistics(found.statistics)
        return _rank(asked, ranked, found.cosines)[: request.top_k]

    def _find_by_vector(
        self, caller: Principal, request: MemorySearch, accept: Accept
    ) -> list[Found[Entry]]:
        owner, policy = request.agent_id or caller.id, POLICIES[request.memory_type]
        address = policy.build_address(caller.tenant, owner, request.namespace or "", "")
        partition = address.client_vectors
        length = self._client_vectors.get_length(partition)
        if length is None:
            return []
        packed = pack_vector(request.vector or ())
        if length != count_numbers(packed):
            raise ValidationFailed(
                "vector", f"must have {length} numbers, as the other vectors of this namespace"
            )

        def search(depth: int) -> tuple[list[Found[Entry]], bool]:
            found = self._client_vectors.find_candidates(partition, packed, depth)
            hits = {hit.ref: hit for hit in found.by_meaning}
            present = self._read_entries(caller, hits)
            current = {
                ref: entry for ref, entry in present.items() if entry.vector_at == hits[ref].written
            }
            gone = (hit for ref, hit in hits.items() if ref not in current)
            self._client_vectors.forget(partition, gone)
            entries = self._select_readable(caller, current, request, accept)
            scores = {ref: min(round(hit.score, 4), 1.0) for ref, hit in hits.items()}
            return [Found(each, scores[each.id], [], {}) for each in entries], found.is_complete

        return search_with_expansion(request.top_k, self._client_vectors.max_results, search)

    def _find_by_both(
        self, caller: Principal, spaces: Sequence[str], request: MemorySearch, accept: Accept
    ) -> list[Found[Entry]]:
        """Rank by the caller's vector and by words; the vector replaces the query's meaning.

        An entry found by words alone gets the lowest similarity of those found by the vector.
        """
        widest = request.model_copy(update={"top_k": MAX_RESULTS})
        nearest = self._find_by_vector(caller, widest, accept)
        cosines = {each.element.id: each.score for each in nearest}
        embedding = self._vector_search.embed_query(request.query or "")
        found = self._find_candidates(spaces, embedding, request.filters, MAX_RESULTS)
        others = self._read_entries(
            caller, (hit.ref for hit in found.by_words if hit.ref not in cosines)
        )
        entries = [each.element for each in nearest]
        entries += self._select_readable(caller, others, request, accept)
        least = min(cosines.values(), default=0.0)
        asked = read_query(request.query or "").use_statistics(found.statistics)
        cosines = {each.id: cosines.get(each.id, least) for each in entries}
        return _rank(asked, entries, cosines)[: request.top_k]

    def _find_candidates(
        self, spaces: Sequence[str], query: Embedding, filters: Filters, depth: int
    ) -> Candidates:
        """Find the best entries of all partitions together, by their ids."""
        index = self._vector_search.index
        wanted = {name: value for name in FILTERS if (value := getattr(filters, name)) is not None}
        found = run_parallel(
            [partial(index.find_candidates, space, query, depth, wanted) for space in spaces]
        )
        by_meaning = list(chain.from_iterable(each.by_meaning for each in found))
        by_words = list(chain.from_iterable(each.by_words for each in found))
        known = [each.statistics for each in found if each.statistics is not None]
        return Candidates(
            nlargest(depth, by_meaning, attrgetter("score")),
            nlargest(depth, by_words, attrgetter("score")),
            all(each.is_complete for each in found) and len(by_meaning) <= depth,
            add_statistics(known) if known else None,
        )

    def _read_entries(self, caller: Principal, ids: Iterable[str]) -> dict[str, Entry]:
        """Read the existing candidates by their ids, in order."""
        wanted = dict.fromkeys(ids)
        keys = entry_keys.parse_item_keys(caller.tenant, wanted)
        found = {entry.id: entry for entry in self._store.get_many(keys).values()}
        return {each: found[each] for each in wanted if each in found}

    def _select_readable(
        self, caller: Principal, entries: Mapping[str, Entry], request: MemorySearch, accept: Accept
    ) -> list[Entry]:
        filters = request.filters
        matching = self._select_matching(entries.values(), request, accept)
        is_anothers = filters.agent_id not in (None, caller.id)
        if filters.memory_type == WORKING.name and is_anothers and not inspects(caller):
            readable = self._tasks.list_readable_of(caller, str(filters.agent_id))
            matching = [each for each in matching if each.task_id in readable]
        return matching

    def _select_matching(
        self, entries: Iterable[Entry], request: MemorySearch, accept: Accept
    ) -> list[Entry]:
        return [
            entry
            for entry in select_matching(entries, request.filters, self._clock())
            if entry.sensitivity not in ENCRYPTED
            and matches_fields(entry, request.fields)
            and accept(entry)
        ]


def _assert_complete(request: MemorySearch) -> None:
    """Check that a search has a query or a vector, and a namespace if it needs one."""
    if request.query is None and request.vector is None:
        raise ValidationFailed("query", "is required unless vector is given")
    is_one = request.namespace is not None and not request.namespace.endswith("*")
    if not is_one and (request.vector is not None or request.fields):
        raise ValidationFailed(
            "namespace",
            "must be one namespace, because `vector` and `fields` belong to a namespace",
        )


def matches_fields(entry: Entry, fields: Mapping[str, object]) -> bool:
    """Tell whether a value has all of these fields at its top level; true is not 1."""
    if not fields:
        return True
    if entry.unreadable:
        return False
    value = loads(entry.value)
    return all(
        name in value
        and value[name] == wanted
        and isinstance(value[name], bool) == isinstance(wanted, bool)
        for name, wanted in fields.items()
    )


def _rank(
    query: Query, entries: Iterable[Entry], cosines: Mapping[str, float]
) -> list[Found[Entry]]:
    found = [
        Found(each, *query.compare(cosines[each.id], extract_text(each) or "")) for each in entries
    ]
    return sorted(found, key=lambda each: (-each.score, each.element.id))
