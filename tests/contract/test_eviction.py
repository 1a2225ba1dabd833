"""Episodic capacity: the right entries go, and never one too many stays (RFC-0015 §2.2)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import pytest

from tests.contract.bodies import BATCH, MEMORY, create, entry, patch, query, read, update
from tests.contract.expect import ok, refused
from tests.contract.service import Tenant, names
from tests.contract.sweeping import count_tombstones, counters_equal_items, items, sweep

HOUR = 3600


def capacity(tenant: Tenant, most: int) -> httpx.Client:
    """Return an agent with this capacity of episodic entries."""
    alice = tenant.agent("alice")
    config = {"episodic": {"capacity": most}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))
    return alice


def kept(alice: httpx.Client) -> set[str]:
    """The keys of what the agent remembers."""
    return set(names(query(alice, agent_id="alice")))


def fill(tenant: Tenant, alice: httpx.Client, *keys: str, **fields: Any) -> list[dict[str, Any]]:
    made = []
    for key in keys:
        tenant.service.clock.advance(ms=1)
        made.append(create(alice, entry(key=key, **fields)))
    return made


def test_the_least_recently_written_is_evicted_first(tenant: Tenant) -> None:
    alice = capacity(tenant, 3)
    (first, *_) = fill(tenant, alice, "a", "b", "c")
    tenant.service.clock.advance(ms=1)
    ok(update(alice, first["id"], 1, value={"n": 2}))
    fill(tenant, alice, "d")
    assert kept(alice) == {"a", "c", "d"}


@pytest.mark.parametrize("how", ["by id", "by key", "by query"])
def test_a_read_by_the_owner_counts(tenant: Tenant, how: str) -> None:
    alice = capacity(tenant, 3)
    (first, *_) = fill(tenant, alice, "a", "b", "c")
    tenant.service.clock.advance(ms=1)
    match how:
        case "by id":
            assert ok(read(alice, first["id"]))["version"] == 1
        case "by key":
            assert len(query(alice, namespace="notes", key="a")) == 1
        case "by query":
            assert len(query(alice, agent_id="alice", offset=2)) == 1
    fill(tenant, alice, "d")
    assert kept(alice) == {"a", "c", "d"}


def test_a_coordinators_read_does_not_count(tenant: Tenant) -> None:
    alice, boss = capacity(tenant, 2), tenant.coordinator("boss")
    (first, _) = fill(tenant, alice, "a", "b")
    task = {"intent_id": "i", "assigned_agent": "alice"}
    ok(boss.post("/api/v1/tasks", json=task), 201)
    tenant.service.clock.advance(ms=1)
    ok(read(boss, first["id"]))
    fill(tenant, alice, "c")
    assert kept(alice) == {"b", "c"}


def test_far_from_capacity_reads_are_recorded_once_an_hour(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    (first,) = fill(tenant, alice, "a")
    before = tenant.service.state()
    tenant.service.clock.advance(seconds=HOUR - 1)
    ok(read(alice, first["id"]))
    assert tenant.service.state() == before
    tenant.service.clock.advance(seconds=2)
    assert ok(read(alice, first["id"])) == first
    assert tenant.service.state() != before


def list_order(client: httpx.Client, **asked: Any) -> dict[str, Any]:
    """A page of the agent's entries in the order of eviction."""
    given = {name: value for name, value in asked.items() if value is not None}
    path = "/api/v1/agents/alice/memory/eviction"
    found: dict[str, Any] = ok(client.get(path, params=given))
    return found


def test_evictions_follow_the_order_that_is_listed(tenant: Tenant) -> None:
    alice = capacity(tenant, 6)
    fill(tenant, alice, "a", "b", "c")
    fill(tenant, alice, "high", priority="high")
    fill(tenant, alice, "low", priority="low")
    fill(tenant, alice, "pinned", pinned=True)
    tenant.service.clock.advance(ms=1)
    assert len(query(alice, namespace="notes", key="a")) == 1
    listed = [each["key"] for each in list_order(alice)["entries"]]
    assert listed == ["low", "b", "c", "a", "high"]
    for number, key in enumerate(listed[:4]):
        fill(tenant, alice, f"new {number}", priority="high")
        left = names(query(alice, agent_id="alice", touch="false"))
        assert set(left).isdisjoint(listed[: number + 1]), key
        assert set(left) > set(listed[number + 1 :]), key


def test_the_order_of_eviction_comes_in_pages_without_values_or_a_trace(tenant: Tenant) -> None:
    alice, boss = capacity(tenant, 9), tenant.coordinator("boss")
    fill(tenant, alice, *"abcde")
    ok(boss.post("/api/v1/tasks", json={"intent_id": "i", "assigned_agent": "alice"}), 201)
    before = tenant.service.state()
    keys: list[str] = []
    page: dict[str, Any] = {"next": None}
    while "next" in page:
        page = list_order(boss, limit=2, after=page["next"])
        keys += [each["key"] for each in page["entries"]]
        assert all("value" not in each for each in page["entries"])
        assert all(each["last_accessed_at"] == each["updated_at"] for each in page["entries"])
    assert keys == list("abcde")
    assert tenant.service.state() == before
    assert list_order(tenant.admin) == {"entries": [], "limit": 100, "hidden": True}


def test_what_has_expired_is_not_in_the_order_of_eviction(tenant: Tenant) -> None:
    alice = capacity(tenant, 9)
    fill(tenant, alice, "short", ttl="duration:PT1M")
    fill(tenant, alice, "long")
    tenant.service.clock.advance(seconds=61)
    assert [each["key"] for each in list_order(alice)["entries"]] == ["long"]


def test_pinned_entries_are_not_evicted_and_count(tenant: Tenant) -> None:
    alice = capacity(tenant, 2)
    (first, _) = fill(tenant, alice, "a", "b")
    ok(patch(alice, f"{MEMORY}/{first['id']}", 1, {"pinned": True}))
    fill(tenant, alice, "c")
    assert kept(alice) == {"a", "c"}
    (third,) = query(alice, key="c", agent_id="alice")
    ok(patch(alice, f"{MEMORY}/{third['id']}", 1, {"pinned": True}))
    problem = refused(alice.post(MEMORY, json=entry(key="d")), 429, "CAPACITY_EXCEEDED")
    assert (problem["current_count"], problem["max_capacity"]) == (2, 2)
    assert kept(alice) == {"a", "c"}


def test_a_lowered_capacity_is_reached_by_the_schedule(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    fill(tenant, alice, *"abcde")
    config = {"episodic": {"capacity": 2}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))
    sweep(tenant.service)
    assert kept(alice) == {"d", "e"}
    assert counters_equal_items(tenant.service)


def create_at_once(tenant: Tenant, alice: httpx.Client, count: int) -> tuple[list[int], int]:
    """The statuses of creates that run together, and the most entries that stood at any look."""
    done, most = Event(), [0]

    def watch() -> None:
        while not done.is_set():
            most.append(
                len([item for item in items(tenant.service, "e#") if "memory_type" in item])
            )

    with ThreadPoolExecutor(17) as pool:
        watching = pool.submit(watch)
        bodies = [entry(key=f"new-{number}") for number in range(count)]
        answers = list(pool.map(lambda body: alice.post(MEMORY, json=body).status_code, bodies))
        done.set()
        watching.result()
    return answers, max(most)


@pytest.mark.usefixtures("parallel")
def test_many_creates_at_once_never_exceed_the_capacity(tenant: Tenant) -> None:
    alice = capacity(tenant, 10)
    assert create_at_once(tenant, alice, 40) == ([201] * 40, 10)
    assert len(kept(alice)) == 10
    assert count_tombstones(tenant.service) == {"evicted": 30}
    assert counters_equal_items(tenant.service)


@pytest.mark.usefixtures("parallel")
def test_creates_at_once_evict_what_is_old_and_not_each_other(tenant: Tenant) -> None:
    alice = capacity(tenant, 20)
    fill(tenant, alice, *(f"old-{number}" for number in range(20)))
    tenant.service.clock.advance(ms=1)
    assert create_at_once(tenant, alice, 20) == ([201] * 20, 20)
    assert kept(alice) == {f"new-{number}" for number in range(20)}


def test_every_read_counts_where_the_capacity_is_small(tenant: Tenant) -> None:
    alice = capacity(tenant, 10)
    made = fill(tenant, alice, *(f"e{number}" for number in range(5)))
    tenant.service.clock.advance(ms=1)
    ok(read(alice, made[0]["id"]))
    ok(alice.get(f"{MEMORY}/{made[1]['id']}", params={"touch": "false"}))
    fill(tenant, alice, *(f"more{number}" for number in range(6)))
    assert kept(alice) & {"e0", "e1", "e2"} == {"e0", "e2"}


@pytest.mark.parametrize(("pinned", "unpinned", "asked"), [(0, 5, 6), (3, 2, 3)])
def test_a_batch_that_never_fits_is_refused_at_once(
    tenant: Tenant, pinned: int, unpinned: int, asked: int
) -> None:
    alice = capacity(tenant, 5)
    fill(tenant, alice, *(f"p{number}" for number in range(pinned)), pinned=True)
    fill(tenant, alice, *(f"u{number}" for number in range(unpinned)))
    before = kept(alice)
    body = {"entries": [entry(key=f"new{number}") for number in range(asked)]}
    problem = refused(alice.post(BATCH, json=body), 429, "CAPACITY_EXCEEDED")
    members = (problem["limit"], problem["current_count"], problem["max_capacity"])
    assert members == ("episodic_capacity", 5, 5)
    for remedy in ("unpin", "client.remember", "client.agents.configure"):
        assert remedy in problem["detail"]
    assert kept(alice) == before
    ok(alice.post(BATCH, json={"entries": body["entries"][1:]}))
