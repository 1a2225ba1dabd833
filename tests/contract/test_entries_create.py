"""Creating entries."""

from typing import Any

import pytest

from tests.contract.bodies import (
    DROP,
    MEMORY,
    create,
    create_task,
    entry,
    query,
    read,
    semantic,
    sized,
    update,
    working,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

FIELDS = {
    "id",
    "agent_id",
    "namespace",
    "key",
    "value",
    "memory_type",
    "scope",
    "tags",
    "ttl",
    "version",
    "created_at",
    "updated_at",
    "expires_at",
    "sensitivity",
}


@pytest.mark.moto
@pytest.mark.parametrize(
    ("memory_type", "more"),
    [("working", set()), ("episodic", {"pinned", "priority"}), ("semantic", {"curated_by"})],
)
def test_a_new_entry_is_answered_whole(tenant: Tenant, memory_type: str, more: set[str]) -> None:
    alice = tenant.user("alice")
    answer = alice.post(MEMORY, json=entry(memory_type=memory_type))
    made = ok(answer, 201)
    assert made.keys() >= FIELDS | more
    assert made["id"].startswith("mem_")
    assert answer.headers["Location"] == f"{MEMORY}/{made['id']}"
    expected = {"agent_id": "alice", "version": 1, "tags": [], "ttl": None, "expires_at": None}
    assert made.items() >= (entry(memory_type=memory_type) | expected).items()
    assert ok(read(alice, made["id"])) == made


def test_given_fields_are_given_back(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    create_task(alice, id="task_1", intent_id="intent_1")
    scope = {"task_id": "task_1", "intent_id": "intent_1"}
    given = entry(
        agent_id="alice",
        tags=["b", "a"],
        scope=scope,
        pinned=True,
        priority="high",
        sensitivity="internal",
    )
    assert create(alice, given).items() >= given.items()


def test_null_stands_for_what_is_not_given(tenant: Tenant) -> None:
    optional = (
        "agent_id",
        "scope",
        "tags",
        "ttl",
        "expires_at",
        "pinned",
        "priority",
        "sensitivity",
    )
    made = create(tenant.admin, entry() | dict.fromkeys(optional))
    assert (made["tags"], made["scope"], made["agent_id"]) == ([], {}, "admin")


def test_episodic_entries_are_unpinned_and_of_normal_priority_by_default(tenant: Tenant) -> None:
    made = create(tenant.admin, entry())
    assert (made["pinned"], made["priority"]) == (False, "normal")


@pytest.mark.parametrize(("first", "second"), [("working", "episodic"), ("episodic", "working")])
def test_working_and_episodic_share_a_slot(tenant: Tenant, first: str, second: str) -> None:
    alice = tenant.agent("alice")
    made = create(alice, entry(memory_type=first))
    again = alice.post(MEMORY, json=entry(memory_type=second, value={"n": 2}))
    problem = refused(again, 409, "ENTRY_EXISTS")
    assert (problem["current_version"], problem["current"]) == (1, made)
    assert query(alice) == [made]


@pytest.mark.moto
def test_a_semantic_slot_is_the_namespaces(tenant: Tenant) -> None:
    boss, carla = tenant.coordinator("boss"), tenant.admin
    made = create(boss, semantic())
    permissions = {"default": "write", "allow": []}
    ok(carla.patch("/api/v1/memory/namespaces/facts", json={"permissions": permissions}))
    problem = refused(carla.post(MEMORY, json=semantic()), 409, "ENTRY_EXISTS")
    assert problem["current"] == made


@pytest.mark.parametrize("body", [entry(), working(), semantic()])
@pytest.mark.parametrize("how", ["deleted", "expired"])
def test_a_freed_slot_takes_a_new_entry_that_old_ids_never_match(
    tenant: Tenant, clock: MovableClock, body: dict[str, Any], how: str
) -> None:
    alice = tenant.user("alice")
    old = create(alice, body | {"expires_at": clock.time(seconds=1)})
    if how == "deleted":
        assert_no_content(alice.delete(f"{MEMORY}/{old['id']}"))
    else:
        clock.advance(seconds=1)
    new = create(alice, body | {"value": {"n": 2}})
    assert new["id"] != old["id"]
    assert new["version"] == 1
    path = f"{MEMORY}/{old['id']}"
    for answer in (
        alice.get(path),
        update(alice, old["id"], 1, value={"n": 3}),
        update(alice, old["id"], 1, tags=["late"]),
        alice.delete(path),
        alice.delete(path, headers={"If-Match": "1"}),
    ):
        refused(answer, 404, "ENTRY_NOT_FOUND")
    assert ok(read(alice, new["id"])) == new
    assert query(alice) == [new]


def test_ids_differ_within_one_millisecond_and_when_the_clock_goes_back(
    tenant: Tenant, clock: MovableClock
) -> None:
    alice, ids = tenant.agent("alice"), set()
    for step in (0, 0, 0, -1, 1, -1000):
        clock.advance(ms=step)
        made = create(alice, entry())
        ids.add(made["id"])
        assert_no_content(alice.delete(f"{MEMORY}/{made['id']}"))
    clock.advance(ms=1000)
    assert len(ids) == 6


@pytest.mark.parametrize("body", [entry(), semantic()])
def test_a_value_may_be_65536_bytes_and_not_one_more(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"value": sized(65_536)})
    assert ok(read(alice, made["id"]))["value"] == sized(65_536)
    too_large = alice.post(MEMORY, json=body | {"key": "next", "value": sized(65_537)})
    problem = refused(too_large, 413, "VALUE_TOO_LARGE")
    assert (problem["max"], problem["actual"]) == (65_536, 65_537)
    assert len(query(alice)) == 1


def test_white_space_in_the_body_is_no_part_of_the_value(tenant: Tenant) -> None:
    body = b'{"namespace":"n","key":"k","memory_type":"episodic","value":{' + b" " * 70_000 + b"}}"
    made = ok(tenant.admin.post(MEMORY, content=body), 201)
    assert made["value"] == {}


def test_bad_fields_are_named(tenant: Tenant) -> None:
    bad = entry(key=DROP, value=[1], pinned="yes", scope={"task_id": 7}, bogus=1)
    invalid(tenant.admin.post(MEMORY, json=bad), "key", "value", "pinned", "task_id", "bogus")
    invalid(tenant.admin.post(MEMORY, json=semantic(pinned=True)), "pinned")
    assert query(tenant.admin) == []
