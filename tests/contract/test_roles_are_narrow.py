"""Who has a part in a task has that part and no more."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    entry,
    grant,
    query,
    read,
    task,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant

INHERIT = {"memory_policy": {"inherit_from_parent": True}}
Job = tuple[httpx.Client, httpx.Client, dict[str, Any]]


@pytest.fixture
def job(tenant: Tenant) -> Job:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    return boss, alice, create_task(boss, id="task_1", assigned_agent="alice")


def test_a_write_grant_gives_no_right_to_grant(tenant: Tenant, job: Job) -> None:
    boss, alice, _ = job
    scribe, friend = tenant.agents("scribe", "friend")
    ok(grant(boss, "task_1", "scribe", access="write"))
    made = create(alice, working("task_1"))
    for who in ("friend", "scribe"):
        refused(grant(scribe, "task_1", who, access="write"), 403, "ACCESS_DENIED")
    refused(scribe.delete(f"{TASKS}/task_1/grants/scribe"), 403, "ACCESS_DENIED")
    refused(read(friend, made["id"]), 403, "ACCESS_DENIED")


def test_a_grant_reaches_one_task_and_no_other_memory(tenant: Tenant, job: Job) -> None:
    boss, alice, _ = job
    guest = tenant.agent("guest")
    create_task(boss, id="task_2", assigned_agent="alice")
    others = [create(alice, working("task_2", key="2")), create(alice, working(key="w"))]
    others.append(create(alice, entry(key="e")))
    ok(grant(boss, "task_1", "guest", access="write"))
    for each in others:
        refused(read(guest, each["id"]), 403, "ACCESS_DENIED")
    assert query(guest, agent_id="alice") == query(guest, task_id="task_2") == []
    late = working("task_2", key="planted")
    refused(guest.post(MEMORY, json=late), 403, "ACCESS_DENIED")


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_grant_allows_no_sub_tasks_and_no_inheritance(
    tenant: Tenant, job: Job, access: str
) -> None:
    boss, _, _ = job
    ok(grant(boss, "task_1", "guest", access=access))
    guest = tenant.agent("guest")
    for fields in ({}, {"intent_id": "intent_guest"}):
        body = task(parent_task_id="task_1", **fields, **INHERIT)
        refused(guest.post(TASKS, json=body), 403, "ACCESS_DENIED")


def test_a_former_assignee_keeps_its_entries_and_nothing_more(tenant: Tenant, job: Job) -> None:
    boss, alice, made = job
    create(alice, working("task_1"))
    ok(change_task(boss, made, assigned_agent="bob"))
    news = create(tenant.agent("bob"), working("task_1"))
    refused(read(alice, news["id"]), 403, "ACCESS_DENIED")
    refused(grant(alice, "task_1", "alice", access="write"), 409, "TASK_REASSIGNED")
    sub = task(parent_task_id="task_1", **INHERIT)
    refused(alice.post(TASKS, json=sub), 403, "ACCESS_DENIED")
    present = ok(boss.get(f"{TASKS}/task_1"))
    refused(change_task(alice, present, status="completed"), 409, "TASK_REASSIGNED")


def test_a_former_assignees_grants_can_be_taken_back(tenant: Tenant, job: Job) -> None:
    boss, alice, made = job
    ok(grant(alice, "task_1", "friend", access="read"))
    ok(change_task(boss, made, assigned_agent="bob"))
    friend = tenant.agent("friend")
    entry_id = create(tenant.agent("bob"), working("task_1"))["id"]
    boss.delete(f"{TASKS}/task_1/grants/friend")
    refused(read(friend, entry_id), 403, "ACCESS_DENIED")


def test_an_assignee_cannot_make_its_sub_task_anothers_to_coordinate(
    tenant: Tenant, job: Job
) -> None:
    _, alice, _ = job
    tenant.coordinator("rival")
    for coordinator in ("rival", "alice"):
        body = task(parent_task_id="task_1", coordinator=coordinator)
        refused(alice.post(TASKS, json=body), 403, "ACCESS_DENIED")


def test_a_sub_tasks_assignee_has_no_say_in_the_parent(tenant: Tenant, job: Job) -> None:
    boss, alice, made = job
    heir = tenant.agent("heir")
    ok(change_task(boss, made, delegates=["heir"]))
    create_task(alice, parent_task_id="task_1", assigned_agent="heir", **INHERIT)
    refused(change_task(heir, made, status="completed"), 403, "ACCESS_DENIED")
    refused(grant(heir, "task_1", "heir", access="write"), 403, "ACCESS_DENIED")
    refused(heir.post(MEMORY, json=working("task_1")), 403, "ACCESS_DENIED")
    episode = create(alice, entry(key="e"))
    refused(read(heir, episode["id"]), 403, "ACCESS_DENIED")
    ok(read(boss, episode["id"]))


def test_taking_part_in_an_intent_opens_no_other_tasks_memory(tenant: Tenant, job: Job) -> None:
    boss, alice, _ = job
    bob = tenant.agent("bob")
    create_task(boss, id="task_2", assigned_agent="bob")
    made = create(alice, working("task_1"))
    refused(read(bob, made["id"]), 403, "ACCESS_DENIED")
    assert query(bob, intent_id="intent_1") == query(bob, task_id="task_1") == []
    refused(bob.post(MEMORY, json=working("task_1")), 403, "ACCESS_DENIED")


def test_an_acl_opens_no_memory(tenant: Tenant, job: Job) -> None:
    boss, alice, _ = job
    made = create(alice, working("task_1"))
    entries = [{"principal": "pat", "access": "write"}]
    ok(boss.put("/api/v1/intents/intent_1/acl", json={"entries": entries}))
    pat = tenant.coordinator("pat")
    create_task(pat, id="task_2", assigned_agent="pat")
    refused(read(pat, made["id"]), 403, "ACCESS_DENIED")
    refused(grant(pat, "task_1", "pat", access="read"), 403, "ACCESS_DENIED")
    body = task(parent_task_id="task_1", assigned_agent="pat", **INHERIT)
    refused(pat.post(TASKS, json=body), 403, "ACCESS_DENIED")
    assert query(pat, intent_id="intent_1") == []


def test_a_later_patch_lets_no_task_inherit_from_anothers(tenant: Tenant, job: Job) -> None:
    _, alice, _ = job
    made = create(alice, working("task_1"))
    rival = tenant.coordinator("rival")
    answer = rival.post(
        TASKS,
        json=task(intent_id="intent_2", parent_task_id="task_1", assigned_agent="rival"),
    )
    if answer.is_success:
        refused(change_task(rival, answer.json(), **INHERIT), 403, "ACCESS_DENIED")
    refused(read(rival, made["id"]), 403, "ACCESS_DENIED")


def test_a_tasks_parent_and_intent_cannot_be_changed(job: Job) -> None:
    boss, _, made = job
    create_task(boss, id="task_2", intent_id="intent_2")
    for field, value in (("parent_task_id", "task_2"), ("intent_id", "intent_2"), ("id", "x")):
        invalid(change_task(boss, made, **{field: value}), field)


def test_adoption_is_no_way_to_take_a_task_from_its_assignee(tenant: Tenant) -> None:
    alice, rival = tenant.agent("alice"), tenant.coordinator("rival")
    create(alice, working(scope={"task_id": "task_new", "intent_id": "intent_alice"}))
    for assigned in ({"assigned_agent": "rival"}, {}):
        refused(rival.post(TASKS, json=task(id="task_new", **assigned)), 409, "ENTRY_EXISTS")
    assert query(rival, task_id="task_new") == []


def test_an_intents_first_user_gains_nothing_over_tasks_that_have_another(
    tenant: Tenant, job: Job
) -> None:
    _, alice, _ = job
    create(alice, working("task_1"))
    rival = tenant.coordinator("rival")
    create_task(rival, intent_id="intent_rival")
    assert query(rival, intent_id="intent_rival") == []
    refused(rival.get(f"{TASKS}/task_1"), 403, "ACCESS_DENIED")
