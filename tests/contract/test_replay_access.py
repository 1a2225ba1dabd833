"""A request that is repeated with its Idempotency-Key is authorized like a new one."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    TASKS,
    allow,
    change_task,
    create,
    create_task,
    grant,
    semantic,
    working,
)
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Tenant

KEY = {"Idempotency-Key": "once"}
Send = Callable[[httpx.Client, str], httpx.Response]


def _patch(client: httpx.Client, id: str) -> httpx.Response:
    headers = KEY | {"If-Match": "1"}
    return client.patch(f"{MEMORY}/{id}", json={"value": {"n": 2}}, headers=headers)


def _patch_tags(client: httpx.Client, id: str) -> httpx.Response:
    headers = KEY | {"If-Match": "1"}
    return client.patch(f"{MEMORY}/{id}", json={"tags": ["t"], "ttl": None}, headers=headers)


def _batch(client: httpx.Client, id: str) -> httpx.Response:
    body = {"entries": [{"id": id, "version": 1, "value": {"n": 2}}]}
    return client.post(BATCH, json=body, headers=KEY)


CHANGES = [_patch, _patch_tags, _batch]


@pytest.mark.parametrize("send", CHANGES)
def test_who_lost_a_namespace_gets_no_stored_answer(tenant: Tenant, send: Send) -> None:
    ada = tenant.agent("ada")
    allow(tenant.admin, "facts", "none", ada="write")
    made = create(ada, semantic())
    first = ok(send(ada, made["id"]))
    assert ok(send(ada, made["id"])) == first
    allow(tenant.admin, "facts", "none", ada="none")
    refused(send(ada, made["id"]), 403, "ACCESS_DENIED")


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_repeated_create_needs_the_namespace(tenant: Tenant, method: str) -> None:
    ada = tenant.agent("ada")
    allow(tenant.admin, "facts", "none", ada="write")

    def send() -> httpx.Response:
        return ada.request(method, MEMORY, json=semantic(), headers=KEY)

    assert ok(send(), 201) == ok(send(), 201)
    allow(tenant.admin, "facts", "none", ada="none")
    refused(send(), 403, "ACCESS_DENIED")


def _create(client: httpx.Client, _: str) -> httpx.Response:
    return client.post(MEMORY, json=working("t", key="new"), headers=KEY)


def _put(client: httpx.Client, _: str) -> httpx.Response:
    return client.put(MEMORY, json=working("t", key="new"), headers=KEY)


@pytest.mark.parametrize("send", [*CHANGES, _create, _put])
def test_a_former_assignee_gets_no_stored_answer(tenant: Tenant, send: Send) -> None:
    boss, ada = tenant.coordinator("boss"), tenant.agent("ada")
    at = create_task(boss, id="t", assigned_agent="ada")
    made = create(ada, working("t"))
    assert send(ada, made["id"]).is_success
    assert send(ada, made["id"]).is_success
    ok(change_task(boss, at, assigned_agent="eve"))
    refused(send(ada, made["id"]), 409, "TASK_REASSIGNED")


@pytest.mark.parametrize("send", [_patch, _create, _put])
def test_a_former_holder_of_a_grant_gets_no_stored_answer(tenant: Tenant, send: Send) -> None:
    boss, eve = tenant.coordinator("boss"), tenant.agent("eve")
    create_task(boss, id="t", assigned_agent="ada")
    ok(grant(boss, "t", "eve", access="write"))
    made = create(eve, working("t"))
    assert send(eve, made["id"]).is_success
    assert send(eve, made["id"]).is_success
    assert_no_content(boss.delete(f"{TASKS}/t/grants/eve"))
    refused(send(eve, made["id"]), 403, "ACCESS_DENIED")


def test_who_lost_the_administration_gets_no_stored_permissions(tenant: Tenant) -> None:
    ada, space = tenant.agent("ada"), "/api/v1/objects/shared"
    allow(tenant.admin, "facts", "none", ada="admin")
    admin: dict[str, Any] = {"permissions": {"allow": [{"agent": "ada", "access": "admin"}]}}
    ok(tenant.admin.patch(space, json=admin))
    for path in (f"{NAMESPACES}/facts", space):
        own = {"permissions": {"allow": [{"agent": "ada", "access": "read"}]}}
        ok(ada.patch(path, json=own, headers=KEY))
        refused(ada.patch(path, json=own, headers=KEY), 403, "ACCESS_DENIED")


def test_a_repair_is_not_repeated_without_memory_admin(tenant: Tenant) -> None:
    boss = tenant.coordinator("boss")
    other = tenant.coordinator("other", permissions=["memory.write", "memory.admin"])
    at = create_task(boss, id="t", assigned_agent="ada")

    def repair() -> httpx.Response:
        headers = KEY | {"If-Match": str(at["version"])}
        return other.patch(f"{TASKS}/t", json={"assigned_agent": "eve"}, headers=headers)

    assert ok(repair())["assigned_agent"] == ok(repair())["assigned_agent"] == "eve"
    path = "/api/v1/principals/other"
    ok(tenant.admin.patch(path, json={"permissions": ["memory.write"]}))
    refused(repair(), 403, "ACCESS_DENIED")


def test_a_hand_over_is_answered_again(tenant: Tenant) -> None:
    boss, ada = tenant.coordinator("boss"), tenant.agent("ada")
    at = create_task(boss, id="t", assigned_agent="ada", delegates=["eve"])

    def hand_over() -> httpx.Response:
        headers = KEY | {"If-Match": str(at["version"])}
        return ada.patch(f"{TASKS}/t", json={"assigned_agent": "eve"}, headers=headers)

    assert ok(hand_over()) == ok(hand_over())
