"""`search(query=…)` of the store for LangGraph: ranked, whole, and soon."""

import time
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from langgraph.store.memory import InMemoryStore

MEMORIES = {
    "8c1f-tea": "drinks a cup of green tea in the morning",
    "2b77-car": "drives a red sports car on the motorway",
    "9e05-tax": "files the income tax return in April",
}
SOON = 60.0  # seconds, at most, until a put is ranked


@pytest.fixture(params=["episodic", "semantic"])
def store(request: pytest.FixtureRequest, admin: Client) -> AgentMemoryStore:
    """A store with memories of two people, embedded by the service."""
    filled = AgentMemoryStore(admin, memory_type=request.param)
    for number, (key, text) in enumerate(MEMORIES.items()):
        filled.put(("users", "ada"), key, {"text": text, "n": number})
    filled.put(("users", "adam", "deep"), "tea", {"text": "hot tea, a cup of green tea"})
    began = time.monotonic()
    while None in [each.score for each in filled.search((), query="tea")]:
        assert time.monotonic() < began + SOON, "not all items are ranked"
        time.sleep(0.01)
    return filled


def keys(items: list[Any]) -> list[str]:
    return [item.key.partition("-")[2] or item.key for item in items]


def test_the_most_alike_come_first_with_scores(store: AgentMemoryStore) -> None:
    for query, first in (("a hot drink", "tea"), ("vehicles", "car"), ("money", "tax")):
        items = store.search(("users", "ada"), query=query)
        assert keys(items)[0] == first
        scores = [item.score or 0 for item in items]
        assert scores == sorted(scores, reverse=True)
        assert len(items) == 3
    assert keys(store.search((), query="a hot tea", limit=2)) == ["tea", "tea"]
    assert len(store.search((), query="a hot tea")) == 4


def test_pages_filters_and_what_isn_t_embedded_yet(store: AgentMemoryStore) -> None:
    pages = [
        store.search(("users", "ada"), query="a hot drink", limit=2, offset=start)
        for start in (0, 2, 4)
    ]
    assert sorted(keys([item for page in pages for item in page])) == ["car", "tax", "tea"]
    assert keys(store.search((), query="a hot drink", filter={"n": {"$gte": 1}}, limit=1)) != [
        "tea"
    ]
    store.put(("users", "eve"), "new", {"text": "green tea"})
    (new,) = store.search(("users", "eve"), query="tea")
    assert new.key == "new"
    assert store.search((), query="tea", limit=0) == []
    assert [item.score for item in store.search(("users", "ada"), query="")] == [None] * 3


def test_no_query_ranks_what_was_put_without_an_index(store: AgentMemoryStore) -> None:
    store.put(("users", "ada"), "pin", {"text": "the code of the green tea is 4711"}, index=False)
    store.put(("users", "ada"), "late", {"text": "green tea again"})
    began = time.monotonic()
    while None in [each.score for each in store.search((), query="tea") if each.key != "pin"]:
        assert time.monotonic() < began + SOON, "not all items are ranked"
        time.sleep(0.01)
    for _ in range(2):
        *ranked, last = store.search(("users", "ada"), query="code of the green tea")
        assert (last.key, last.score) == ("pin", None)
        assert None not in [each.score for each in ranked]
        store.update(("users", "ada"), "pin", lambda value: value | {"n": 1})
    store.put(("users", "ada"), "pin", {"text": "the code of the green tea is 4711"})
    while store.search(("users", "ada"), query="code 4711", limit=1)[0].key != "pin":
        assert time.monotonic() < began + SOON
        time.sleep(0.01)


@pytest.mark.parametrize("query", ["", " ", "\n\t", "tea " * 5000])
def test_any_query_finds_what_langgraphs_own_store_finds(
    store: AgentMemoryStore, query: str
) -> None:
    reference = InMemoryStore()
    for item in store.search((), limit=100):
        reference.put(item.namespace, item.key, item.value)
    expected = {(item.namespace, item.key) for item in reference.search((), query=query)}
    found = store.search((), query=query)
    assert {(item.namespace, item.key) for item in found} == expected
