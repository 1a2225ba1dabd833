"""RFC-0015 §8: hand-over, inheritance, adoption, and intents."""

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    grant,
    query,
    read,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

INHERIT = {"memory_policy": {"inherit_from_parent": True}}
ACL = "/api/v1/intents/intent_1/acl"


@pytest.mark.parametrize("who", ["boss", "alice"])
def test_a_sub_task_inherits_if_its_parents_assignee_or_coordinator_allows_it(
    tenant: Tenant, boss: httpx.Client, who: str
) -> None:
    cast = {"boss": boss, "alice": tenant.agent("alice")}
    sub_agent = tenant.agent("sub_agent")
    create_task(boss, id="task_1", assigned_agent="alice", delegates=["sub_agent"])
    made = create(cast["alice"], working("task_1"))
    sub = create_task(cast[who], parent_task_id="task_1", assigned_agent="sub_agent", **INHERIT)
    assert (sub["coordinator"], sub["parent_task_id"]) == ("boss", "task_1")
    assert query(sub_agent, task_id="task_1") == [ok(read(sub_agent, made["id"]))] == [made]
    refused(sub_agent.post(MEMORY, json=working("task_1", key="h")), 403, "ACCESS_DENIED")


def test_inheritance_ends_with_the_policy_the_assignment_or_the_task(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice, sub_agent = tenant.agents("alice", "sub_agent")
    create_task(boss, id="task_1", assigned_agent="alice")
    made = create(alice, working("task_1"))
    sub = create_task(boss, parent_task_id="task_1", assigned_agent="sub_agent")
    refused(read(sub_agent, made["id"]), 403, "ACCESS_DENIED")
    sub = ok(change_task(boss, sub, **INHERIT))
    ok(read(sub_agent, made["id"]))
    sub = ok(change_task(boss, sub, memory_policy={"inherit_from_parent": False}))
    refused(read(sub_agent, made["id"]), 403, "ACCESS_DENIED")
    sub = ok(change_task(boss, sub, **INHERIT))
    sub = ok(change_task(boss, sub, assigned_agent="other"))
    refused(read(sub_agent, made["id"]), 403, "ACCESS_DENIED")
    sub = ok(change_task(boss, sub, assigned_agent="sub_agent"))
    ok(read(sub_agent, made["id"]))
    ok(change_task(boss, sub, status="completed"))
    refused(read(sub_agent, made["id"]), 403, "ACCESS_DENIED")


def test_inheritance_does_not_skip_a_generation(tenant: Tenant, boss: httpx.Client) -> None:
    alice, grandchild = tenant.agents("alice", "grandchild")
    create_task(boss, id="task_1", assigned_agent="alice")
    create_task(boss, id="task_2", parent_task_id="task_1", assigned_agent="child")
    made = create(alice, working("task_1"))
    create_task(boss, id="task_3", parent_task_id="task_2", assigned_agent="grandchild", **INHERIT)
    refused(read(grandchild, made["id"]), 403, "ACCESS_DENIED")


def test_a_query_of_a_sub_task_shows_what_it_inherits_behind_its_own(
    tenant: Tenant, boss: httpx.Client, clock: MovableClock
) -> None:
    alice, sub_agent, guest = tenant.agents("alice", "sub_agent", "guest")
    create_task(boss, id="task_1", assigned_agent="alice")
    create_task(boss, id="task_2", parent_task_id="task_1", assigned_agent="sub_agent", **INHERIT)
    own = create(sub_agent, working("task_2", key="own"))
    refused(read(alice, own["id"]), 403, "ACCESS_DENIED")
    clock.advance(ms=1)
    plan = create(alice, working("task_1", key="plan", tags=["a"]))
    clock.advance(ms=1)
    newer = create(alice, working("task_1", key="newer"))
    inherited = [each | {"inherited": True} for each in (newer, plan)]
    expected = [own, *inherited]
    assert query(sub_agent, task_id="task_2") == query(boss, task_id="task_2") == expected
    assert query(sub_agent, task_id="task_2", memory_type="working") == expected
    assert query(sub_agent, task_id="task_2", tags="a") == [inherited[1]]
    assert query(sub_agent, task_id="task_2", memory_type="episodic") == []
    assert query(sub_agent, task_id="task_1") == [newer, plan]
    page: dict[str, str | int] = {"scope.task_id": "task_2", "limit": 2, "total": "none"}
    first = ok(sub_agent.get(MEMORY, params=page))
    rest = ok(sub_agent.get(MEMORY, params=page | {"after": first["next"]}))
    assert first["entries"] + rest["entries"] == expected
    assert "next" not in rest
    ok(grant(boss, "task_2", "guest", access="read"))
    assert query(guest, task_id="task_2") == [own]
    both = {"scope.task_id": "task_2", "agent_id": "alice"}
    assert ok(alice.delete(BATCH, params=both)) == {"deleted": 0}
    job = ok(boss.get(f"{TASKS}/task_2"))
    ok(change_task(boss, job, memory_policy={"inherit_from_parent": False}))
    assert query(sub_agent, task_id="task_2") == [own]


def test_a_write_registers_an_unknown_task(tenant: Tenant) -> None:
    alice, bob = tenant.agents("alice", "bob")
    made = create(alice, working("task_new"))
    job = ok(alice.get(f"{TASKS}/task_new"))
    assert (job["assigned_agent"], job["coordinator"]) == ("alice", None)
    refused(bob.post(MEMORY, json=working("task_new")), 403, "ACCESS_DENIED")
    refused(bob.get(f"{TASKS}/task_new"), 403, "ACCESS_DENIED")
    assert query(bob, task_id="task_new") == []
    ok(change_task(alice, job, status="completed"))
    refused(alice.post(MEMORY, json=working("task_new", key="x")), 409, "TASK_CLOSED")
    assert made["scope"]["task_id"] == "task_new"


def test_a_scope_names_the_tasks_own_intent(tenant: Tenant, boss: httpx.Client) -> None:
    alice = tenant.agent("alice")
    create_task(boss, id="task_1", assigned_agent="alice")
    create_task(boss, id="task_2", intent_id="intent_2", assigned_agent="alice")
    scope = {"task_id": "task_1", "intent_id": "intent_2"}
    invalid(alice.post(MEMORY, json=working(scope=scope)), "intent_id")
    create(alice, working(scope={"task_id": "task_1", "intent_id": "intent_1"}))
