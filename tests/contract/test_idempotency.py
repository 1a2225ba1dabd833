"""An Idempotency-Key makes a request safe to send again."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    PRINCIPALS,
    TASKS,
    create,
    entry,
    patch,
    query,
    read,
    semantic,
    task,
    update,
    working,
)
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.transport import MovableClock

KEY = {"Idempotency-Key": "0b3f8b1e-1"}


@pytest.fixture
def alice(tenant: Tenant) -> httpx.Client:
    return tenant.user("alice")


@pytest.mark.parametrize("body", [entry(), working(), semantic(tags=["a"])])
def test_a_repeated_create_gives_the_first_answer(
    alice: httpx.Client, clock: MovableClock, body: dict[str, Any]
) -> None:
    first = alice.post(MEMORY, json=body, headers=KEY)
    clock.advance(seconds=5)
    again = alice.post(MEMORY, json=body, headers=KEY)
    assert ok(first, 201) == ok(again, 201)
    assert (first.headers["ETag"], first.headers["Location"]) == (
        again.headers["ETag"],
        again.headers["Location"],
    )
    assert len(query(alice)) == 1


@pytest.mark.parametrize("body", [entry(), working(), semantic()])
@pytest.mark.parametrize("change", [{"value": {"n": 2}}, {"tags": ["a", "b"]}, {"ttl": None}])
def test_a_repeated_patch_gives_the_first_answer(
    alice: httpx.Client, clock: MovableClock, body: dict[str, Any], change: dict[str, Any]
) -> None:
    path = f"{MEMORY}/{create(alice, body)['id']}"
    first = ok(patch(alice, path, 1, change, **KEY))
    clock.advance(seconds=5)
    assert ok(patch(alice, path, 1, change, **KEY)) == first
    assert first["version"] == 2


def test_the_same_key_with_another_body_conflicts(alice: httpx.Client) -> None:
    made = create(alice, entry(), **KEY)
    other = alice.post(MEMORY, json=entry(value={"n": 2}), headers=KEY)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    path = f"{MEMORY}/{made['id']}"
    changed = ok(patch(alice, path, 1, {"value": {"n": 3}}, **{"Idempotency-Key": "second"}))
    other = patch(alice, path, 1, {"value": {"n": 4}}, **{"Idempotency-Key": "second"})
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    assert ok(read(alice, made["id"])) == changed


def test_after_a_later_change_a_repeat_gets_the_present_states_answer(alice: httpx.Client) -> None:
    made = create(alice, entry(), **KEY)
    ok(update(alice, made["id"], 1, value={"n": 2}))
    repeat = refused(alice.post(MEMORY, json=entry(), headers=KEY), 409, "ENTRY_EXISTS")
    assert repeat["current_version"] == 2


def test_a_late_repeat_of_a_patch_changes_nothing(alice: httpx.Client) -> None:
    path = f"{MEMORY}/{create(alice, entry())['id']}"
    ok(patch(alice, path, 1, {"value": {"n": 2}}, **KEY))
    ok(patch(alice, path, 2, {"value": {"n": 3}}))
    late = refused(patch(alice, path, 1, {"value": {"n": 2}}, **KEY), 409, "VERSION_MISMATCH")
    assert late["current"]["value"] == {"n": 3}
    assert_no_content(alice.delete(path))
    late_again = patch(alice, path, 1, {"value": {"n": 2}}, **KEY)
    refused(late_again, 404, "ENTRY_NOT_FOUND")


@pytest.mark.parametrize("body", [entry(), working(), semantic()])
def test_a_repeat_that_names_the_version_it_made_writes_nothing(
    alice: httpx.Client, body: dict[str, Any]
) -> None:
    path = f"{MEMORY}/{create(alice, body)['id']}"
    first = ok(patch(alice, path, 1, {"value": {"n": 2}}, **KEY))
    assert ok(patch(alice, path, 2, {"value": {"n": 2}}, **KEY)) == first
    refused(patch(alice, path, 2, {"value": {"n": 3}}, **KEY), 409, "IDEMPOTENCY_CONFLICT")
    assert ok(alice.get(path)) == first


def test_a_put_under_the_key_of_another_one_conflicts(alice: httpx.Client) -> None:
    first = ok(alice.put(MEMORY, json=working(value={"n": 1}), headers=KEY), 201)
    other = alice.put(MEMORY, json=working(value={"n": 2}), headers=KEY)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    assert ok(read(alice, first["id"])) == first


def test_a_refused_request_leaves_its_key_free(alice: httpx.Client) -> None:
    path = f"{MEMORY}/{create(alice, entry())['id']}"
    refused(patch(alice, path, 5, {"value": {"n": 2}}, **KEY), 409, "VERSION_MISMATCH")
    assert ok(patch(alice, path, 1, {"value": {"n": 2}}, **KEY))["version"] == 2


def test_a_key_is_its_principals_own(tenant: Tenant) -> None:
    alice, bob = tenant.agents("alice", "bob")
    assert create(alice, entry(), **KEY)["id"] != create(bob, entry(), **KEY)["id"]
    assert (len(query(alice)), len(query(bob))) == (1, 1)


def test_anothers_key_is_no_way_to_an_answer(tenant: Tenant) -> None:
    alice = tenant.user("alice")
    create(alice, semantic(value={"by": "alice"}), **KEY)
    bob = tenant.user("bob")
    answer = bob.post(MEMORY, json=semantic(value={"by": "alice"}), headers=KEY)
    assert answer.status_code in (403, 409)


def test_another_key_with_the_same_body_is_another_request(alice: httpx.Client) -> None:
    create(alice, entry(), **KEY)
    answer = alice.post(MEMORY, json=entry(), headers={"Idempotency-Key": "other"})
    refused(answer, 409, "ENTRY_EXISTS")


def test_a_repeated_batch_gives_the_first_answer(alice: httpx.Client, clock: MovableClock) -> None:
    standing = create(alice, entry(key="standing"))
    change = {"id": standing["id"], "version": 1, "value": {"n": 2}}
    body = {"entries": [entry(key="new"), change]}
    first = ok(alice.post(BATCH, json=body, headers=KEY))
    clock.advance(seconds=5)
    assert ok(alice.post(BATCH, json=body, headers=KEY)) == first
    assert [each["version"] for each in first["entries"]] == [1, 2]


def test_a_key_of_other_items_is_a_conflict(tenant: Tenant, service: Service) -> None:
    alice = tenant.user("alice")
    ok(alice.post(BATCH, json={"entries": [entry(key="a")]}, headers=KEY))
    other = alice.post(BATCH, json={"entries": [entry(key="b")]}, headers=KEY)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    assert [each["key"] for each in query(alice)] == ["a"]
    body = {"id": "first", "kind": "agent"}
    ok(tenant.admin.post(PRINCIPALS, json=body, headers=KEY), 201)
    other = tenant.admin.post(PRINCIPALS, json=body | {"id": "second"}, headers=KEY)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")
    key = {"Idempotency-Key": tenant.id}
    ok(service.root.post("/api/v1/tenants", json={"id": f"{tenant.id}-x"}, headers=key), 201)
    other = service.root.post("/api/v1/tenants", json={"id": f"{tenant.id}-y"}, headers=key)
    refused(other, 409, "IDEMPOTENCY_CONFLICT")


def test_a_repeated_task_is_registered_once(alice: httpx.Client) -> None:
    first = ok(alice.post(TASKS, json=task(), headers=KEY), 201)
    assert ok(alice.post(TASKS, json=task(), headers=KEY), 201) == first
    assert len(ok(alice.get("/api/v1/intents/intent_1/tasks"))) == 1


def test_a_repeated_task_change_gives_the_first_answer(alice: httpx.Client) -> None:
    path = f"{TASKS}/{ok(alice.post(TASKS, json=task()), 201)['id']}"
    first = ok(patch(alice, path, 1, {"status": "running"}, **KEY))
    assert ok(patch(alice, path, 1, {"status": "running"}, **KEY)) == first
    refused(patch(alice, path, 1, {"status": "ready"}, **KEY), 409, "IDEMPOTENCY_CONFLICT")
