"""The items of a search or a list of namespaces, in order."""

from collections.abc import Iterable, Iterator

from langgraph.store.base import ListNamespacesOp, SearchOp

from agent_memory import Entry
from agent_memory.adapters.langgraph.embedding import Vector
from agent_memory.adapters.langgraph.items import MOST_RANKED, Items
from agent_memory.adapters.langgraph.names import common_prefix, fits, labels_of, prefix_of
from agent_memory.adapters.langgraph.vectors import ItemVectors
from agent_memory.adapters.searching import to_query

NOT_INDEXED = "not-indexed"
"""The tag of items that were put with `index=False`: no query ranks them."""
_PAGE, _MOST_IN_PAGE = 100, 1000

Ranked = tuple[tuple[str, ...], Entry, float | None]


class ItemListing:
    """Lists the items of a store.

    Args:
        root: the prefix of the names of all namespaces.
        vectors: rank items; None: the service ranks, by meaning and words.
    """

    def __init__(self, items: Items, root: str, vectors: ItemVectors | None) -> None:
        self._items = items
        self._root = root
        self._vectors = vectors

    def rank(self, op: SearchOp, vector: Vector | None) -> Iterator[Ranked]:
        """Yield the best items for the query, then all others, newest first."""
        end = op.offset + op.limit
        page = _PAGE if op.filter else max(1, min(end, _MOST_IN_PAGE))
        alike: set[str] = set()
        query = to_query(op.query)
        if query and end:
            for labels, entry, score in self._find_alike(op, query, vector, min(page, MOST_RANKED)):
                alike.add(entry.id)
                yield labels, entry, score
        for labels, entry in self._under(op.namespace_prefix, page):
            if entry.id not in alike:
                yield labels, entry, None

    def _find_alike(
        self, op: SearchOp, query: str, vector: Vector | None, most: int
    ) -> Iterator[Ranked]:
        """Yield ranked items: by the client's vectors, or else by the service."""
        if self._vectors is not None:
            if vector is not None:
                yield from self._vectors.search(op.namespace_prefix, vector)
            return
        prefix = prefix_of(self._root, op.namespace_prefix)
        for each in self._items.search(prefix, query, most=most):
            labels = labels_of(self._root, each.entry.namespace)
            if labels is not None and NOT_INDEXED not in each.entry.tags:
                yield labels, each.entry, each.score

    def list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        """Read all possible items: the service doesn't list private namespaces."""
        conditions = op.match_conditions or ()
        items = self._under(common_prefix(conditions), _MOST_IN_PAGE)
        fitting = {labels for labels, _ in items if fits(labels, conditions)}
        cut = sorted({labels[: op.max_depth] for labels in fitting})
        return cut[op.offset : op.offset + op.limit]

    def _under(self, labels: Iterable[str], page: int) -> Iterator[tuple[tuple[str, ...], Entry]]:
        """Yield the items of all namespaces that begin with these labels, and their own labels."""
        for entry in self._items.query(prefix_of(self._root, labels), page):
            found = labels_of(self._root, entry.namespace)
            if found is not None:
                yield found, entry
