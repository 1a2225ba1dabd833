"""Contract §5: grants on a task's working memory."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, TASKS, create, create_task, grant, query, read, working
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
    create(guest, working("task_1"))
    clock.advance(ms=1)
    refused(read(guest, entry["id"]), 403, "ACCESS_DENIED")
    refused(guest.post(MEMORY, json=working("task_1", key="late")), 403, "ACCESS_DENIED")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"access": "admin"},
        {"access": "none"},
        {"access": None},
        {"access": "read", "expires_at": "2020-01-01T00:00:00Z"},
        {"access": "read", "expires_at": "soon"},
        {"access": "read", "bogus": 1},
        {"access": "read", "principal": "other"},
    ],
)
def test_a_malformed_grant_is_refused(boss: httpx.Client, body: dict[str, Any]) -> None:
    create_task(boss, id="task_1")
    invalid(grant(boss, "task_1", "guest", **body))
