"""What search by meaning costs: the vector that a write makes later on, and each kind of search."""

from collections.abc import Iterator
from typing import Any

from benchmarks.capacity import Call, recorded
from benchmarks.inprocess import Function
from benchmarks.memories import Measured
from functions.entries.mapper import EntryMapper
from functions.platform import entry_keys
from functions.platform.clock import now_ms
from functions.platform.table import Table
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.vectors.factory import DEFAULT_EMBED
from functions.vectors.in_memory_vectors import float16_format
from functions.vectors.store import VectorStore
from functions.vectors.wordllama import MODEL

_HELD = 100
_MEMORY = "/api/v1/memory"
_ENTRY = {"namespace": "n", "memory_type": "episodic", "value": {"text": "a green tea " * 80}}

_WORKING = {"memory_type": "working"}


def operations(function: Function, key: str) -> Iterator[Measured]:
    """Every operation. Raises `RequestError`."""
    agent = {"id": "searcher", "kind": "agent"}
    made = function.call("POST", "/api/v1/principals", key, agent).body
    own = made["api_key"]
    for number in range(_HELD):
        calls = _embedded(function, made["tenant"], own, f"k{number}")
    yield "embed an entry, off the write path", (1, 1, 0), calls
    yield f"search {_HELD} episodic, the first time", (3, 0, 57), _search(function, own)
    yield f"search {_HELD} episodic, again", (3, 0, 38), _search(function, own)
    _embedded(function, made["tenant"], own, "new")
    yield f"search {_HELD} episodic, after a write", (4, 0, 39), _search(function, own)
    calls = _embedded_again(function, made["tenant"], own, "k0")
    yield "embed an entry again", (1, 1, 0), calls
    for number in range(_HELD):
        function.call("POST", _MEMORY, own, _ENTRY | {"key": f"w{number}"} | _WORKING)
    yield f"search {_HELD} working", (2, 0, 104), _search(function, own, **_WORKING)


def _embedded(function: Function, tenant: str, key: str, name: str, **changes: str) -> list[Call]:
    """Create an entry and has its vector follow, as the stream function does."""
    created: Any = function.call("POST", _MEMORY, key, _ENTRY | {"key": name} | changes).body
    table = Table(function.client, "memory")
    address = entry_keys.parse_entry_id(tenant, created["id"])
    item = address and table.get(address[0].item_key)
    store = VectorStore(table, now_ms, float16_format(MODEL))
    with recorded(function.client) as calls:
        EmbeddingIndexer(store, DEFAULT_EMBED).index_change(
            None, EntryMapper(None).to_entry(item or {})
        )
    return calls


def _embedded_again(function: Function, tenant: str, key: str, name: str) -> list[Call]:
    """Change an entry's words and has its vector follow."""
    target = f"{_MEMORY}?agent_id=searcher&namespace=n&key={name}"
    (found,) = function.call("GET", target, key).body["entries"]
    address = entry_keys.parse_entry_id(tenant, found["id"])
    table = Table(function.client, "memory")
    old = table.get(address[0].item_key) if address else None
    value = {"value": {"text": "a black tea " * 80}}
    function.call("PATCH", f"{_MEMORY}/{found['id']}", key, value, if_match="1")
    new = table.get(address[0].item_key) if address else None
    store, mapper = VectorStore(table, now_ms, float16_format(MODEL)), EntryMapper(None)
    with recorded(function.client) as calls:
        EmbeddingIndexer(store, DEFAULT_EMBED).index_change(
            mapper.to_entry(old or {}), mapper.to_entry(new or {})
        )
    return calls


def _search(function: Function, key: str, memory_type: str = "episodic") -> list[Call]:
    body = {"query": "a hot drink", "memory_type": memory_type}
    return function.call("POST", f"{_MEMORY}/search", key, body).calls
