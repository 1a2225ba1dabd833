"""Namespaces and who may do what in them."""

from urllib.parse import quote

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    NAMESPACES,
    allow,
    create,
    entry,
    query,
    read,
    semantic,
    update,
)
from tests.contract.expect import assert_no_content, invalid, ok, only_list, refused
from tests.contract.service import Tenant
from tests.contract.transport import MovableClock

LEVELS = ["none", "read", "write", "admin"]


def listed(client: httpx.Client, **page: int) -> list[str]:
    return [each["namespace"] for each in only_list(ok(client.get(NAMESPACES, params=page)))]


def address(name: str) -> str:
    return f"{NAMESPACES}/{quote(name, safe='')}"


def test_an_admin_configures_a_new_namespace(tenant: Tenant) -> None:
    permissions = {
        "default": "read",
        "allow": [
            {"agent": "agent_policy_curator", "access": "write"},
            {"agent": "coordinator_01", "access": "admin"},
        ],
    }
    answer = tenant.admin.patch(f"{NAMESPACES}/policies", json={"permissions": permissions})
    made = ok(answer)
    assert made["namespace"] == "policies"
    assert made["permissions"] == permissions
    assert made["version"] == 1
    assert ok(tenant.admin.get(f"{NAMESPACES}/policies")) == made


def test_a_namespace_carries_a_version(tenant: Tenant) -> None:
    assert allow(tenant.admin, "facts", "read")["version"] == 1
    assert allow(tenant.admin, "facts", "none")["version"] == 2
    body = {"permissions": {"default": "write", "allow": []}}
    path = f"{NAMESPACES}/facts"
    stale = tenant.admin.patch(path, json=body, headers={"If-Match": "1"})
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == 2
    changed = ok(tenant.admin.patch(path, json=body, headers={"If-Match": '"2"'}))
    assert (changed["version"], changed["permissions"]["default"]) == (3, "write")
    invalid(tenant.admin.patch(path, json=body, headers={"If-Match": "W/3"}))
    unmade = tenant.admin.patch(f"{NAMESPACES}/new", json=body, headers={"If-Match": "1"})
    assert refused(unmade, 409, "VERSION_MISMATCH")["current_version"] == 0


def test_a_body_may_repeat_the_name_in_the_path(tenant: Tenant) -> None:
    body = {"namespace": "facts", "permissions": {"default": "none"}}
    assert ok(tenant.admin.patch(f"{NAMESPACES}/facts", json=body))["namespace"] == "facts"
    invalid(tenant.admin.patch(f"{NAMESPACES}/other", json=body), "namespace")
    assert listed(tenant.admin) == ["facts"]


def test_who_has_admin_access_manages_the_namespace(tenant: Tenant) -> None:
    allow(tenant.admin, "facts", "read", pat="admin", carl="write")
    pat, carl = tenant.agents("pat", "carl")
    body = {"permissions": {"default": "none", "allow": [{"agent": "alice", "access": "write"}]}}
    for name in ("other", "f*", "*"):
        refused(pat.patch(f"{NAMESPACES}/{name}", json=body), 403, "ACCESS_DENIED")
    refused(carl.patch(f"{NAMESPACES}/facts", json=body), 403, "ACCESS_DENIED")
    assert ok(pat.patch(f"{NAMESPACES}/facts", json=body))["version"] == 2
    create(tenant.agent("alice"), semantic())
    assert listed(tenant.admin) == ["facts"]


def test_a_prefix_rule_counts_for_all_names_that_begin_so(tenant: Tenant) -> None:
    alice, carla = tenant.agent("alice"), tenant.user("carla")
    old = create(carla, semantic(namespace="internal.old"))
    chosen = create(carla, semantic(namespace="internal.open"))
    allow(tenant.admin, "internal.open", "read")
    assert len(query(alice, namespace="internal.*")) == 2
    allow(tenant.admin, "internal.*", "none")
    allow(tenant.admin, "internal.team.*", "write")
    assert [each["id"] for each in query(alice)] == [chosen["id"]]
    refused(read(alice, old["id"]), 403, "ACCESS_DENIED")
    refused(carla.post(MEMORY, json=semantic(namespace="internal.new")), 403, "ACCESS_DENIED")
    ok(update(carla, old["id"], 1, value={}))
    create(alice, semantic(namespace="internal.team.x"))
    assert ok(tenant.admin.get(f"{NAMESPACES}/internal.old"))["permissions"]["default"] == "none"
    assert set(listed(alice)) == {"internal.open", "internal.team.*", "internal.team.x"}
    assert {"internal.*", "internal.old"} < set(listed(tenant.admin))


def test_a_first_write_makes_no_prefix_rule(tenant: Tenant) -> None:
    carla = tenant.user("carla")
    create(carla, semantic(namespace="all*"))
    create(tenant.user("dora"), semantic(namespace="all.doras"))
    refused(carla.post(MEMORY, json=semantic(namespace="all.doras")), 403, "ACCESS_DENIED")


def test_a_workflow_lets_its_applier_write_where_somebody_else_wrote_first(
    tenant: Tenant,
) -> None:
    create(tenant.user("mallory"), semantic(namespace="rules"))
    body = {"name": "w", "memory": {"semantic_namespaces": ["rules", "fresh"]}}
    applied = ok(tenant.admin.post("/api/v1/workflows", json=body))
    assert applied["namespaces"] == [
        {"namespace": "rules", "access": "write"},
        {"namespace": "fresh", "access": "write"},
    ]
    create(tenant.admin, semantic(namespace="rules", key="new"))


@pytest.mark.parametrize(
    ("default", "named"),
    [("read", None), ("write", None), ("write", "none")],
)
def test_access_levels_are_cumulative_and_the_named_one_counts(
    tenant: Tenant, default: str, named: str | None
) -> None:
    standing = create(tenant.admin, semantic(tags=["t"]))
    allow(tenant.admin, "facts", default, **({} if named is None else {"alice": named}))
    alice, access = tenant.agent("alice"), LEVELS.index(named or default)
    may_read, may_write = access >= 1, access >= 2
    assert read(alice, standing["id"]).status_code == (200 if may_read else 403)
    for filters in ({}, {"tags": "t"}, {"namespace": "facts"}, {"memory_type": "semantic"}):
        assert query(alice, **filters) == ([standing] if may_read else [])
    statuses = [
        alice.post(MEMORY, json=semantic(key="new")).status_code,
        update(alice, standing["id"], 1, value={"n": 2}).status_code,
        update(alice, standing["id"], 2 if may_write else 1, tags=["u"]).status_code,
        alice.delete(f"{MEMORY}/{standing['id']}").status_code,
    ]
    assert statuses == ([201, 200, 200, 204] if may_write else [403] * 4)


def test_changed_permissions_hold_at_once(tenant: Tenant) -> None:
    alice, made = tenant.agent("alice"), create(tenant.admin, semantic())
    for default, status in (("none", 403), ("read", 200), ("none", 403)):
        allow(tenant.admin, "facts", default)
        assert read(alice, made["id"]).status_code == status


def test_the_first_write_configures_a_namespace_with_its_writer(tenant: Tenant) -> None:
    pat = tenant.coordinator("pat")
    made = create(pat, semantic())
    configured = ok(pat.get(f"{NAMESPACES}/facts"))
    assert configured["permissions"] == {
        "default": "read",
        "allow": [{"agent": "pat", "access": "write"}],
    }
    assert ok(update(pat, made["id"], 1, value={"n": 2}))["version"] == 2
    others = [tenant.agent("alice"), tenant.coordinator("boss"), tenant.user("carla")]
    for other in others:
        assert ok(read(other, made["id"]))["value"] == {"n": 2}
        refused(other.post(MEMORY, json=semantic(key="new")), 403, "ACCESS_DENIED")
        refused(update(other, made["id"], 2, value={}), 403, "ACCESS_DENIED")


def test_private_memory_configures_no_namespace(tenant: Tenant) -> None:
    create(tenant.admin, entry(namespace="mine"))
    assert listed(tenant.admin) == []


def test_a_namespace_outlives_its_entries(tenant: Tenant) -> None:
    carla = tenant.user("carla")
    made = create(carla, semantic())
    assert_no_content(carla.delete(f"{MEMORY}/{made['id']}"))
    refused(tenant.user("dora").post(MEMORY, json=semantic()), 403, "ACCESS_DENIED")
    create(carla, semantic())


def test_namespaces_are_listed_to_who_may_read_them(tenant: Tenant, clock: MovableClock) -> None:
    for name, default, access in (
        ("open", "read", {}),
        ("closed", "none", {}),
        ("alices", "none", {"alice": "read"}),
        ("not_alices", "write", {"alice": "none"}),
    ):
        clock.advance(seconds=1)
        allow(tenant.admin, name, default, **access)
    assert listed(tenant.agent("alice")) == ["alices", "open"]
    assert listed(tenant.agent("bob")) == ["not_alices", "open"]
    assert listed(tenant.admin) == ["not_alices", "alices", "closed", "open"]


def test_a_namespace_of_any_name_has_an_address(tenant: Tenant) -> None:
    body = {"permissions": {"default": "none", "allow": []}}
    for name in ("billing.invoices", "a b", "a/b", "100%", "a%2Fb", "?#&=+", "Zoë🤖", "\0", "*"):
        path = f"{NAMESPACES}/{quote(name, safe='')}"
        made = ok(tenant.admin.patch(path, json=body))
        assert made["namespace"] == name
        assert ok(tenant.admin.get(path)) == made
        refused(tenant.admin.post(MEMORY, json=semantic(namespace=name)), 403, "ACCESS_DENIED")


def test_a_namespace_without_the_permission_is_closed(tenant: Tenant) -> None:
    allow(tenant.admin, "facts", "admin", reader="admin", writer="admin")
    made = create(tenant.admin, semantic())
    reader = tenant.agent("reader", permissions=["memory.read"])
    writer = tenant.agent("writer", permissions=["memory.write"])
    for answer in (
        update(reader, made["id"], 1, value={}),
        reader.delete(f"{MEMORY}/{made['id']}"),
    ):
        refused(answer, 403, "ACCESS_DENIED")
    refused(read(writer, made["id"]), 403, "ACCESS_DENIED")
    create(writer, semantic(key="new"))


def test_an_agents_own_namespace_is_its_own_from_the_start(tenant: Tenant) -> None:
    mallory, boss = tenant.agent("mallory"), tenant.coordinator("boss")
    body = semantic(namespace="agents/ada/notes")
    for other in (mallory, boss, tenant.admin):
        refused(other.post(MEMORY, json=body), 403, "ACCESS_DENIED")
        for name in ("agents/ada/notes", "agents/ada/*", "agents/*", "agents/a*", "agents/"):
            change = {"permissions": {"allow": [{"agent": "mallory", "access": "admin"}]}}
            refused(other.patch(address(name), json=change), 403, "ACCESS_DENIED")
    ada = tenant.agent("ada")
    made = create(ada, body)
    for other in (mallory, boss, tenant.admin):
        refused(other.get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")
        refused(update(other, made["id"], 1, value={"n": 2}), 403, "ACCESS_DENIED")


def test_an_administrator_lists_and_deletes_an_agents_memory_without_its_values(
    tenant: Tenant,
) -> None:
    ada, admin = tenant.agent("ada"), tenant.admin
    for key in ("one", "two"):
        create(ada, semantic(namespace="agents/ada/notes", key=key))
    for namespace in ("agents/ada/notes", "agents/ada/*"):
        listed = ok(admin.get(MEMORY, params={"namespace": namespace}))["entries"]
        assert [(each["key"], "value" in each) for each in listed] == [
            ("two", False),
            ("one", False),
        ]
    assert ok(tenant.agent("bob").get(f"{MEMORY}?namespace=agents/ada/*"))["entries"] == []
    found = ok(admin.post(f"{MEMORY}/search", json={"query": "n", "memory_type": "semantic"}))
    assert found["results"] == []
    assert admin.delete(f"{MEMORY}/{listed[0]['id']}").status_code == 204
    assert ok(admin.delete(f"{MEMORY}/batch?namespace=agents/ada/notes"))["deleted"] == 1
    assert ok(ada.get(f"{MEMORY}?namespace=agents/ada/notes"))["entries"] == []


def test_an_administrator_lists_many_namespaces_of_an_agent(tenant: Tenant) -> None:
    ada, admin = tenant.agent("ada"), tenant.admin
    for number in range(51):  # more than are merged where a caller reads them
        ok(ada.post(MEMORY, json=semantic(namespace=f"agents/ada/n{number}")), 201)
    found = ok(admin.get(f"{MEMORY}?namespace=agents/ada/*&limit=100"))["entries"]
    assert len({each["namespace"] for each in found}) == 51


def test_prefix_rules_of_others_do_not_reach_into_an_agents_namespace(tenant: Tenant) -> None:
    everything = {"permissions": {"default": "write"}}
    for name in ("*", "agents*"):
        ok(tenant.admin.patch(address(name), json=everything))
    made = create(tenant.agent("ada"), semantic(namespace="agents/ada/notes"))
    refused(tenant.agent("bob").get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")


def test_the_owner_alone_gives_access_to_its_namespace(tenant: Tenant) -> None:
    ada, bob = tenant.agent("ada"), tenant.agent("bob")
    made = create(ada, semantic(namespace="agents/ada/notes"))
    share = {"permissions": {"allow": [{"agent": "bob", "access": "admin"}]}}
    ok(ada.patch(address("agents/ada/notes"), json=share))
    assert ok(bob.get(f"{MEMORY}/{made['id']}"))["value"] == made["value"]
    ok(update(bob, made["id"], 1, value={"n": 2}))
    further = {"permissions": {"allow": [{"agent": "cleo", "access": "read"}]}}
    refused(bob.patch(address("agents/ada/notes"), json=further), 403, "ACCESS_DENIED")
    refused(tenant.agent("cleo").get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")


def test_an_encoded_id_names_the_same_owner(tenant: Tenant) -> None:
    create(tenant.agent("a b"), semantic(namespace="agents/a%20b/notes"))
    refused(
        tenant.agent("a%20b").post(MEMORY, json=semantic(namespace="agents/a%20b/x")),
        403,
        "ACCESS_DENIED",
    )


def test_an_admin_deletes_what_it_does_not_read(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    made = create(ada, semantic(namespace="agents/ada/notes"))
    refused(tenant.admin.get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")
    refused(tenant.agent("bob").delete(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")
    assert_no_content(tenant.admin.delete(f"{MEMORY}/{made['id']}"))
    refused(ada.get(f"{MEMORY}/{made['id']}"), 404, "ENTRY_NOT_FOUND")
