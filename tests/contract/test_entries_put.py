"""Test that `PUT /api/v1/memory` replaces the entry in its slot; the last writer wins."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    Json,
    allow,
    change_task,
    create,
    create_task,
    entry,
    grant,
    query,
    read,
    semantic,
    sized,
    update,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.sweeping import counters_equal_items
from tests.contract.test_concurrency import at_once, statuses


def put(client: httpx.Client, body: Json, status: int, **headers: str) -> Json:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer: Json = ok(client.put(MEMORY, json=body, headers=named), status)
    return answer


@pytest.mark.parametrize("body", [working(), working("task_1"), entry(), semantic()])
def test_a_put_creates_then_replaces_what_a_create_sets(tenant: Tenant, body: Json) -> None:
    alice = tenant.coordinator("alice")
    first = put(alice, body | {"tags": ["a"], "ttl": "PT1H"}, 201)
    assert (first["version"], first["tags"]) == (1, ["a"])
    assert read(alice, first["id"]).json() == first
    tenant.service.clock.advance(seconds=1)
    for number, value in enumerate(({"n": 2}, {"longer": "than before"}), start=2):
        again = put(alice, body | {"value": value}, 200)
        assert (again["id"], again["version"], again["value"]) == (first["id"], number, value)
        assert (again["tags"], again["ttl"], again["expires_at"]) == ([], None, None)
        assert again["created_at"] == first["created_at"] < again["updated_at"]
        assert read(alice, first["id"]).json() == again
    lasting = put(alice, body | {"ttl": 7200}, 200)
    assert read(alice, first["id"]).json()["expires_at"] == lasting["expires_at"] is not None


def test_a_put_of_another_tier_or_scope_is_another_entry(ada: httpx.Client) -> None:
    first = put(ada, working(), 201)
    second = put(ada, working("task_1", namespace=first["namespace"]), 201)
    third = put(ada, entry(namespace=first["namespace"], memory_type="episodic"), 201)
    assert len({first["id"], second["id"], third["id"]}) == 3
    assert [each["id"] for each in query(ada, agent_id="ada")] == [third["id"]]
    assert ok(ada.get("/api/v1/agents/ada/memory/summary"))["working"]["entry_count"] == 0


def test_conditions_of_a_put_are_honoured(ada: httpx.Client) -> None:
    for body in (working(), entry(key="episodic"), working("task_1", key="in a task")):
        refused(ada.put(MEMORY, json=body, headers={"If-Match": "1"}), 404, "ENTRY_NOT_FOUND")
        first = put(ada, body, 201, If_None_Match="*")
        problem = refused(
            ada.put(MEMORY, json=body, headers={"If-None-Match": "*"}), 409, "ENTRY_EXISTS"
        )
        assert problem["current"] == first
        stale = ada.put(MEMORY, json=body, headers={"If-Match": "2"})
        assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == 1
        assert put(ada, body, 200, If_Match='"1"')["version"] == 2
    both = {"If-None-Match": "*", "If-Match": "1"}
    invalid(ada.put(MEMORY, json=working(), headers=both), "If-None-Match")
    invalid(ada.put(MEMORY, json=working(), headers={"If-None-Match": '"1"'}), "If-None-Match")


@pytest.mark.parametrize("body", [working(), entry(), semantic()])
def test_a_repeated_put_writes_once(tenant: Tenant, body: Json) -> None:
    alice = tenant.user("alice")
    first = put(alice, body, 201, Idempotency_Key="one")
    assert put(alice, body, 201, Idempotency_Key="one") == first
    second = put(alice, body, 200, Idempotency_Key="two")
    assert put(alice, body, 200, Idempotency_Key="two") == second
    assert second["version"] == 2


def test_a_put_keeps_to_limits_and_access(tenant: Tenant, ada: httpx.Client) -> None:
    boss, path = tenant.coordinator("boss"), "/api/v1/agents/ada/memory/config"
    ok(tenant.admin.patch(path, json={"working": {"max_total_size_kb": 1}}))
    put(ada, working(value=sized(1024)), 201)
    refused(ada.put(MEMORY, json=working(value=sized(1025))), 429, "CAPACITY_EXCEEDED")
    put(ada, working(value=sized(1000)), 200)
    refused(boss.put(MEMORY, json=working(agent_id="ada")), 403, "ACCESS_DENIED")
    allow(tenant.admin, "facts", "read", boss="write")
    put(boss, semantic(), 201)
    refused(ada.put(MEMORY, json=semantic()), 403, "ACCESS_DENIED")
    create_task(boss, id="theirs")
    refused(ada.put(MEMORY, json=working("theirs", key="x")), 403, "ACCESS_DENIED")


def test_a_put_takes_the_slot_of_an_expired_entry(tenant: Tenant, ada: httpx.Client) -> None:
    first = create(ada, working(ttl="duration:PT1S"))
    tenant.service.clock.advance(seconds=2)
    assert put(ada, working(), 201)["id"] != first["id"]


@pytest.mark.parametrize("body", [working(), entry(), semantic()])
def test_parallel_puts_and_changes_lose_no_version(tenant: Tenant, body: Json) -> None:
    alice = tenant.user("alice")

    def write(number: int) -> httpx.Response:
        value: dict[str, Any] = {"n": "x" * (number % 3)}
        return alice.put(MEMORY, json=body | {"value": value})

    answers = at_once(8, write)
    assert statuses(answers) == {200: 7, 201: 1}
    assert sorted(each.json()["version"] for each in answers) == list(range(1, 9))
    (left,) = query(alice, key="k", memory_type=body["memory_type"], agent_id="alice")
    assert left["version"] == 8
    size = len(left["value"]["n"]) + 8
    assert ok(update(alice, left["id"], 8, value=sized(size)))["version"] == 9


def hand_over(boss: httpx.Client, at: Json, to: str) -> Json:
    changed: Json = ok(change_task(boss, at, assigned_agent=to))
    return changed


def test_a_successor_replaces_its_predecessors_entry(tenant: Tenant) -> None:
    boss, ada, bob = tenant.coordinator("boss"), tenant.agent("ada"), tenant.agent("bob")
    policy = {"max_entries": 3}
    at = create_task(boss, id="t", assigned_agent="ada", memory_policy=policy)
    first = create(ada, working("t"))
    create(ada, working("t", key="other"))
    create(boss, working("t"))
    hand_over(boss, at, "bob")
    second = put(bob, working("t", value=sized(99)), 201)
    assert (second["agent_id"], second["created_by"]) == ("bob", "bob")
    assert read(bob, first["id"]).status_code == 404
    found = query(bob, task_id="t", memory_type="working")
    assert {(each["agent_id"], each["key"]) for each in found} == {
        ("bob", "k"),
        ("ada", "other"),
        ("boss", "k"),
    }
    refused(bob.post(MEMORY, json=working("t", key="x")), 429, "CAPACITY_EXCEEDED")
    assert put(bob, working("t", value=sized(99)), 200)["version"] == 2
    refused(ada.put(MEMORY, json=working("t")), 409, "TASK_REASSIGNED")
    assert counters_equal_items(tenant.service)


def test_nobody_else_replaces_anothers_entry(tenant: Tenant) -> None:
    boss, ada, bob = tenant.coordinator("boss"), tenant.agent("ada"), tenant.agent("bob")
    create_task(boss, id="t", assigned_agent="ada")
    create(ada, working("t"))
    ok(grant(boss, "t", "bob", access="write", expires_at="2099-01-01T00:00:00Z"), 200)
    put(bob, working("t"), 201)
    put(boss, working("t"), 201)
    assert len(query(boss, task_id="t", memory_type="working")) == 3


def test_a_put_with_a_stale_version_shows_nothing_of_a_closed_namespace(
    tenant: Tenant, ada: httpx.Client
) -> None:
    create(tenant.admin, semantic())
    allow(tenant.admin, "facts", "none")
    for key, version in (("k", "7"), ("k", "1"), ("unknown", "7")):
        answer = ada.put(MEMORY, json=semantic(key=key), headers={"If-Match": version})
        refused(answer, 403, "ACCESS_DENIED")


@pytest.mark.parametrize("body", [working(), working("task_1"), entry(), semantic()])
def test_an_entry_says_when_its_content_happened(tenant: Tenant, body: Json) -> None:
    alice, moment = tenant.coordinator("alice"), "2020-02-08T10:00:00.000Z"
    first = ok(alice.post(MEMORY, json=body | {"occurred_at": moment}), 201)
    assert first["occurred_at"] == moment < first["created_at"]
    assert read(alice, first["id"]).json() == first
    changed = ok(update(alice, first["id"], 1, value={"n": 2}))
    assert changed["occurred_at"] == moment
    changed = ok(update(alice, first["id"], 2, occurred_at=None))
    assert changed["occurred_at"] == first["created_at"]
    again = put(alice, body | {"occurred_at": moment}, 200)
    assert again["occurred_at"] == moment
    assert put(alice, body, 200)["occurred_at"] == first["created_at"]
    invalid(alice.post(MEMORY, json=body | {"occurred_at": "then"}), "occurred_at")
