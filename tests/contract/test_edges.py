"""Bodies at the edge of what can be stored, counted or answered: each is taken whole or refused."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    TASKS,
    change_task,
    create,
    create_task,
    entry,
    patch,
    query,
    semantic,
    sized,
    task,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.sweeping import counters_equal_items


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def log(client: httpx.Client, path: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = ok(client.get(f"/api/v1/{path}/events"))["events"]
    return events


def test_the_deepest_value_is_archived_and_can_be_read(tenant: Tenant) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    at = create_task(boss, id="t", assigned_agent="alice")
    invalid(alice.post(MEMORY, json=working("t", value=nested(151))), "value")
    create(alice, working("t", value=nested(150)))
    ok(change_task(boss, at, status="completed"))
    (archived,) = (e for e in log(boss, "intents/intent_1") if e["type"] == "memory.archived")
    assert archived["data"]["snapshot"][0]["value"] == nested(150)


def test_long_tags_count_in_a_snapshots_parts(tenant: Tenant) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    at = create_task(boss, id="t", assigned_agent="alice")
    tags = [f"{number:02}" + "\U0001f600" * 126 for number in range(50)]
    for number in range(20):
        create(alice, working("t", key=f"k{number}", value=sized(12_000), tags=tags))
    ok(change_task(boss, at, status="failed"))
    (archived,) = (e for e in log(boss, "intents/intent_1") if e["type"] == "memory.archived")
    assert archived["data"]["entries_archived"] == 20


def test_a_batch_may_begin_several_tasks(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    both = [working("one", key="a"), working("two", key="b")]
    ok(alice.post(BATCH, json={"entries": both}))
    summary = ok(alice.get("/api/v1/agents/alice/memory/summary"))
    assert summary["working"]["tasks_with_memory"] == ["one", "two"]
    assert counters_equal_items(tenant.service)


def test_no_task_is_its_own_parent(tenant: Tenant) -> None:
    boss = tenant.coordinator("boss")
    create_task(boss, id="t")
    heir = task(id="t", parent_task_id="t", memory_policy={"inherit_from_parent": True})
    invalid(boss.post(TASKS, json=heir), "parent_task_id")


def test_shared_memory_that_ends_with_a_task_counts_for_nobody(tenant: Tenant) -> None:
    boss, bob = tenant.coordinator("boss"), tenant.agent("bob")
    create_task(boss, id="t", assigned_agent="bob")
    create(bob, working("t"))
    create(boss, working("t"))
    fleeting = {"scope": {"task_id": "t"}, "ttl": "task_lifetime", "agent_id": "bob"}
    for number in range(2):
        create(boss, semantic(key=f"s{number}", **fleeting))
    assert ok(boss.delete(BATCH, params={"scope.task_id": "t"})) == {"deleted": 3}
    for who, client, count in (("bob", bob, 1), ("boss", boss, 0)):
        summary = ok(client.get(f"/api/v1/agents/{who}/memory/summary"))
        assert summary["working"]["entry_count"] == count
    assert counters_equal_items(tenant.service)


def test_a_full_task_takes_what_its_limit_does_not_count(tenant: Tenant) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    at = create_task(boss, id="t", assigned_agent="alice")
    for number in range(2):
        create(alice, working("t", key=f"k{number}"))
    ok(change_task(boss, at, memory_policy={"max_entries": 1}))
    create(alice, entry(key="e", scope={"task_id": "t"}, ttl="task_lifetime"))
    refused(alice.post(MEMORY, json=working("t", key="w")), 429, "CAPACITY_EXCEEDED")


def test_nothing_is_tied_to_a_task_that_has_ended(tenant: Tenant) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    at = create_task(boss, id="t", assigned_agent="alice")
    kept = create(alice, entry(scope={"task_id": "t"}))
    ok(change_task(boss, at, status="completed"))
    late = patch(alice, f"{MEMORY}/{kept['id']}", 1, {"ttl": "task_lifetime"})
    refused(late, 409, "TASK_CLOSED")


@pytest.mark.usefixtures("volume")
def test_a_batch_over_four_megabytes_is_too_large(tenant: Tenant) -> None:
    tags = [f"{number:02}" + "\U0001f600" * 126 for number in range(50)]
    batch = [
        entry(key=f"k{number}", value=sized(65_536), tags=tags, sensitivity="confidential")
        for number in range(50)
    ]
    refused(tenant.agent("alice").post(BATCH, json={"entries": batch}), 413, "BATCH_TOO_LARGE")


def test_an_administrator_reads_an_agents_log_without_values(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    create(alice, working("loose", value={"secret": "hunter2"}))
    at = ok(alice.get(f"{TASKS}/loose"))
    ok(change_task(alice, at, status="completed"))
    assert "hunter2" in str(log(alice, "agents/alice"))
    seen = log(tenant.admin, "agents/alice")
    assert [e["type"] for e in seen] == [e["type"] for e in log(alice, "agents/alice")]
    assert "hunter2" not in str(seen)


def test_a_namespaces_name_is_bounded(tenant: Tenant) -> None:
    body = {"permissions": {"default": "read"}}
    invalid(tenant.admin.patch(f"{NAMESPACES}/{'n' * 256}", json=body), "namespace")


def test_a_full_agents_batch_may_take_an_expired_slot(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    config = {"episodic": {"capacity": 2}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=config))
    create(alice, entry(key="kept"))
    create(alice, entry(key="fleeting", ttl="duration:PT1S"))
    tenant.service.clock.advance(seconds=2)
    batch = [entry(key="fleeting"), entry(key="new")]
    ok(alice.post(BATCH, json={"entries": batch}))
    assert {each["key"] for each in query(alice, agent_id="alice")} == {"fleeting", "new"}
    assert counters_equal_items(tenant.service)
