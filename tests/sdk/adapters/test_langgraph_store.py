"""The store for LangGraph where the service shows through: tiers, versions, time, and faults."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from agent_memory.exceptions import (
    AgentMemoryError,
    MemoryAccessError,
    MemoryCapacityError,
    MemoryConflictError,
    MemoryNotFoundError,
    TooLargeError,
    ValidationError,
)
from langgraph.store.base import GetOp, PutOp

from tests.sdk.fault_proxy import FaultProxy

NS = ("users", "ada")
Agents = Callable[[str], Client]


def test_the_newest_come_first_and_stay_where_they_are(alice: Client) -> None:
    store = AgentMemoryStore(alice)
    for number in range(3):
        store.put(NS, str(number), {})
    created = store.get(NS, "0")
    store.put(NS, "0", {"changed": True})
    assert [item.key for item in store.search(NS)] == ["2", "1", "0"]
    again = store.get(NS, "0")
    assert again is not None
    assert created is not None
    assert again.created_at == created.created_at
    assert again.updated_at > created.updated_at


def test_items_are_the_agent_s_own_and_are_never_evicted(admin: Client, agent: Agents) -> None:
    alice, bob = agent("alice"), agent("bob")
    admin.agents.configure("alice", capacity=2)
    store = AgentMemoryStore(alice)
    store.put(NS, "k", {"n": 1})
    for number in range(5):
        alice.memory.set("other", str(number), {}, memory_type="episodic")
    assert store.get(NS, "k") is not None
    assert AgentMemoryStore(bob).search(()) == []
    store.put(NS, "k2", {"n": 2})
    with pytest.raises(MemoryCapacityError):
        store.put(NS, "k3", {"n": 3})
    store.put(NS, "k2", {"n": 4})
    store.delete(NS, "k")
    store.put(NS, "k3", {"n": 3})


def test_semantic_items_are_shared_with_who_has_access(admin: Client, alice: Client) -> None:
    shared = AgentMemoryStore(admin, memory_type="semantic")
    shared.put(("handbook",), "k", {"n": 1}, ttl=60)
    reader = AgentMemoryStore(alice, memory_type="semantic")
    item = reader.get(("handbook",), "k")
    assert item is not None
    assert item.value == {"n": 1}
    assert [each.key for each in reader.search(())] == ["k"]
    with pytest.raises(MemoryAccessError):
        reader.put(("handbook",), "k", {"n": 2})
    with pytest.raises(MemoryAccessError):
        reader.delete(("handbook",), "k")
    assert shared.search(())[0].value == {"n": 1}


def test_a_put_takes_the_place_of_an_own_entry_of_another_tier(alice: Client) -> None:
    alice.memory.set("langgraph/a/", "k", {"mine": True}, memory_type="working")
    AgentMemoryStore(alice).put(("a",), "k", {"n": 1})
    assert alice.memory.get("langgraph/a/", "k") == {"n": 1}


def test_what_the_service_can_t_hold_is_refused_and_changes_nothing(alice: Client) -> None:
    store = AgentMemoryStore(alice)
    store.put(NS, "k", {"n": 1})
    refused: list[tuple[str, dict[str, Any], type[Exception]]] = [
        ("k", {"text": "x" * 65_536}, TooLargeError),
        ("k", {"at": object()}, TypeError),
        ("k", {"n": float("nan")}, ValueError),
        ("x" * 256, {}, ValidationError),
        ("", {}, ValidationError),
    ]
    for key, value, kind in refused:
        with pytest.raises(kind):
            store.put(NS, key, value)
    assert [(item.key, item.value) for item in store.search(NS)] == [("k", {"n": 1})]


def put_at_once(stores: list[AgentMemoryStore], times: int) -> None:
    def put(number: int) -> None:
        stores[number % len(stores)].put(NS, "k", {"by": number, "text": str(number) * 50})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(put, range(times)))


def test_of_many_puts_at_once_one_stands_whole(alice: Client) -> None:
    stores = [AgentMemoryStore(alice) for _ in range(4)]
    put_at_once(stores, 12)
    (item,) = stores[0].search(NS)
    assert item.value["text"] == str(item.value["by"]) * 50
    entry = alice.memory.get_entry("langgraph/users/ada/", "k", memory_type="episodic")
    assert entry is not None
    assert entry.version == 12


def test_updates_of_many_threads_lose_nothing(alice: Client) -> None:
    stores = [AgentMemoryStore(alice) for _ in range(2)]

    def count(number: int) -> None:
        store = stores[number % 2]
        store.update(NS, "k", lambda value: value | {str(number): True}, initial={})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(24)))
    item = stores[0].get(NS, "k")
    assert item is not None
    assert item.value == {str(number): True for number in range(24)}


def test_an_update_gives_the_item_and_needs_one(alice: Client) -> None:
    store = AgentMemoryStore(alice, strict=True)
    with pytest.raises(MemoryNotFoundError):
        store.update(NS, "k", lambda value: value)
    store.put(NS, "k", {"n": 1})
    item = asyncio.run(store.aupdate(NS, "k", lambda value: {"n": value["n"] + 1}))
    assert (item.namespace, item.key, item.value) == (NS, "k", {"n": 2})
    store.put(NS, "k", {"n": 3})


def test_strict_puts_and_deletes_meet_only_what_was_seen(alice: Client) -> None:
    one, other = (AgentMemoryStore(alice, strict=True) for _ in range(2))
    one.put(NS, "k", {"by": "one"})
    with pytest.raises(MemoryConflictError) as unseen:
        other.put(NS, "k", {"by": "other"})
    assert unseen.value.current_value == {"by": "one"}
    assert other.search(NS)[0].value == {"by": "one"}
    other.put(NS, "k", {"by": "other"})
    with pytest.raises(MemoryConflictError) as overtaken:
        one.put(NS, "k", {"by": "one"})
    assert overtaken.value.current_value == {"by": "other"}
    with pytest.raises(MemoryConflictError):
        one.delete(NS, "k")
    one.get(NS, "k")
    one.delete(NS, "k")
    with pytest.raises(MemoryConflictError, match="deleted"):
        other.put(NS, "k", {"by": "other"})
    assert other.get(NS, "k") is None
    other.put(NS, "k", {"by": "other"})


def test_nothing_is_lost_or_doubled_on_a_flaky_network(alice: Client, flaky: FaultProxy) -> None:
    key = alice.settings.api_key
    with Client(flaky.address, key, timeout=0.5, max_retries=10) as client:
        store = AgentMemoryStore(client)
        for number in range(8):
            store.put(NS, str(number), {"n": number})
            store.update(NS, "sum", lambda value: {"n": value["n"] + 1}, initial={"n": 0})
        store.delete(NS, "3")
    straight = AgentMemoryStore(alice)
    found = {item.key: item.value["n"] for item in straight.search(NS, limit=100)}
    assert found == {str(n): n for n in range(8) if n != 3} | {"sum": 8}


def test_a_batch_that_fails_says_so_and_keeps_what_came_before(alice: Client) -> None:
    store = AgentMemoryStore(alice)
    puts = [PutOp(NS, "k", {"n": 1}), PutOp(NS, "", {}), PutOp(NS, "later", {})]
    with pytest.raises(AgentMemoryError):
        store.batch(puts)
    found = store.batch([GetOp(NS, "k"), GetOp(NS, "later")])
    assert [item is not None for item in found] == [True, False]


def test_async_calls_serve_any_event_loop_at_the_same_time(alice: Client) -> None:
    store = AgentMemoryStore(alice)

    async def puts(name: str) -> None:
        await asyncio.gather(*(store.aput(NS, f"{name}{n}", {"n": n}) for n in range(10)))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda name: asyncio.run(puts(name)), "abc"))
    assert len(asyncio.run(store.asearch(NS, limit=100))) == 30
