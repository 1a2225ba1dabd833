"""As far as memory's access rests on it: tasks, grants and intents."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    DROP,
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    grant,
    task,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

FIELDS = {
    "id",
    "intent_id",
    "name",
    "status",
    "version",
    "assigned_agent",
    "coordinator",
    "parent_task_id",
    "memory_policy",
    "created_at",
}


def test_the_response_shows_all_fields_of_a_task(boss: httpx.Client) -> None:
    answer = boss.post(TASKS, json=task(assigned_agent="alice"))
    made = ok(answer, 201)
    assert made.keys() >= FIELDS
    assert made["id"].startswith("task_")
    expected = {
        "intent_id": "intent_1",
        "name": "work",
        "status": "pending",
        "version": 1,
        "coordinator": "boss",
        "assigned_agent": "alice",
    }
    assert made.items() >= expected.items()
    assert ok(boss.get(f"{TASKS}/{made['id']}")) == made


def test_fields_that_memory_does_not_use_are_returned(boss: httpx.Client) -> None:
    given: dict[str, Any] = {
        "description": "Read the figures",
        "priority": "high",
        "plan_id": "plan_1",
        "input": {"quarter": 3, "nested": [1.5, None]},
        "capabilities_required": ["sql"],
        "depends_on": ["task_0"],
        "blocks": ["task_2"],
        "timeout_seconds": 60,
        "max_attempts": 5,
        "metadata": {"cost centre": "é"},
    }
    made = create_task(boss, **given)
    assert made.items() >= given.items()
    changed = ok(change_task(boss, made, output={"sum": 7}, metadata={}))
    assert changed.items() >= (given | {"output": {"sum": 7}, "metadata": {}, "version": 2}).items()
    assert ok(boss.get(f"{TASKS}/{made['id']}")) == changed


def test_the_memory_policy_has_the_specifications_defaults(boss: httpx.Client) -> None:
    defaults = {
        "archive_on_completion": True,
        "inherit_from_parent": False,
        "max_entries": 100,
        "max_total_size_kb": 1024,
    }
    made = create_task(boss, memory_policy={"max_entries": 7})
    assert made["memory_policy"] == defaults | {"max_entries": 7}
    changed = ok(change_task(boss, made, memory_policy={"max_total_size_kb": 9}))
    assert changed["memory_policy"]["max_total_size_kb"] == 9


def test_a_malformed_task_is_refused(boss: httpx.Client) -> None:
    for changes in ({"intent_id": DROP}, {"status": "done"}, {"parent_task_id": "task_none"}):
        invalid(boss.post(TASKS, json=task(**changes)), *changes)
    assert ok(boss.get("/api/v1/intents/intent_1/tasks")) == []


def test_an_intents_tasks_are_a_bare_array_newest_first(
    boss: httpx.Client, clock: MovableClock
) -> None:
    made: list[dict[str, Any]] = []
    for number in range(4):
        clock.advance(seconds=1)
        made.insert(0, create_task(boss, name=f"t{number}"))
    create_task(boss, intent_id="intent_2")
    path = "/api/v1/intents/intent_1/tasks"
    assert ok(boss.get(path)) == made
    assert ok(boss.get(path, params={"limit": 2, "offset": 1})) == made[1:3]
    running = ok(change_task(boss, made[2], status="running"))
    assert ok(boss.get(path, params={"status": "running"})) == [running]
    invalid(boss.get(path, params={"status": "done"}), "status")
    invalid(boss.get(path, params={"limit": 0}), "limit")
    assert ok(boss.get("/api/v1/intents/intent_none/tasks")) == []


def test_an_agent_lists_the_open_tasks_assigned_to_it(
    tenant: Tenant, boss: httpx.Client, clock: MovableClock
) -> None:
    alice, other = tenant.agent("alice"), tenant.coordinator("other")
    made = []
    for name in ("task_a", "task_b", "task_c", "task_d"):
        made.append(create_task(boss, id=name, assigned_agent="alice"))
        clock.advance(ms=1)
    ok(change_task(boss, made[0], assigned_agent="bob"))
    ok(change_task(alice, made[1], status="completed"))
    ok(change_task(alice, made[2], status="running"))
    create_task(other, id="task_e", intent_id="intent_2", assigned_agent="alice")

    def listed(who: httpx.Client, query: str = "") -> list[str]:
        return [each["id"] for each in ok(who.get(f"/api/v1/agents/alice/tasks{query}"))]

    assert listed(alice) == ["task_e", "task_d", "task_c"]
    assert listed(alice, "?status=running") == ["task_c"]
    assert listed(alice, "?limit=1&offset=1") == ["task_d"]
    assert listed(boss) == ["task_d", "task_c"]
    assert listed(tenant.agent("bob")) == []
    assert listed(tenant.admin) == listed(alice)


@pytest.mark.moto
def test_a_change_makes_a_new_version(boss: httpx.Client, clock: MovableClock) -> None:
    made = create_task(boss)
    clock.advance(seconds=3)
    answer = change_task(boss, made, status="running", name="more work")
    changed = ok(answer)
    assert changed.items() >= {"status": "running", "name": "more work", "version": 2}.items()
    assert changed["created_at"] == made["created_at"]
    late = change_task(boss, made, name="late")
    assert refused(late, 409, "VERSION_MISMATCH")["current_version"] == 2
    for field in ("id", "intent_id", "parent_task_id", "version", "bogus"):
        invalid(change_task(boss, changed, **{field: "other"}), field)
    invalid(change_task(boss, changed), "body")
    invalid(change_task(boss, changed, task_id=changed["id"]), "body")
    assert ok(boss.get(f"{TASKS}/{made['id']}")) == changed


def test_a_task_is_read_by_its_participants(tenant: Tenant, boss: httpx.Client) -> None:
    made = create_task(boss, id="task_1", assigned_agent="alice")
    inheriting = {"memory_policy": {"inherit_from_parent": True}}
    create_task(
        boss,
        intent_id="intent_2",
        parent_task_id="task_1",
        assigned_agent="sub_agent",
        **inheriting,
    )
    ok(grant(boss, "task_1", "guest", access="read"))
    ok(
        boss.put(
            "/api/v1/intents/intent_1/acl",
            json={"entries": [{"principal": "reader", "access": "read"}]},
        )
    )
    now = ok(boss.get(f"{TASKS}/task_1"))
    assert now["name"] == made["name"]
    for id in ("alice", "guest", "sub_agent", "reader"):
        assert ok(tenant.agent(id).get(f"{TASKS}/task_1")) == now, id
    assert ok(tenant.admin.get(f"{TASKS}/task_1")) == now
    for other in (tenant.agent("stranger"), tenant.coordinator("rival"), tenant.user("pat")):
        refused(other.get(f"{TASKS}/task_1"), 403, "ACCESS_DENIED")
        assert ok(other.get("/api/v1/intents/intent_1/tasks")) == []


@pytest.mark.moto
@pytest.mark.parametrize(("status", "who"), [("completed", "alice"), ("cancelled", "boss")])
def test_an_ended_task_is_closed(tenant: Tenant, boss: httpx.Client, status: str, who: str) -> None:
    cast = {"boss": boss, "alice": tenant.agent("alice")}
    made = create_task(boss, assigned_agent="alice")
    create(cast["alice"], working(made["id"]))
    ended = ok(change_task(cast[who], made, status=status))
    assert ended["status"] == status
    for client in cast.values():
        late = client.post(MEMORY, json=working(made["id"], key="late"))
        refused(late, 409, "TASK_CLOSED")
        refused(change_task(client, ended, status="running"), 409, "TASK_CLOSED")
    refused(change_task(boss, ended, assigned_agent="bob"), 409, "TASK_CLOSED")
    refused(grant(boss, made["id"], "guest", access="write"), 409, "TASK_CLOSED")
