"""An agent's episodic capacity and pinned namespaces."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    create,
    create_task,
    entry,
    query,
    sized,
    update,
    working,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Service, Tenant, names
from tests.contract.test_concurrency import at_once
from tests.contract.transport import MovableClock

Fill = Callable[..., list[dict[str, Any]]]


def configure(
    client: httpx.Client, agent: str, /, headers: dict[str, str] | None = None, **episodic: Any
) -> httpx.Response:
    path = f"/api/v1/agents/{agent}/memory/config"
    return client.patch(path, json={"episodic": episodic}, headers=headers)


def episodic(client: httpx.Client, agent: str) -> dict[str, Any]:
    """Return the summary of an agent's episodic memory."""
    found: dict[str, Any] = ok(client.get(f"/api/v1/agents/{agent}/memory/summary"))["episodic"]
    return found


@pytest.fixture
def fill(clock: MovableClock) -> Fill:
    """Creates an episodic entry under each key, one a second."""

    def create_each(client: httpx.Client, *keys: str, **fields: Any) -> list[dict[str, Any]]:
        made = []
        for key in keys:
            clock.advance(seconds=1)
            made.append(create(client, entry(key=key, **fields)))
        return made

    return create_each


def test_settings_start_at_the_defaults_and_change_one_by_one(tenant: Tenant) -> None:
    asked: list[dict[str, Any]] = [{}, {"capacity": 20}, {"pinned_namespaces": ["a", "b", "a"]}]
    asked += [{"eviction_policy": "lru"}, {"capacity": 30, "pinned_namespaces": []}]
    answers = [ok(configure(tenant.admin, "alice", **each)) for each in asked]
    assert {each["agent_id"] for each in answers} == {"alice"}
    shown = [(e["episodic"]["capacity"], e["episodic"]["pinned_namespaces"]) for e in answers]
    assert shown == [(1000, []), (20, []), (20, ["a", "b"]), (20, ["a", "b"]), (30, [])]
    assert {each["episodic"]["eviction_policy"] for each in answers} == {"lru"}


def test_a_capacity_set_later_counts_what_is_there(tenant: Tenant, fill: Fill) -> None:
    alice = tenant.agent("alice")
    fill(alice, "a", "b")
    ok(configure(tenant.admin, "alice", capacity=3))
    assert episodic(alice, "alice")["entry_count"] == 2
    fill(alice, "c", "d")
    assert sorted(names(query(alice))) == ["b", "c", "d"]
    ok(configure(tenant.admin, "alice", capacity=4))
    fill(alice, "e")
    assert episodic(alice, "alice")["entry_count"] == 4


def test_settings_do_not_concern_working_memory(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    ok(configure(tenant.admin, "alice", capacity=1))
    for key in ("a", "b"):
        create(alice, working(key=key))
    assert len(query(alice, memory_type="working")) == 2


def test_a_lowered_capacity_never_grows_meanwhile(tenant: Tenant, fill: Fill) -> None:
    alice = tenant.agent("alice")
    fill(alice, "a", "b", "c", "d")
    ok(configure(tenant.admin, "alice", capacity=2))
    fill(alice, "e")
    assert "e" in names(query(alice))
    assert episodic(alice, "alice")["entry_count"] <= 4


def test_a_batch_pins_as_single_creates_do(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    ok(configure(tenant.admin, "alice", pinned_namespaces=["learned"]))
    bodies = [
        entry(namespace="learned", key="a"),
        entry(namespace="learned", key="b", pinned=False),
        entry(key="c"),
        working(namespace="learned", key="d"),
    ]
    made = ok(alice.post(BATCH, json={"entries": bodies}))["entries"]
    assert [each["pinned"] for each in made] == [True, False, False, False]
    assert sorted(query(alice), key=lambda each: str(each["key"])) == made


def test_deleting_a_pinned_entry_frees_capacity(tenant: Tenant, fill: Fill) -> None:
    alice = tenant.agent("alice")
    ok(configure(tenant.admin, "alice", capacity=1, pinned_namespaces=["notes"]))
    (first,) = fill(alice, "a")
    refused(alice.post(MEMORY, json=entry(key="b")), 429, "CAPACITY_EXCEEDED")
    assert_no_content(alice.delete(f"{MEMORY}/{first['id']}"))
    fill(alice, "b")


def test_a_retry_with_its_key_writes_nothing_twice(tenant: Tenant, service: Service) -> None:
    key = {"Idempotency-Key": "once"}
    first = ok(configure(tenant.admin, "alice", headers=key, capacity=5))
    state = service.state()
    assert ok(configure(tenant.admin, "alice", headers=key, capacity=5)) == first
    assert service.state() == state
    again = configure(tenant.admin, "alice", headers=key, capacity=6)
    refused(again, 409, "IDEMPOTENCY_CONFLICT")
    changed = ok(configure(tenant.admin, "alice", capacity=6))
    late = configure(tenant.admin, "alice", headers=key, capacity=5)
    refused(late, 409, "VERSION_MISMATCH")
    assert ok(tenant.admin.get("/api/v1/agents/alice/memory/config")) == changed


def test_a_retried_create_finds_its_pinned_entry(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    ok(configure(tenant.admin, "alice", pinned_namespaces=["notes"]))
    key = {"Idempotency-Key": "once"}
    assert create(alice, entry(), **key) == create(alice, entry(), **key)


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
def test_settings_that_change_amid_creates_lose_no_count(tenant: Tenant) -> None:
    alice = tenant.agent("alice")

    def call(number: int) -> httpx.Response:
        if number % 4 == 0:
            return configure(tenant.admin, "alice", capacity=20 + number)
        return alice.post(MEMORY, json=entry(key=f"k{number}"))

    assert {each.status_code for each in at_once(16, call)} == {200, 201}
    ok(configure(tenant.admin, "alice", capacity=12))
    assert len(query(alice)) == episodic(alice, "alice")["entry_count"] == 12
    create(alice, entry(key="one more"))
    assert len(query(alice)) == episodic(alice, "alice")["entry_count"] == 12


def test_working_memory_outside_tasks_has_limits_of_its_own(tenant: Tenant) -> None:
    alice, path = tenant.agent("alice"), "/api/v1/agents/alice/memory/config"
    first = create(alice, working(key="first"))
    limits = {"max_entries": 2, "max_total_size_kb": 1}
    assert ok(tenant.admin.patch(path, json={"working": limits}))["working"] == limits
    shown = ok(alice.get(path))
    assert (shown["working"], shown["episodic"]["capacity"]) == (limits, 1000)
    create(alice, working(key="second", value=sized(1017)))
    problem = refused(alice.post(MEMORY, json=working(key="third")), 429, "CAPACITY_EXCEEDED")
    assert (problem["limit"], problem["current_count"]) == ("max_entries", 2)
    problem = refused(update(alice, first["id"], 1, value=sized(8)), 429, "CAPACITY_EXCEEDED")
    assert (problem["limit"], problem["max_capacity"]) == ("max_total_size_kb", 1)
    ok(tenant.admin.patch(path, json={"working": {"max_entries": 3}}))
    problem = refused(alice.post(MEMORY, json=working(key="third")), 429, "CAPACITY_EXCEEDED")
    assert problem["limit"] == "max_total_size_kb"
    task = {"id": "task_1", "intent_id": "i", "assigned_agent": "alice"}
    ok(tenant.admin.post("/api/v1/tasks", json=task), 201)
    create(alice, working("task_1", key="in a task"))
    invalid(tenant.admin.patch(path, json={}), "body")
    invalid(tenant.admin.patch(path, json={"working": {"max_entries": -1}}), "working.max_entries")


def test_settings_are_shown_to_the_agent_and_who_oversees_it(tenant: Tenant) -> None:
    path = "/api/v1/agents/alice/memory/config"
    alice, bob, boss = tenant.agent("alice"), tenant.agent("bob"), tenant.coordinator("boss")
    refused(bob.get(path), 403, "ACCESS_DENIED")
    refused(boss.get(path), 403, "ACCESS_DENIED")
    create_task(boss, assigned_agent="alice")
    assert ok(boss.get(path)) == ok(alice.get(path)) == ok(tenant.admin.get(path))
