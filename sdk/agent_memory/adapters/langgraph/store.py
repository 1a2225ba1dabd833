"""LangGraph's store and checkpointer on the service (extra `langgraph`).

```python
client = Client(api_key="am_...")
graph = builder.compile(checkpointer=AgentMemorySaver(client), store=AgentMemoryStore(client))
```
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from agent_memory import Client, Entry
from agent_memory.adapters.clients import assert_client
from agent_memory.adapters.filters import matches
from agent_memory.adapters.items import MOST_RANKED, Items, Value
from agent_memory.adapters.langgraph_saver import AgentMemorySaver
from agent_memory.adapters.names import common_prefix, fits, labels_of, namespace_of, prefix_of
from agent_memory.model import MemoryType

__all__ = ["AgentMemorySaver", "AgentMemoryStore"]

_PAGE, _MOST_IN_PAGE = 100, 1000


class AgentMemoryStore(BaseStore):
    """LangGraph's items as entries of the service.

    Items are the principal's own by default: `episodic` and pinned, so that none is ever evicted;
    a full memory raises `MemoryCapacityError`. With `memory_type="semantic"` all who have access to
    the namespaces share them, without bound.

    A put replaces what stands there, whoever wrote it, whole, and an own entry of another tier as
    well. It never conflicts: of two at the same time, the later one stands. `update` loses none of
    them. With `strict`, a put or delete of an item that this store has read or written meets only
    that very state of it, and a put of any other item only an empty place; else they raise
    `MemoryConflictError`. What a store knows, it knows for all its threads: give those that shall
    not overwrite one another a store each, or use `update`.

    Search gives the newest items first. With `query`, the 100 most alike in meaning come before
    them, best first and with their scores. The service embeds whole values within a second or two
    of a put; `index` is ignored. An item's time to live counts anew at each write, and at each read
    unless `refresh_on_read` is false; such a read is a write to the service, a new version. Time
    that is over hides an item at once.

    Items have up to 65,536 bytes of JSON, keys 1 to 255 characters. Namespaces have up to 255 all
    in all: each label takes its length and one, each `/` and `~` one more, the root as a label.

    Args:
        client: calls as the principal; stays open.
        memory_type: `episodic`, `working` or `semantic`.
        root: what the names of all its namespaces in the service begin with, before a slash.
        ttl: LangGraph's own configuration: `default_ttl` in minutes, `refresh_on_read`.
        strict: whether a put or delete may only meet what this store knows.

    Raises:
        ValueError: raised when there is a slash in `root`.
        TypeError: raised when the client isn't a `Client`.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client,
        *,
        memory_type: MemoryType = "episodic",
        root: str = "langgraph",
        ttl: TTLConfig | None = None,
        strict: bool = False,
    ) -> None:
        assert_client(client, Client)
        if "/" in root:
            raise ValueError("root holds no slash: one ends it")
        self.ttl_config = ttl
        self._root = root
        self._items = Items(client, memory_type, strict=strict)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: the reads first, then the last put of each item, one by one.

        Raises:
            AgentMemoryError: one failed; what came before it stands.
            ValueError: there is no such operation or operator, or a namespace is too long.
        """
        listed = list(ops)
        puts = dict(self._placed(op) for op in listed if isinstance(op, PutOp))
        results = [self._read(op) for op in listed]
        for (namespace, key), (value, ttl) in puts.items():
            if value is None:
                self._items.delete(namespace, key)
            else:
                self._items.put(namespace, key, value, ttl)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations as `batch` does, in a thread, so that any event loop can call it.

        One that is cancelled may still be carried out.
        """
        return await asyncio.to_thread(self.batch, list(ops))

    def update(
        self,
        namespace: tuple[str, ...],
        key: str,
        fn: Callable[[Value], Value],
        *,
        initial: Value | None = None,
    ) -> Item:
        """Put `fn(value)` in place of an item's value, and lose nothing that others put.

        `fn` may be called more than once: again, on the newer value, when somebody was faster.

        Args:
            initial: what `fn` is given if there is no item, which is then created.

        Raises:
            MemoryNotFoundError: there is no item, and no `initial`.
            MemoryConflictError: others were faster each time.
        """
        name = namespace_of(self._root, namespace)
        ttl = _duration((self.ttl_config or {}).get("default_ttl"))
        return Item(**_fields(namespace, self._items.update(name, key, fn, initial, ttl)))

    async def aupdate(
        self,
        namespace: tuple[str, ...],
        key: str,
        fn: Callable[[Value], Value],
        *,
        initial: Value | None = None,
    ) -> Item:
        """Update as `update` does, in a thread, in which `fn` is called as well."""
        return await asyncio.to_thread(self.update, namespace, key, fn, initial=initial)

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return list(self._search(op))
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise ValueError(f"there is no operation {type(op).__name__}")

    def _get(self, op: GetOp) -> Item | None:
        entry = self._items.get(namespace_of(self._root, op.namespace), op.key)
        if entry is None:
            return None
        return Item(**_fields(op.namespace, self._items.read(entry, refresh=op.refresh_ttl)))

    def _search(self, op: SearchOp) -> Iterator[SearchItem]:
        found = (each for each in self._ranked(op) if matches(each[1].value, op.filter or {}))
        for labels, entry, score in islice(found, op.offset, op.offset + op.limit):
            read = self._items.read(entry, refresh=op.refresh_ttl)
            yield SearchItem(**_fields(labels, read), score=score)

    def _ranked(self, op: SearchOp) -> Iterator[tuple[tuple[str, ...], Entry, float | None]]:
        """Yield what is most alike to the query, then everything else, the newest first."""
        end = op.offset + op.limit
        page = _PAGE if op.filter else max(1, min(end, _MOST_IN_PAGE))
        alike: set[str] = set()
        if op.query and end:
            prefix = prefix_of(self._root, op.namespace_prefix)
            for each in self._items.search(op.query, prefix, min(page, MOST_RANKED)):
                labels = labels_of(self._root, each.entry.namespace)
                if labels is not None:
                    alike.add(each.entry.id)
                    yield labels, each.entry, each.score
        for labels, entry in self._under(op.namespace_prefix, page):
            if entry.id not in alike:
                yield labels, entry, None

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        """Read all items that may be meant: the service doesn't list private namespaces."""
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

    def _placed(self, op: PutOp) -> tuple[tuple[str, str], tuple[Value | None, str | None]]:
        value = None if op.value is None else dict(op.value)
        return (namespace_of(self._root, op.namespace), op.key), (value, _duration(op.ttl))


def _duration(minutes: float | None) -> str | None:
    """Return a time to live as the service has it (RFC-0015 §1.1).

    Raises:
        ValueError: raised when it is not a finite number above 0.
    """
    if minutes is None:
        return None
    if not 0 < minutes < float("inf"):
        raise ValueError("a time to live is a number of minutes above 0")
    return f"duration:PT{minutes:.6f}M"


def _fields(labels: tuple[str, ...], entry: Entry) -> dict[str, Any]:
    return {
        "namespace": labels,
        "key": entry.key,
        "value": entry.value,
        "created_at": datetime.fromisoformat(entry.created_at),
        "updated_at": datetime.fromisoformat(entry.updated_at),
    }
