"""The vectors of items: the first on the item's own entry, others on further entries.

An entry has one vector, and a search by vector covers one namespace. So a namespace with vectors is
marked, for searches by prefix. An item with several texts has an entry for each text except the
first, in a further namespace. These entries and the item have one digest, so that entries of a
replaced value aren't found.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_memory import Entry
from agent_memory.adapters.hashing import hash_id
from agent_memory.adapters.langgraph.embedding import Vector
from agent_memory.adapters.langgraph.items import Items
from agent_memory.adapters.langgraph.names import labels_of, namespace_of, prefix_of
from agent_memory.adapters.parallel import Parallel
from agent_memory.model import SearchResult

_MARK = "namespace"  # the tag of the entries that mark namespaces
_PAGE = 1000

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Hit:
    """A vector near a query: an item's own, or of another text of the item `key`."""

    labels: Labels
    key: str
    score: float
    entry: Entry | None = None
    digest: str = ""


class ItemVectors:
    """Writes and searches the vectors of one store's items."""

    def __init__(self, items: Items, root: str) -> None:
        self._items = items
        self._root = root
        self._beside = f"{root}~"
        self._parallel = Parallel()
        self._marked: dict[tuple[Labels, str], None] = {}

    def put(
        self,
        labels: Labels,
        key: str,
        value: Mapping[str, Any],
        ttl: str | None,
        vectors: Sequence[Vector],
    ) -> list[str]:
        """Write all vectors of an item except the first; return the tags for its entry."""
        if vectors:
            self._mark(labels, self._root)
        if len(vectors) < 2:
            return []
        self._mark(labels, self._beside)
        digest = _compute_digest(value)
        namespace = namespace_of(self._beside, labels)

        def write(number: int) -> None:
            self._items.put(
                namespace,
                f"{hash_id(key)}:{number}",
                {"key": key, "digest": digest},
                ttl,
                vector=vectors[number],
                tags=[_build_tag(key)],
            )

        self._parallel.run(write, range(1, len(vectors)))
        return [f"texts:{digest}"]

    def remove(self, labels: Labels, key: str, first: int = 1) -> None:
        """Remove the vectors of an item's texts, from this number on."""
        obsolete = [
            entry for entry in self._find(labels, key) if int(entry.key.split(":")[1]) >= first
        ]
        self._parallel.run(self._items.remove, obsolete)

    def refresh(self, labels: Labels, entry: Entry) -> None:
        """Restart the time to live of an item's other texts."""
        if any(tag.startswith("texts:") for tag in entry.tags):
            found = self._find(labels, entry.key)
            self._parallel.run(lambda each: self._items.read(each, refresh=True), found)

    def search(self, labels: Labels, query: Vector) -> Iterator[tuple[Labels, Entry, float]]:
        """Yield the items under these labels with the nearest vectors, each once, with cosines."""
        searched = self._parallel.run(lambda each: self._search(*each, query), self._list(labels))
        hits = sorted((hit for found in searched for hit in found), key=lambda each: -each.score)
        entries = {(hit.labels, hit.key): hit.entry for hit in hits if hit.entry is not None}
        seen: set[tuple[Labels, str]] = set()
        for hit in hits:
            place = (hit.labels, hit.key)
            if place in seen:
                continue
            entry = entries.get(place) or self._items.get(
                namespace_of(self._root, hit.labels), hit.key
            )
            if entry is not None and (hit.entry is entry or f"texts:{hit.digest}" in entry.tags):
                seen.add(place)
                yield hit.labels, entry, hit.score

    def _search(self, labels: Labels, root: str, query: Vector) -> list[_Hit]:
        found = self._items.search(namespace_of(root, labels), vector=query)
        return [_to_hit(labels, each, is_item=root == self._root) for each in found]

    def _find(self, labels: Labels, key: str) -> list[Entry]:
        """Find the entries of an item's other texts."""
        namespace = namespace_of(self._beside, labels)
        return [*self._items.query(namespace, _PAGE, tags=[_build_tag(key)])]

    def _mark(self, labels: Labels, root: str) -> None:
        """Record that there are vectors under these labels; once for this object."""
        if (labels, root) not in self._marked:
            name = "items" if root == self._root else "texts"
            namespace = namespace_of(self._beside, labels)
            self._items.put(namespace, name, {}, None, tags=[_MARK])
            self._marked[labels, root] = None

    def _list(self, labels: Labels) -> Iterable[tuple[Labels, str]]:
        """List the namespaces with vectors that begin with these labels."""
        known = [each for each in [*self._marked] if each[0][: len(labels)] == labels]
        found = dict.fromkeys(known)
        for entry in self._items.query(prefix_of(self._beside, labels), _PAGE, tags=[_MARK]):
            named = labels_of(self._beside, entry.namespace)
            if named is not None:
                found[named, self._root if entry.key == "items" else self._beside] = None
        return found


def _to_hit(labels: Labels, found: SearchResult, *, is_item: bool) -> _Hit:
    entry, score = found.entry, found.score
    if is_item:
        return _Hit(labels, entry.key, score, entry)
    return _Hit(labels, str(entry.value["key"]), score, digest=str(entry.value["digest"]))


def _build_tag(key: str) -> str:
    return f"item:{hash_id(key)}"


def _compute_digest(value: Mapping[str, Any]) -> str:
    return hash_id(json.dumps(value, sort_keys=True, ensure_ascii=False))
