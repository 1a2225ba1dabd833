"""Keys, principals and tenants."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, PRINCIPALS, create, entry, read
from tests.contract.expect import invalid, ok, only_list, refused
from tests.contract.service import Service, Tenant
from tests.contract.transport import MovableClock

ALL = ["memory.admin", "memory.read", "memory.write"]


def test_the_root_key_creates_a_tenant_with_its_first_principal(service: Service) -> None:
    made = ok(service.root.post("/api/v1/tenants", json={"id": "acme"}), 201)
    assert made["id"] == "acme"
    assert made["admin"]["kind"] == "user"
    assert sorted(made["admin"]["permissions"]) == ALL
    admin = service.client(made["admin"]["api_key"])
    assert create(admin, entry())["agent_id"] == made["admin"]["id"]


def test_a_tenant_is_created_once(service: Service) -> None:
    first = service.tenant()
    again = service.root.post("/api/v1/tenants", json={"id": first.id})
    assert again.status_code == 409
    ok(first.admin.get(PRINCIPALS))


def test_the_root_key_is_no_principal(service: Service) -> None:
    for path in (MEMORY, PRINCIPALS):
        assert service.root.get(path).status_code in (401, 403)
    assert service.root.post(MEMORY, json=entry()).status_code in (401, 403)


@pytest.mark.parametrize("kind", ["agent", "coordinator", "user"])
def test_a_principal_reads_and_writes_by_default(tenant: Tenant, kind: str) -> None:
    made = tenant.principal(kind, "pat")
    assert (made["id"], made["kind"]) == ("pat", kind)
    assert sorted(made["permissions"]) == ["memory.read", "memory.write"]
    client = tenant.service.client(made["api_key"])
    ok(read(client, create(client, entry())["id"]))


def test_a_principal_that_has_expired_already_is_refused(tenant: Tenant) -> None:
    body = {"id": "pat", "kind": "agent", "expires_at": "2020-01-01T00:00:00Z"}
    invalid(tenant.admin.post(PRINCIPALS, json=body), "expires_at")
    assert "pat" not in listed(tenant.admin)


def listed(client: httpx.Client) -> list[str]:
    return [each["id"] for each in only_list(ok(client.get(PRINCIPALS)))]


@pytest.mark.parametrize("id", ["a", "x" * 128, "a#b:c|d", "Zoë 🤖", "=cmd|x", "علي", "%2F"])
def test_any_printable_text_is_a_legal_id(tenant: Tenant, id: str) -> None:
    client = tenant.agent(id)
    assert read(client, create(client, entry())["id"]).json()["agent_id"] == id


@pytest.mark.parametrize(
    "id",
    [
        *("", "x" * 129, "team/alice", "a\u0000b", "a\nb", "a\u2028b", "a\u202eb", "a\u2066b"),
        *("root", "agent-memory", "[deleted]"),
        *("root ", " root", " ", ".", ".."),
    ],
)
def test_an_id_that_misleads_a_reader_is_refused(tenant: Tenant, id: str) -> None:
    body = {"id": id, "kind": "agent"}
    invalid(tenant.admin.post(PRINCIPALS, json=body), "id")
    path = f"/api/v1/tenants/{tenant.id}/admins"
    invalid(tenant.service.root.post(path, json={"id": id}), "id")


def test_the_root_key_creates_an_admin_in_a_tenant(service: Service, tenant: Tenant) -> None:
    path = f"/api/v1/tenants/{tenant.id}/admins"
    made = ok(service.root.post(path, json={"id": "rescue"}), 201)
    assert (made["kind"], sorted(made["permissions"])) == ("user", ALL)
    rescue = service.client(made["api_key"])
    ok(rescue.patch(f"{PRINCIPALS}/{tenant.admin_id}", json={"permissions": ["memory.read"]}))
    refused(service.root.post(path, json={"id": "rescue"}), 409, "ENTRY_EXISTS")
    unknown = service.root.post("/api/v1/tenants/unknown-tenant/admins", json={"id": "a"})
    refused(unknown, 404, "NOT_FOUND")
    refused(tenant.admin.post(path, json={"id": "b"}), 403, "ACCESS_DENIED")


@pytest.mark.parametrize(
    "change",
    [
        {"permissions": ["memory.read", "memory.write"]},
        {"permissions": []},
        {"expires_at": "2100-01-01T00:00:00Z"},
        None,
    ],
)
def test_a_tenant_keeps_an_administrator(tenant: Tenant, change: dict[str, Any] | None) -> None:
    def remove(id: str) -> httpx.Response:
        path = f"{PRINCIPALS}/{id}"
        if change is None:
            return tenant.admin.delete(path)
        return tenant.admin.patch(path, json=change)

    ending = {"id": "brief", "kind": "user", "permissions": ALL}
    body = ending | {"expires_at": "2099-01-01T00:00:00Z"}
    ok(tenant.admin.post(PRINCIPALS, json=body), 201)
    refused(remove(tenant.admin_id), 409, "LAST_ADMIN")
    ok(tenant.admin.get(PRINCIPALS))
    ok(tenant.admin.post(PRINCIPALS, json=ending | {"id": "second"}), 201)
    assert remove("second").status_code in (200, 204)
    refused(remove(tenant.admin_id), 409, "LAST_ADMIN")
    lasting = {"permissions": ALL, "expires_at": None}
    ok(tenant.admin.patch(f"{PRINCIPALS}/brief", json=lasting))
    assert remove(tenant.admin_id).status_code in (200, 204)


def test_a_deletion_leaves_the_last_administrator(tenant: Tenant) -> None:
    body = {"kind": "agent", "id": tenant.admin_id}
    refused(tenant.admin.post("/api/v1/deletions", json=body), 409, "LAST_ADMIN")
    ok(tenant.admin.get(PRINCIPALS))


def test_of_admins_who_remove_each_other_one_stays(service: Service, tenant: Tenant) -> None:
    body = {"id": "second", "kind": "user", "permissions": ALL}
    second = service.client(ok(tenant.admin.post(PRINCIPALS, json=body), 201)["api_key"])
    attempts = [(tenant.admin, "second"), (second, tenant.admin_id)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda each: each[0].delete(f"{PRINCIPALS}/{each[1]}"), attempts))
    assert sorted(each.status_code for each in answers) in ([204, 401], [204, 409])


def test_principals_are_listed_newest_first_without_keys(
    tenant: Tenant, clock: MovableClock
) -> None:
    for id in ("one", "two", "three"):
        clock.advance(seconds=1)
        tenant.agent(id)
    answer = tenant.admin.get(PRINCIPALS)
    assert listed(tenant.admin) == ["three", "two", "one", tenant.admin_id]
    assert answer.json()["total"] == 4
    assert "api_key" not in answer.text
    assert "am_" not in answer.text


def test_a_key_names_its_principal(service: Service, tenant: Tenant) -> None:
    made = tenant.principal("agent", "alice", permissions=["memory.write"])
    found = ok(service.client(made["api_key"]).get("/api/v1/me"))
    assert found == {name: value for name, value in made.items() if name != "api_key"}


def test_a_change_of_a_principal_keeps_its_key(tenant: Tenant, clock: MovableClock) -> None:
    made = tenant.principal("agent", "pat")
    pat, path = tenant.service.client(made["api_key"]), f"{PRINCIPALS}/pat"
    entry_id = create(pat, entry())["id"]
    changed = ok(tenant.admin.patch(path, json={"permissions": ["memory.read"]}))
    assert changed == {k: v for k, v in made.items() if k != "api_key"} | {
        "permissions": ["memory.read"]
    }
    refused(pat.post(MEMORY, json=entry(key="other")), 403, "ACCESS_DENIED")
    ok(read(pat, entry_id))
    ok(tenant.admin.patch(path, json={"agent_type": "x", "expires_at": clock.time(seconds=9)}))
    assert ok(pat.get("/api/v1/me"))["agent_type"] == "x"
    rotated = ok(tenant.admin.post(f"{path}/rotate"))
    assert (rotated["agent_type"], rotated["permissions"]) == ("x", ["memory.read"])
    ok(tenant.admin.patch(path, json={"agent_type": None, "expires_at": None}))
    clock.advance(seconds=10)
    me = ok(tenant.service.client(rotated["api_key"]).get("/api/v1/me"))
    assert (me["agent_type"], me["expires_at"]) == (None, None)


def test_a_malformed_change_of_a_principal_is_refused(tenant: Tenant) -> None:
    tenant.agent("pat")
    path = f"{PRINCIPALS}/pat"
    invalid(tenant.admin.patch(path, json={}), "body")
    invalid(tenant.admin.patch(path, json={"expires_at": "2020-01-01T00:00:00Z"}), "expires_at")
    refused(tenant.admin.patch(f"{PRINCIPALS}/none", json={"agent_type": "x"}), 404, "NOT_FOUND")


def test_an_id_of_a_revoked_principal_is_reused_only_on_purpose(tenant: Tenant) -> None:
    entry_id = create(tenant.agent("pat"), entry())["id"]
    ok_to_revoke = tenant.admin.delete(f"{PRINCIPALS}/pat")
    assert ok_to_revoke.status_code == 204
    body = {"id": "pat", "kind": "agent"}
    refused(tenant.admin.post(PRINCIPALS, json=body), 409, "ENTRY_EXISTS")
    assert "pat" not in listed(tenant.admin)
    again = ok(tenant.admin.post(PRINCIPALS, json=body | {"reuse": True}), 201)
    ok(read(tenant.service.client(again["api_key"]), entry_id))
    refused(tenant.admin.post(PRINCIPALS, json=body | {"reuse": True}), 409, "ENTRY_EXISTS")
    ok(tenant.admin.post(PRINCIPALS, json={"id": "new", "kind": "agent", "reuse": True}), 201)
