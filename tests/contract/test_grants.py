"""Grants on a task's working memory."""

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    grant,
    query,
    read,
    update,
    working,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock


def test_a_grant_opens_a_tasks_memory_until_it_is_taken_back(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice, guest = tenant.agents("alice", "guest")
    made = create_task(boss, id="task_1", assigned_agent="alice")
    entry = create(alice, working("task_1"))
    for giver in (boss, alice):
        given = ok(grant(giver, "task_1", "guest", access="read"))
        assert given.items() >= {"principal": "guest", "access": "read"}.items()
        assert query(guest, task_id="task_1") == [ok(read(guest, entry["id"]))] == [entry]
        refused(guest.post(MEMORY, json=working("task_1", key="g")), 403, "ACCESS_DENIED")
        assert_no_content(giver.delete(f"{TASKS}/{made['id']}/grants/guest"))
        refused(read(guest, entry["id"]), 403, "ACCESS_DENIED")
        assert query(guest, task_id="task_1") == []
    refused(boss.delete(f"{TASKS}/task_1/grants/guest"), 404, "NOT_FOUND")


def test_a_grant_ends_at_its_instant(
    tenant: Tenant, boss: httpx.Client, clock: MovableClock
) -> None:
    alice, guest = tenant.agents("alice", "guest")
    create_task(boss, id="task_1", assigned_agent="alice")
    entry = create(alice, working("task_1"))
    until = clock.time(seconds=10)
    assert (
        ok(grant(boss, "task_1", "guest", access="write", expires_at=until))["expires_at"] == until
    )
    clock.advance(seconds=10, ms=-1)
    ok(read(guest, entry["id"]))
    own = create(guest, working("task_1"))
    ok(update(guest, own["id"], 1, value={"n": 2}))
    clock.advance(ms=1)
    refused(read(guest, entry["id"]), 403, "ACCESS_DENIED")
    refused(guest.post(MEMORY, json=working("task_1", key="late")), 403, "ACCESS_DENIED")
    refused(update(guest, own["id"], 2, value={"n": 3}), 403, "ACCESS_DENIED")
    ok(grant(boss, "task_1", "guest", access="write"))
    ok(update(guest, own["id"], 2, value={"n": 3}))


def test_grants_are_listed_for_who_gives_them_and_each_holder_sees_its_own(
    tenant: Tenant, boss: httpx.Client, clock: MovableClock
) -> None:
    alice, guest, stranger = tenant.agents("alice", "guest", "stranger")
    create_task(boss, id="task_1", assigned_agent="alice")
    path = f"{TASKS}/task_1/grants"
    assert ok(boss.get(path)) == {"grants": [], "total": 0, "limit": 100, "offset": 0}
    first = ok(grant(boss, "task_1", "guest", access="write"))
    assert first["granted_by"] == "boss"
    clock.advance(ms=1)
    until = clock.time(seconds=1)
    second = ok(grant(alice, "task_1", "other", access="read", expires_at=until))
    for who in (boss, alice, tenant.admin):
        assert ok(who.get(path))["grants"] == [second, first]
    assert ok(boss.get(path, params={"limit": 1}))["next_offset"] == 1
    assert ok(guest.get(path))["grants"] == [first]
    refused(stranger.get(path), 403, "ACCESS_DENIED")
    refused(boss.get(f"{TASKS}/task_none/grants"), 404, "NOT_FOUND")
    clock.advance(seconds=1)
    assert ok(boss.get(path))["grants"] == [first]
    renewed = ok(grant(boss, "task_1", "guest", access="read"))
    assert ok(boss.get(path))["grants"] == [renewed]


def test_an_assignee_makes_so_many_grants_and_its_coordinator_more(
    tenant: Tenant, boss: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("grants", "grant_store"):
        monkeypatch.setattr(f"functions.tasks.{module}.MAX_GRANTS", 2)
    alice = tenant.agent("alice")
    task = create_task(boss, id="task_1", assigned_agent="alice")
    for name in ("a", "b", "a"):
        ok(grant(alice, "task_1", name, access="read"))
    problem = refused(grant(alice, "task_1", "c", access="read"), 429, "CAPACITY_EXCEEDED")
    assert (problem["limit"], problem["current_count"], problem["max_capacity"]) == ("grants", 2, 2)
    for name in ("c", "d", "a"):
        ok(grant(boss, "task_1", name, access="read"))
    ok(grant(alice, "task_1", "e", access="read"))
    refused(grant(alice, "task_1", "f", access="read"), 429, "CAPACITY_EXCEEDED")
    assert_no_content(alice.delete(f"{TASKS}/task_1/grants/b"))
    ok(grant(alice, "task_1", "f", access="read"))
    bob = tenant.agent("bob")
    ok(change_task(boss, task, assigned_agent="bob"))
    for name in ("g", "h"):
        ok(grant(bob, "task_1", name, access="read"))


def test_a_grant_that_has_ended_already_is_refused(boss: httpx.Client) -> None:
    create_task(boss, id="task_1")
    ended = {"access": "read", "expires_at": "2020-01-01T00:00:00Z"}
    invalid(grant(boss, "task_1", "guest", **ended), "expires_at")
