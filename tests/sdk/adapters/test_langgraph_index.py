"""The store's `index`: items are found by the user's own embedding, from their put on."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from langgraph.store.base import IndexConfig, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

ADA = ("users", "ada")
EVERY_NAMESPACE: tuple[str, ...] = ()


def embed(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of texts: how often each letter is in them; none has a direction without any."""
    return [[float(text.count(letter)) for letter in map(chr, range(64, 128))] for text in texts]


async def aembed(texts: Sequence[str]) -> list[list[float]]:
    """Embed the texts, for async callers."""
    await asyncio.sleep(0)
    return embed(texts)


INDEX: IndexConfig = {"dims": 64, "embed": embed, "fields": ["text"]}
SEVERAL: IndexConfig = {"dims": 64, "embed": embed, "fields": ["title", "notes[*]"]}


def make_store(client: Client, **options: Any) -> AgentMemoryStore:
    return AgentMemoryStore(client, **{"index": INDEX} | options)


def find(store: Any, query: str, prefix: tuple[str, ...] = EVERY_NAMESPACE, **options: Any) -> Any:
    found = store.search(prefix, query=query, **options)
    return [(item.key, None if item.score is None else round(item.score, 2)) for item in found]


@pytest.fixture(params=["LangGraph's", "episodic", "semantic", "strict"])
def store(request: pytest.FixtureRequest, admin: Client) -> Any:
    """A store whose items have several texts."""
    if request.param == "LangGraph's":
        return InMemoryStore(index=SEVERAL)
    if request.param == "strict":
        return make_store(admin, index=SEVERAL, strict=True)
    return make_store(admin, index=SEVERAL, memory_type=request.param)


def test_an_item_is_found_by_its_best_text(store: Any) -> None:
    store.put(ADA, "both", {"title": "tea", "notes": ["car", "xyz"]})
    store.put(ADA, "one", {"title": "cat"})
    store.put(("users", "bob"), "bobs", {"notes": ["teaa"]})
    store.put(ADA, "hidden", {"title": "car"}, index=False)
    store.put(ADA, "other", {"title": "car", "body": "dog"}, index=["body"])
    assert find(store, "xyz")[0] == ("both", 1.0)
    assert find(store, "tea", limit=2) == [("both", 1.0), ("bobs", 0.94)]
    assert find(store, "dog", ADA)[0] == ("other", 1.0)
    in_ada = find(store, "car", ADA)
    assert in_ada[0] == ("both", 1.0)
    assert sorted(key for key, _ in in_ada) == ["both", "hidden", "one", "other"]
    assert ("hidden", None) in in_ada


def test_texts_that_are_replaced_or_deleted_are_found_no_more(alice: Client) -> None:
    store = make_store(alice, index=SEVERAL)
    store.put(ADA, "a", {"title": "tea", "notes": ["car", "xyz"]})
    store.put(ADA, "a", {"title": "tea", "notes": ["dog"]})
    store.put(ADA, "b", {"title": "tea", "notes": ["xyz"]})
    assert find(store, "xyz", limit=1) == [("b", 1.0)]
    assert dict(find(store, "dog"))["a"] == 1.0
    assert dict(find(store, "car"))["a"] < 1.0
    store.delete(ADA, "a")
    assert [key for key, _ in find(store, "dog")] == ["b"]
    store.put(ADA, "b", {"title": "tea"}, index=False)
    assert find(store, "xyz") == [("b", None)]


def test_nothing_is_left_beside_a_deleted_item(alice: Client) -> None:
    store = make_store(alice, index=SEVERAL)
    for notes in (["x", "y", "z"], ["x"], []):
        store.put(ADA, "a", {"title": "t", "notes": notes})
        beside = [entry.key for entry in alice.memory.query(namespace="langgraph~/users/ada/")]
        assert len(beside) == len(notes) + 2  # the marks of both kinds
    store.put(ADA, "a", {"title": "t", "notes": ["x", "y"]})
    store.delete(ADA, "a")
    assert sorted(entry.key for entry in alice.memory.query(page_size=9)) == ["items", "texts"]
    assert store.list_namespaces() == []


def test_an_update_changes_the_vectors_with_the_value(alice: Client) -> None:
    store = make_store(alice)
    store.update(ADA, "a", lambda _: {"text": "tea", "n": 0}, initial={})
    assert find(store, "tea") == [("a", 1.0)]
    other = make_store(alice, index=INDEX | {"embed": aembed})
    asyncio.run(other.aupdate(ADA, "a", lambda value: value | {"text": "xyz"}))
    assert find(store, "xyz") == [("a", 1.0)]

    def count(_: int) -> None:
        store.update(ADA, "a", lambda value: value | {"n": value["n"] + 1})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(count, range(12)))
    assert store.get(ADA, "a").value == {"text": "xyz", "n": 12}  # type: ignore[union-attr]
    assert find(store, "xyz") == [("a", 1.0)]


def test_a_time_to_live_counts_anew_for_all_texts(alice: Client) -> None:
    store = make_store(alice, index=SEVERAL, ttl={"default_ttl": 5, "refresh_on_read": True})
    store.put(ADA, "a", {"title": "tea", "notes": ["xyz"]})

    def list_ends() -> list[datetime]:
        return [entry.expires_at for entry in alice.memory.query() if entry.expires_at]

    before = list_ends()
    assert find(store, "xyz") == [("a", 1.0)]
    assert len(before) == 2
    assert min(list_ends()) > max(before)


def test_stores_of_one_root_find_each_others_items(alice: Client) -> None:
    first, second = make_store(alice), make_store(alice)
    for number in range(3):
        first.put(("n", str(number)), "k", {"text": "tea" + "x" * number})
    assert find(second, "tea", ("n",)) == [("k", 1.0), ("k", 0.87), ("k", 0.65)]
    assert find(second, "tea", ("n", "2")) == [("k", 0.65)]
    assert find(second, "tea", ("m",)) == []
    plain = AgentMemoryStore(alice)
    assert len(plain.search(("n",))) == 3
    plain.put(("n", "0"), "k", {"text": "tea"})
    assert find(second, "tea", ("n", "0")) == [("k", None)]


def test_an_embedding_that_only_waits_works_in_async_calls(alice: Client) -> None:
    store = make_store(alice, index=INDEX | {"embed": aembed})

    async def put_and_find(key: str) -> list[Any]:
        await store.aput(ADA, key, {"text": key})
        return await store.asearch(ADA, query=key, limit=1)

    for key in ("tea", "car"):  # an event loop each
        assert [item.key for item in asyncio.run(put_and_find(key))] == [key]
    with pytest.raises(ValueError, match="async"):
        store.put(ADA, "sync", {"text": "sync"})


def test_a_batch_embeds_each_text_once(alice: Client) -> None:
    calls: list[Sequence[str]] = []

    def embed_and_count(texts: Sequence[str]) -> list[list[float]]:
        calls.append(texts)
        return embed(texts)

    store = make_store(alice, index=INDEX | {"embed": embed_and_count})
    assert store.index_config is not None
    store.batch([PutOp(ADA, key, {"text": "tea"}) for key in "abc"])
    store.batch([SearchOp(ADA, query="tea"), SearchOp(ADA, query="tea")])
    assert calls == [["tea"], ["tea"]]


def test_dims_that_the_service_does_not_take_are_refused_at_once(alice: Client) -> None:
    for dims in (63, 3073):
        with pytest.raises(ValueError, match="dims must be 64 to 3072"):
            make_store(alice, index={"dims": dims, "embed": embed})
