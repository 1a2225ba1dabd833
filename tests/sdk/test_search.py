"""`client.memory.search` against the real server (RFC-0015 §4.3)."""

import time
from collections.abc import Callable

import pytest
from agent_memory import Client, SearchResult
from agent_memory.conversion import to_async
from agent_memory.exceptions import AgentMemoryError
from agent_memory.model import MemoryType

SOON = 60.0  # seconds, at most, until a write is found


def awaited(client: Client, key: str, query: str, memory_type: MemoryType) -> SearchResult:
    """The best result, once it is the entry with this key; soon."""
    began = time.monotonic()
    while time.monotonic() < began + SOON:
        for found in client.memory.search(query, memory_type=memory_type, top_k=1):
            if found.entry.key == key:
                return found
        time.sleep(0.01)
    raise AssertionError(f"{key} isn't found within {SOON} seconds")


def test_a_write_is_found_soon_with_its_score(alice: Client) -> None:
    for key, text in (("tea", "likes a cup of green tea"), ("car", "drives a red sports car")):
        written = alice.memory.set("n", key, {"text": text}, memory_type="episodic", tags=["t"])
        found = awaited(alice, key, text, "episodic")
        assert found.entry == written
        assert 0.5 < found.score <= 1.0
    drinks = alice.memory.search("a hot drink", memory_type="episodic", namespace="n", tags=["t"])
    assert [each.entry.key for each in drinks] == ["tea", "car"]
    assert drinks[0].score > drinks[1].score
    alice.memory.delete("n", "tea", memory_type="episodic")
    drinks = alice.memory.search("a hot drink", memory_type="episodic")
    assert [each.entry.key for each in drinks] == ["car"]


def test_a_users_own_memory_is_searched_unless_it_says_whose(
    admin: Client, agent: Callable[[str], Client]
) -> None:
    ada = agent("ada")
    ada.memory.set("notes", "hers", {"text": "green tea"})
    admin.memory.set("notes", "mine", {"text": "green tea"})
    awaited(admin, "mine", "tea", "working")
    assert admin.memory.search("tea", memory_type="working", agent_id="ada") == []


@pytest.mark.anyio
async def test_the_async_client_searches_too(alice: Client) -> None:
    alice.memory.set("notes", "tea", {"text": "green tea"})
    awaited(alice, "tea", "tea", "working")
    async with to_async(alice) as client:
        (found,) = await client.memory.search("tea", memory_type="working")
    assert found.entry.key == "tea"


def test_what_can_t_be_asked_is_refused(alice: Client) -> None:
    with pytest.raises(AgentMemoryError, match="top_k"):
        alice.memory.search("tea", memory_type="working", top_k=101)


def test_vectors_of_ones_own_are_searched_at_once(admin: Client) -> None:
    for key, first in (("a", 1.0), ("b", -1.0)):
        vector = (each for each in (first, *[0.5] * 63))
        value = {"kind": key}
        written = admin.memory.put("vectors", key, value, memory_type="semantic", vector=vector)
        assert written.vector_length == 64
    asked = [1.0, *[0.5] * 63]
    found = admin.memory.search(vector=asked, namespace="vectors", min_score=0.5)
    assert [each.entry.key for each in found] == ["a", "b"]
    assert [each.score for each in found] == pytest.approx([1, 0.88], abs=0.001)
    assert admin.namespaces.set_search_fields("vectors", ["kind"]).search_fields == ("kind",)
    (only,) = admin.memory.search(
        vector=asked, namespace="vectors", memory_type="semantic", fields={"kind": "b"}
    )
    assert only.entry.key == "b"
