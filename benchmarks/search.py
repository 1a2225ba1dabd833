"""Costs of search by meaning: the vector of a write, and each kind of search."""

from collections.abc import Iterator

from benchmarks.capacity import Call, find_promptest, recorded
from benchmarks.inprocess import Caller
from benchmarks.rows import Measured
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


def operations(admin: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    agent, exact = admin.function.new_agent(admin, "searcher"), float16_format(MODEL)
    for number in range(_HELD):
        calls = _embed(agent, f"k{number}", exact)
    yield "embed an entry, exact search", (1, 1, 0), calls
    yield f"search {_HELD} episodic, the first time", (3, 0, 57), _search(agent)
    yield f"search {_HELD} episodic, again", (3, 0, 38), _search(agent)
    _embed(agent, "new", exact)
    yield f"search {_HELD} episodic, after a write", (4, 0, 39), _search(agent)
    yield "embed an entry again, exact search", (1, 1, 0), _embed_again(agent, "k0", exact)
    native = native_format(MODEL)
    yield "embed an entry", (1, 2, 0), _embed(agent, "native", native)
    yield "embed an entry again", (1, 2, 0), _embed_again(agent, "native", native)
    for number in range(_HELD):
        agent.send("POST", _MEMORY, _ENTRY | {"key": f"w{number}"} | _WORKING)
    calls = find_promptest(lambda: _search(agent, **_WORKING))
    yield f"search {_HELD} working", (2, 0, 104), calls


def _embed(agent: Caller, name: str, vector_format: VectorFormat) -> list[Call]:
    """Create an entry, and write its vector as the stream function does."""
    made = agent.send("POST", _MEMORY, _ENTRY | {"key": name})
    return _index(agent, vector_format, None, _read(agent, made["id"]))


def _embed_again(agent: Caller, name: str, vector_format: VectorFormat) -> list[Call]:
    """Change an entry's text, and write its vector."""
    target = f"{_MEMORY}?agent_id={agent.id}&namespace=n&key={name}"
    (found,) = agent.send("GET", target)["entries"]
    old = _read(agent, found["id"])
    value = {"value": {"text": "a black tea " * 80}}
    agent.calls("PATCH", f"{_MEMORY}/{found['id']}", value, if_match="1")
    return _index(agent, vector_format, old, _read(agent, found["id"]))


def _read(agent: Caller, id: str) -> Entry:
    address, _ = entry_keys.parse_entry_id("bench", id)
    item = Table(agent.function.client, "memory").get(address.item_key)
    return EntryMapper(None).to_entry(item or {})


def _index(agent: Caller, vector_format: VectorFormat, old: Entry | None, new: Entry) -> list[Call]:
    store = VectorStore(Table(agent.function.client, "memory"), now_ms, vector_format)
    with recorded(agent.function.client) as calls:
        EmbeddingIndexer(store, DEFAULT_EMBED).index_change(old, new)
    return calls


def _search(agent: Caller, memory_type: str = "episodic") -> list[Call]:
    body = {"query": "a hot drink", "memory_type": memory_type}
    return agent.calls("POST", f"{_MEMORY}/search", body)
