"""Times to live of LangGraph's items."""

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from agent_memory.testing import MemoryService

NS = ("users", "ada")


def present(store: AgentMemoryStore, key: str = "k") -> bool:
    return store.get(NS, key, refresh_ttl=False) is not None


def test_time_counts_from_the_last_write_or_read(memory_service: MemoryService) -> None:
    store = AgentMemoryStore(memory_service.as_agent("ada"))
    store.put(NS, "k", {"n": 1}, ttl=10)
    store.put(NS, "for good", {"n": 1})
    for read in (lambda: store.get(NS, "k"), lambda: store.search(NS, query="n")):
        memory_service.clock.advance(minutes=9)
        assert read()
    memory_service.clock.advance(minutes=9)
    assert present(store)
    store.put(NS, "k", {"n": 2}, ttl=10)
    memory_service.clock.advance(minutes=9, seconds=59)
    assert present(store)
    memory_service.clock.advance(seconds=1)
    assert not present(store)
    assert [item.key for item in store.search(())] == ["for good"]
    store.put(NS, "k", {"n": 3})
    memory_service.clock.advance(days=1)
    assert present(store)


def test_reads_that_don_t_refresh(memory_service: MemoryService) -> None:
    agent = memory_service.as_agent("ada")
    store = AgentMemoryStore(agent, ttl={"default_ttl": 0.5, "refresh_on_read": False})
    store.put(NS, "k", {"n": 1})
    store.put(NS, "for good", {"n": 1}, ttl=None)
    before = agent.memory.get_entry("langgraph/users/ada/", "k", memory_type="episodic")
    memory_service.clock.advance(seconds=29)
    assert store.get(NS, "k") is not None
    assert len(store.search(NS)) == 2
    assert agent.memory.get_entry("langgraph/users/ada/", "k", memory_type="episodic") == before
    memory_service.clock.advance(seconds=1)
    assert not present(store)
    assert present(store, "for good")
    store.update(NS, "k", lambda value: value, initial={"n": 2})
    memory_service.clock.advance(seconds=31)
    assert not present(store)


def test_a_put_without_time_to_live_takes_the_old_one_away(memory_service: MemoryService) -> None:
    store = AgentMemoryStore(memory_service.as_agent("ada"))
    store.put(NS, "k", {"n": 1}, ttl=1)
    store.put(NS, "k", {"n": 2})
    memory_service.clock.advance(minutes=2)
    assert present(store)


def test_times_to_live_that_are_none(alice: Client, subtests: pytest.Subtests) -> None:
    store = AgentMemoryStore(alice)
    for ttl in (0, -1, float("inf"), float("nan")):
        with subtests.test(str(ttl)), pytest.raises(ValueError, match="minutes above 0"):
            store.put(NS, "k", {}, ttl=ttl)
    assert store.get(NS, "k") is None
