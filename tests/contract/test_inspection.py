"""`memory.inspect` reads everything in its tenant; the operator grants it, and each use shows."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    PRINCIPALS,
    allow,
    create,
    create_task,
    entry,
    read,
    semantic,
    working,
)
from tests.contract.expect import ok, refused
from tests.contract.service import Tenant

AUDIT = "/api/v1/audit"
INSPECT = ["memory.inspect"]
Json = dict[str, Any]


def grant_permissions(tenant: Tenant, id: str, permissions: list[str]) -> httpx.Response:
    path = f"/api/v1/tenants/{tenant.id}/principals/{id}"
    return tenant.service.root.patch(path, json={"permissions": permissions})


def uses(tenant: Tenant, **query: Any) -> list[Json]:
    wanted = {"action": "memory.inspect"} | query
    found: list[Json] = ok(tenant.admin.get(AUDIT, params=wanted))["records"]
    return found


@pytest.fixture
def inspector(tenant: Tenant) -> httpx.Client:
    client = tenant.agent("auditor", permissions=["memory.read"])
    ok(grant_permissions(tenant, "auditor", ["memory.read", *INSPECT]))
    return client


def test_the_root_key_grants_and_takes_memory_inspect(tenant: Tenant) -> None:
    ada, auditor = tenant.agents("ada", "auditor")
    own = create(ada, entry())
    refused(read(auditor, own["id"]), 403, "ACCESS_DENIED")
    granted = ok(grant_permissions(tenant, "auditor", INSPECT))
    assert granted["permissions"] == INSPECT
    assert ok(read(auditor, own["id"]))["value"] == own["value"]
    (record,) = ok(tenant.admin.get(AUDIT, params={"action": "principal.grant"}))["records"]
    assert (record["target"], record["actor"]["id"]) == ("principal:auditor", "root")
    assert record["after"] == {"permissions": INSPECT}
    ok(grant_permissions(tenant, "auditor", ["memory.read"]))
    refused(read(auditor, own["id"]), 403, "ACCESS_DENIED")
    refused(grant_permissions(tenant, "nobody", INSPECT), 404, "NOT_FOUND")
    refused(grant_permissions(tenant, tenant.admin_id, INSPECT), 409, "LAST_ADMIN")


@pytest.mark.usefixtures("inspector")
def test_an_administrator_neither_grants_nor_takes_it(tenant: Tenant) -> None:
    path = f"{PRINCIPALS}/auditor"
    kept = ok(tenant.admin.patch(path, json={"permissions": ["memory.write"]}))
    assert kept["permissions"] == ["memory.inspect", "memory.write"]
    new = {"id": "mallory", "kind": "agent", "permissions": INSPECT}
    denied = tenant.admin.post(PRINCIPALS, json=new)
    assert "root key" in refused(denied, 403, "ACCESS_DENIED")["detail"]
    mallory = f"{PRINCIPALS}/{tenant.admin_id}"
    refused(tenant.admin.patch(mallory, json={"permissions": INSPECT}), 403, "ACCESS_DENIED")
    refused(tenant.admin.post(f"{path}/rotate"), 403, "ACCESS_DENIED")
    grant = f"/api/v1/tenants/{tenant.id}/principals/mallory"
    refused(tenant.admin.patch(grant, json={"permissions": INSPECT}), 403, "ACCESS_DENIED")


def test_an_inspector_reads_everything(tenant: Tenant, inspector: httpx.Client) -> None:
    boss, ada = tenant.coordinator("boss"), tenant.agent("ada")
    create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    allow(tenant.admin, "secret", "none", ada="write")
    entries = [
        create(ada, entry(namespace="own")),
        create(ada, entry(namespace="past")),
        create(ada, working("t")),
        create(ada, semantic(namespace="secret")),
        create(ada, semantic(namespace="agents/ada/notes")),
    ]
    body = {"user_id": "ada", "messages": [{"role": "user", "content": "my pin"}]}
    ok(ada.put("/api/v1/conversations/s", json=body), 201)
    ok(ada.put("/api/v1/agents/ada/state/bob/k", json={"value": 1}))
    ok(ada.put("/api/v1/agents/ada/objects/files/k", content=b"bytes"), 201)
    for each in entries:
        assert ok(read(inspector, each["id"]))["value"] == each["value"]
    found = {each["id"] for each in _list(inspector, f"{MEMORY}?agent_id=ada", "entries")}
    found |= {each["id"] for each in _list(inspector, f"{MEMORY}?memory_type=semantic", "entries")}
    assert found == {each["id"] for each in entries}
    assert ok(inspector.get("/api/v1/conversations/s"))["messages"]
    for path in ("/api/v1/users/ada/conversations", "/api/v1/conversations"):
        assert [each["session_id"] for each in _list(inspector, path, "conversations")] == ["s"]
    assert ok(inspector.get("/api/v1/agents/ada/state/bob/k"))["value"] == 1
    assert len(_list(inspector, "/api/v1/agents/ada/state", "states")) == 1
    assert inspector.get("/api/v1/agents/ada/objects/files/k").content == b"bytes"
    for path in ("/api/v1/tasks/t", "/api/v1/tasks/t/context", "/api/v1/intents/i/events"):
        ok(inspector.get(path))
    ok(inspector.get("/api/v1/agents/ada/events"))
    agents = {each["agent_id"] for each in _list(inspector, "/api/v1/agents", "agents")}
    assert agents >= {"ada", "auditor"}


def _list(client: httpx.Client, path: str, name: str) -> list[Json]:
    found: list[Json] = ok(client.get(path))[name]
    return found


def test_each_use_is_recorded_and_nothing_else(tenant: Tenant, inspector: httpx.Client) -> None:
    ada = tenant.agent("ada")
    private, shared = create(ada, entry()), create(tenant.admin, semantic())
    ok(read(inspector, shared["id"]))
    refused(inspector.get(f"{MEMORY}/mem_unknown"), 404, "ENTRY_NOT_FOUND")
    assert uses(tenant) == []
    answer = read(inspector, private["id"])
    ok(inspector.get(f"{MEMORY}?agent_id=ada"))
    second, first = sorted(uses(tenant), key=lambda record: len(record["target"]))
    assert first["target"] == f"path:{MEMORY}/{private['id']}"
    assert first["request_id"] == answer.headers["x-request-id"]
    assert first["actor"] == {"id": "auditor", "kind": "agent"}
    assert (second["target"], second["after"]) == (f"path:{MEMORY}", {"agent_id": ["ada"]})


def test_lists_omit_restricted_values_until_they_are_read_one_by_one(
    tenant: Tenant, inspector: httpx.Client
) -> None:
    ada = tenant.agent("ada")
    secret = create(ada, entry(sensitivity="restricted", value={"pin": "4711"}))
    create(ada, entry(key="open"))
    listed = {each["key"]: each for each in _list(inspector, f"{MEMORY}?agent_id=ada", "entries")}
    assert "value" not in listed[secret["key"]]
    assert "value" in listed["open"]
    assert ok(read(inspector, secret["id"]))["value"] == {"pin": "4711"}


def test_it_writes_nothing(tenant: Tenant) -> None:
    ada, auditor = tenant.agents("ada", "auditor")
    own = create(ada, entry())
    ok(grant_permissions(tenant, "auditor", INSPECT))
    refused(auditor.delete(f"{MEMORY}/{own['id']}"), 403, "ACCESS_DENIED")
    refused(auditor.post(MEMORY, json=entry()), 403, "ACCESS_DENIED")
    ok(grant_permissions(tenant, "auditor", ["memory.write", *INSPECT]))
    refused(auditor.delete(f"{MEMORY}/{own['id']}"), 403, "ACCESS_DENIED")
    path = "/api/v1/agents/ada/objects/files/k"
    refused(auditor.put(path, content=b"1"), 403, "ACCESS_DENIED")
