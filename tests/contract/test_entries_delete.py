"""RFC-0015 §9.3: deleting entries."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, create, create_task, entry, query, read, semantic, working
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Tenant

TIERS = [working(), entry(), semantic()]


def delete(client: httpx.Client, entry_id: str, **headers: str) -> httpx.Response:
    return client.delete(f"{MEMORY}/{entry_id}", headers=headers)


@pytest.mark.parametrize("body", TIERS)
def test_a_deleted_entry_is_not_found_any_more(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    doomed, kept = create(alice, body | {"tags": ["t"]}), create(alice, body | {"key": "kept"})
    assert_no_content(delete(alice, doomed["id"]))
    refused(read(alice, doomed["id"]), 404, "ENTRY_NOT_FOUND")
    refused(delete(alice, doomed["id"]), 404, "ENTRY_NOT_FOUND")
    assert query(alice, tags="t") == []
    assert query(alice) == [kept]


@pytest.mark.parametrize("body", TIERS)
def test_a_deleted_value_is_no_longer_stored(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"value": {"word": "xylophone"}, "tags": ["zither"]})
    assert "xylophone" in str(tenant.service.stored())
    assert_no_content(delete(alice, made["id"]))
    assert "xylophone" not in str(tenant.service.stored())


@pytest.mark.parametrize("body", TIERS)
def test_if_match_guards_a_delete(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body)
    problem = refused(delete(alice, made["id"], **{"If-Match": "2"}), 409, "VERSION_MISMATCH")
    assert (problem["current_version"], problem["current"]) == (1, made)
    assert_no_content(delete(alice, made["id"], **{"If-Match": '"1"'}))


@pytest.mark.parametrize("body", [working(), entry()])
def test_only_the_owner_deletes_private_memory(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.agent("alice")
    made = create(alice, body)
    for other in (tenant.agent("bob"), tenant.coordinator("boss"), tenant.admin):
        refused(delete(other, made["id"]), 403, "ACCESS_DENIED")
        refused(delete(other, made["id"], **{"If-Match": "1"}), 403, "ACCESS_DENIED")
    assert ok(read(alice, made["id"])) == made


def test_semantic_memory_is_deleted_by_who_may_write_the_namespace(tenant: Tenant) -> None:
    made = create(tenant.coordinator("boss"), semantic())
    refused(delete(tenant.agent("alice"), made["id"]), 403, "ACCESS_DENIED")
    permissions = {"default": "read", "allow": [{"agent": "carla", "access": "write"}]}
    ok(tenant.admin.patch(f"{MEMORY}/namespaces/facts", json={"permissions": permissions}))
    assert_no_content(delete(tenant.agent("carla"), made["id"]))


def test_a_delete_needs_the_write_permission(tenant: Tenant) -> None:
    made = create(tenant.admin, semantic())
    reader = tenant.user("reader", permissions=["memory.read"])
    permissions = {"default": "admin", "allow": []}
    ok(tenant.admin.patch(f"{MEMORY}/namespaces/facts", json={"permissions": permissions}))
    refused(delete(reader, made["id"]), 403, "ACCESS_DENIED")


def test_a_tasks_working_memory_is_deleted_by_its_owner(tenant: Tenant) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    task = create_task(boss, assigned_agent="alice")
    made = create(alice, working(task["id"]))
    refused(delete(boss, made["id"]), 403, "ACCESS_DENIED")
    assert_no_content(delete(alice, made["id"]))
    assert query(boss, task_id=task["id"]) == []
