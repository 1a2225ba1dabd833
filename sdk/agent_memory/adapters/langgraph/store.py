"""LangGraph's store: items as entries of the service."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from agent_memory import AsyncClient, Client, Entry
from agent_memory.adapters.langgraph.embedding import TextEmbedder, Vector, Vectors
from agent_memory.adapters.langgraph.filters import matches
from agent_memory.adapters.langgraph.items import Items, Value
from agent_memory.adapters.langgraph.listing import NOT_INDEXED, ItemListing
from agent_memory.adapters.langgraph.names import namespace_of
from agent_memory.adapters.langgraph.vectors import ItemVectors
from agent_memory.conversion import to_sync
from agent_memory.model import MemoryType


class AgentMemoryStore(BaseStore):
    """LangGraph's items as entries of the service.

    Items are private to the principal by default: `episodic` and pinned, so that none is ever
    evicted; a full memory raises `MemoryCapacityError`. With `memory_type="semantic"`, all
    principals with access to the namespaces share the items, and there is no limit.

    A put replaces the whole item, even another writer's, and an own entry of another tier. It
    never conflicts: the later of two concurrent puts is kept. `update` keeps both changes. With
    `strict`, a put or delete of an item that this store has read or written succeeds only if the
    item is unchanged, and a put of any other item only if there is none; else they raise
    `MemoryConflictError`. The threads of a store share the versions that it has read. If threads
    must not overwrite each other, give each its own store, or use `update`.

    Search returns the newest items first. With `query`, the 100 items of the nearest meaning come
    before them, best first, with their scores. The service embeds whole values within two seconds
    after a put. With `index`, your own embedding is used instead: an item has the vectors of its
    texts from its put on, and its score is the best of their cosines. No query ranks an item that
    was put with `index=False`.

    An item's time to live starts again at each write, and at each read unless `refresh_on_read` is
    false; such a read is a write to the service, with a new version. An expired item is hidden at
    once.

    Items have up to `memory.limits.value_bytes` of JSON, keys up to `key_characters`. A namespace
    has up to `namespace_characters` in all: each label counts its length and one, each `/` and `~`
    one more, and the root counts as a label.

    Args:
        client: calls as the principal; stays open.
        memory_type: `episodic`, `working` or `semantic`.
        root: the prefix of the names of all its namespaces in the service, before a slash.
        ttl: LangGraph's own configuration: `default_ttl` in minutes, `refresh_on_read`.
        strict: reject a put or delete of an item whose present version this store hasn't read.
        index: LangGraph's own configuration: `dims`, `embed` and `fields`. Vectors of one namespace
            always have the same length: use another root for another embedding.

    Raises:
        ValueError: raised when there is a slash in `root`, or `dims` is out of bounds.
        TypeError: raised when the client is no client of this package.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        memory_type: MemoryType = "episodic",
        root: str = "langgraph",
        ttl: TTLConfig | None = None,
        strict: bool = False,
        index: IndexConfig | None = None,
    ) -> None:
        client = to_sync(client)
        if "/" in root:
            raise ValueError("root must not contain a slash")
        self.ttl_config = ttl
        self._root = root
        self._items = Items(client, memory_type, strict=strict)
        self.index_config = index
        self._embedder = None if index is None else TextEmbedder(index)
        self._vectors = ItemVectors(Items(client, memory_type, strict=False), root)
        self._listing = ItemListing(self._items, root, self._vectors if self._embedder else None)

    @property
    def embeddings(self) -> Embeddings | None:
        """The embedder of the vectors; None without `index`."""
        return None if self._embedder is None else self._embedder.embeddings

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: the reads first, then the last put of each item, one by one.

        Raises:
            AgentMemoryError: one failed; the operations before it are done.
            ValueError: there is no such operation or operator, or a namespace is too long.
        """
        listed = list(ops)
        return self._carry_out(
            listed, self._embedder.embed(listed) if self._embedder else Vectors()
        )

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations as `batch` does, in a thread, so that any event loop can call it.

        A cancelled call may still be carried out.
        """
        listed = list(ops)
        vectors = await self._embedder.aembed(listed) if self._embedder else Vectors()
        return await asyncio.to_thread(self._carry_out, listed, vectors)

    def _carry_out(self, ops: list[Op], vectors: Vectors) -> list[Result]:
        puts = {
            (op.namespace, op.key): (op, namespace_of(self._root, op.namespace), _duration(op.ttl))
            for op in ops
            if isinstance(op, PutOp)
        }
        results = [self._read(op, vectors) for op in ops]
        for op, namespace, ttl in puts.values():
            if op.value is None:
                self._delete(op, namespace)
            else:
                self._put(op, namespace, dict(op.value), ttl, self._select_vectors(op, vectors))
        return results

    def _delete(self, op: PutOp, namespace: str) -> None:
        self._items.delete(namespace, op.key)
        if self._embedder is not None:
            self._vectors.remove(op.namespace, op.key)

    def _put(
        self, op: PutOp, namespace: str, value: Value, ttl: str | None, vectors: list[Vector]
    ) -> None:
        tags = self._vectors.put(op.namespace, op.key, value, ttl, vectors)
        if op.index is False and self._embedder is None:
            tags = [NOT_INDEXED]
        first = vectors[0] if vectors else None
        self._items.put(namespace, op.key, value, ttl, vector=first, tags=tags)
        if self._embedder is not None and self._embedder.may_have_several(op):
            self._vectors.remove(op.namespace, op.key, max(len(vectors), 1))

    def _select_vectors(self, op: PutOp, vectors: Vectors) -> list[Vector]:
        texts = [] if self._embedder is None else self._embedder.extract_texts(op)
        return [vectors.documents[text] for text in texts if text in vectors.documents]

    def update(
        self,
        namespace: tuple[str, ...],
        key: str,
        fn: Callable[[Value], Value],
        *,
        initial: Value | None = None,
    ) -> Item:
        """Replace an item's value by `fn(value)`, without losing others' changes.

        After another writer's change, `fn` is called again with the newer value.

        Args:
            initial: the argument of `fn` if there is no item; the item is created.

        Raises:
            MemoryNotFoundError: there is no item, and no `initial`.
            MemoryConflictError: others were faster each time.
        """
        entry = self._update(namespace, key, fn, initial)
        op = PutOp(namespace, key, entry.value)
        vectors = self._embedder.embed([op]) if self._embedder else Vectors()
        return self._add_vectors(op, entry, vectors)

    async def aupdate(
        self,
        namespace: tuple[str, ...],
        key: str,
        fn: Callable[[Value], Value],
        *,
        initial: Value | None = None,
    ) -> Item:
        """Update as `update` does, in a thread, which also calls `fn`."""
        entry = await asyncio.to_thread(self._update, namespace, key, fn, initial)
        op = PutOp(namespace, key, entry.value)
        vectors = await self._embedder.aembed([op]) if self._embedder else Vectors()
        return await asyncio.to_thread(self._add_vectors, op, entry, vectors)

    def _update(
        self,
        namespace: tuple[str, ...],
        key: str,
        fn: Callable[[Value], Value],
        initial: Value | None,
    ) -> Entry:
        name = namespace_of(self._root, namespace)
        ttl = _duration((self.ttl_config or {}).get("default_ttl"))
        keeps_tags = self._embedder is None
        return self._items.update(name, key, fn, initial, ttl, keeps_tags=keeps_tags)

    def _add_vectors(self, op: PutOp, entry: Entry, vectors: Vectors) -> Item:
        """Add the vectors to an updated item, unless another writer has changed it."""
        own = self._select_vectors(op, vectors)
        if own:
            tags = self._vectors.put(op.namespace, op.key, entry.value, entry.ttl, own)
            entry = self._items.add_vector(entry, own[0], tags)
        return Item(**_fields(op.namespace, entry))

    def _read(self, op: Op, vectors: Vectors) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return list(self._search(op, vectors.queries.get(op.query or "")))
            case ListNamespacesOp():
                return self._listing.list_namespaces(op)
            case PutOp():
                return None
        raise ValueError(f"there is no operation {type(op).__name__}")

    def _get(self, op: GetOp) -> Item | None:
        entry = self._items.get(namespace_of(self._root, op.namespace), op.key)
        if entry is None:
            return None
        return Item(**_fields(op.namespace, self._refresh(op.namespace, entry, op.refresh_ttl)))

    def _refresh(self, labels: tuple[str, ...], entry: Entry, refresh_ttl: bool) -> Entry:
        """Return the entry; with `refresh_ttl`, its time to live starts again."""
        if refresh_ttl and entry.ttl is not None:
            self._vectors.refresh(labels, entry)
        return self._items.read(entry, refresh=refresh_ttl)

    def _search(self, op: SearchOp, vector: Vector | None) -> Iterator[SearchItem]:
        ranked = self._listing.rank(op, vector)
        found = (each for each in ranked if matches(each[1].value, op.filter or {}))
        for labels, entry, score in islice(found, op.offset, op.offset + op.limit):
            read = self._refresh(labels, entry, op.refresh_ttl)
            yield SearchItem(**_fields(labels, read), score=score)


def _duration(minutes: float | None) -> str | None:
    """Return a time to live in the form of the service (RFC-0015 §1.1).

    Raises:
        ValueError: raised when it is not a finite number above 0.
    """
    if minutes is None:
        return None
    if not 0 < minutes < float("inf"):
        raise ValueError("a time to live must be a number of minutes above 0")
    return f"duration:PT{minutes:.6f}M"


def _fields(labels: tuple[str, ...], entry: Entry) -> dict[str, Any]:
    return {
        "namespace": labels,
        "key": entry.key,
        "value": entry.value,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
    }
