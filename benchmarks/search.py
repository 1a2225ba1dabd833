"""What search by meaning costs: the vector that a write makes later on, and each kind of search."""

from collections.abc import Iterator

from benchmarks.capacity import Call, find_promptest, recorded
from benchmarks.inprocess import Function
from benchmarks.memories import Measured
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.platform import entry_keys
from functions.platform.clock import now_ms
from functions.platform.table import Table
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.vectors.factory import DEFAULT_EMBED
from functions.vectors.in_memory_vectors import float16_format
from functions.vectors.model import VectorFormat
from functions.vectors.native_index import native_format
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
    own, exact = made["api_key"], float16_format(MODEL)
    for number in range(_HELD):
        calls = _embedded(function, made, f"k{number}", exact)
    yield "embed an entry, exact search", (1, 1, 0), calls
    yield f"search {_HELD} episodic, the first time", (3, 0, 57), _search(function, own)
    yield f"search {_HELD} episodic, again", (3, 0, 38), _search(function, own)
    _embedded(function, made, "new", exact)
    yield f"search {_HELD} episodic, after a write", (4, 0, 39), _search(function, own)
    calls = _embedded_again(function, made, "k0", exact)
    yield "embed an entry again, exact search", (1, 1, 0), calls
    native = native_format(MODEL)
    yield "embed an entry", (1, 2, 0), _embedded(function, made, "native", native)
    yield "embed an entry again", (1, 2, 0), _embedded_again(function, made, "native", native)
    for number in range(_HELD):
        function.call("POST", _MEMORY, own, _ENTRY | {"key": f"w{number}"} | _WORKING)
    calls = find_promptest(lambda: _search(function, own, **_WORKING))
    yield f"search {_HELD} working", (2, 0, 104), calls


def _embedded(
    function: Function, agent: dict[str, str], name: str, vector_format: VectorFormat
) -> list[Call]:
    """Create an entry and has its vector follow, as the stream function does."""
    body = _ENTRY | {"key": name}
    made = function.call("POST", _MEMORY, agent["api_key"], body).body
    return _index(function, vector_format, None, _read(function, agent, made["id"]))


def _embedded_again(
    function: Function, agent: dict[str, str], name: str, vector_format: VectorFormat
) -> list[Call]:
    """Change an entry's words and has its vector follow."""
    target = f"{_MEMORY}?agent_id={agent['id']}&namespace=n&key={name}"
    (found,) = function.call("GET", target, agent["api_key"]).body["entries"]
    old = _read(function, agent, found["id"])
    value = {"value": {"text": "a black tea " * 80}}
    function.call("PATCH", f"{_MEMORY}/{found['id']}", agent["api_key"], value, if_match="1")
    return _index(function, vector_format, old, _read(function, agent, found["id"]))


def _read(function: Function, agent: dict[str, str], id: str) -> Entry:
    address = entry_keys.parse_entry_id(agent["tenant"], id)
    item = Table(function.client, "memory").get(address[0].item_key) if address else None
    return EntryMapper(None).to_entry(item or {})


def _index(
    function: Function, vector_format: VectorFormat, old: Entry | None, new: Entry
) -> list[Call]:
    store = VectorStore(Table(function.client, "memory"), now_ms, vector_format)
    with recorded(function.client) as calls:
        EmbeddingIndexer(store, DEFAULT_EMBED).index_change(old, new)
    return calls


def _search(function: Function, key: str, memory_type: str = "episodic") -> list[Call]:
    body = {"query": "a hot drink", "memory_type": memory_type}
    return function.call("POST", f"{_MEMORY}/search", key, body).calls
