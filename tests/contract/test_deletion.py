"""Test that a deletion removes its data everywhere and for good."""

from contextlib import suppress
from typing import Any

import pytest

from functions.container import Container
from functions.deletions.model import SETTLING_TIME, restart
from functions.deletions.store import DeletionStore, get_key
from functions.platform.aws import create_client
from functions.platform.item_types import find_item_type
from functions.platform.table import Table
from tests.contract.bodies import (
    MEMORY,
    NAMESPACES,
    allow,
    create,
    create_task,
    entry,
    grant,
    semantic,
)
from tests.contract.conversation_calls import put
from tests.contract.expect import ok, refused
from tests.contract.fact_calls import learn
from tests.contract.faults import Killed, faulty
from tests.contract.filling import fill
from tests.contract.service import Service, Tenant, start
from tests.contract.streaming import Stream, log, stream_function
from tests.contract.sweeping import counters_equal_items, sweep
from tests.contract.sweeping import restore as put_back

pytestmark = pytest.mark.in_process
TENANTS, DELETIONS = "/api/v1/tenants", "/api/v1/deletions"
Json = dict[str, Any]
KEPT_WITH_ID = {
    *("task", "task of an intent", "task of a coordinator", "assignment", "participant"),
    *(
        "audit record",
        "fact",
        "archival announcement",
        "deletion",
        "learned workflow",
    ),
}
"""The types of items that name a deleted agent: its coordinators', the tenant's, and what ends."""


def find(service: Service, tenant: str) -> list[str]:
    """Return what the tables and the archive hold of a tenant, apart from its deletions."""
    items = [
        each
        for each in service.state()
        if (f'"{tenant}#' in each or f'"S": "{tenant}"' in each) and "~deletions" not in each
    ]
    files = service.archive.rglob("*")
    return items + [str(each) for each in files if each.is_file() and f"/{tenant}/" in str(each)]


def finish(service: Service) -> None:
    """Let the schedule carry deletions out, and what may be late come."""
    sweep(service)
    service.clock.advance(seconds=SETTLING_TIME // 1000)
    for _ in range(3):
        sweep(service)


def test_a_deleted_tenant_leaves_no_trace_and_no_other_is_touched(service: Service) -> None:
    doomed, kept = service.tenant("doomed"), service.tenant("doomed-2")
    agent, other = fill(doomed), fill(kept)
    before = find(service, "doomed-2")
    begun = ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    assert (begun["status"], begun["kind"], begun["id"]) == ("running", "tenant", "doomed")
    finish(service)
    done = ok(service.root.get(f"{TENANTS}/doomed/deletion"))
    assert done["status"] == "done"
    assert done["counts"]["principal"] == 3
    assert done["counts"]["entry"] == 2
    assert done["counts"]["file"] > 1
    assert find(service, "doomed") == []
    assert len(find(service, "doomed-2")) == len(before)
    refused(agent.get("/api/v1/me"), 401, "UNAUTHENTICATED")
    assert ok(other.get("/api/v1/me"))["tenant"] == "doomed-2"


def test_the_keys_of_a_tenant_stop_with_the_answer(service: Service) -> None:
    doomed = service.tenant("doomed")
    agent = doomed.agent("ada")
    ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    service.clock.advance(seconds=61)
    for client in (agent, doomed.admin):
        refused(client.get("/api/v1/me"), 401, "UNAUTHENTICATED")


def test_a_remembered_key_makes_no_other_one(service: Service) -> None:
    doomed = service.tenant("doomed")
    ok(doomed.admin.get("/api/v1/me"))
    ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    body = {"id": "survivor", "kind": "agent"}
    refused(doomed.admin.post("/api/v1/principals", json=body), 409, "ENTRY_EXISTS")


def test_a_deleted_tenant_is_not_made_again(service: Service) -> None:
    headers = {"Idempotency-Key": "first"}
    ok(service.root.post(TENANTS, json={"id": "doomed"}, headers=headers), 201)
    ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    for _ in range(2):
        refused(service.root.post(TENANTS, json={"id": "doomed"}), 409, "ENTRY_EXISTS")
        retried = service.root.post(TENANTS, json={"id": "doomed"}, headers=headers)
        refused(retried, 409, "ENTRY_EXISTS")
        finish(service)
    assert ok(service.root.delete(f"{TENANTS}/doomed"), 202)["status"] == "done"


def test_what_the_stream_brings_late_or_again_brings_nothing_back(service: Service) -> None:
    doomed = service.tenant("doomed")
    stream, deliver = Stream(service), stream_function(service)
    client = doomed.agent("ada")
    create(client, entry(key="k"))
    records = stream.read()
    ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    finish(service)
    assert deliver(records + stream.read()) == []
    assert find(service, "doomed") == []


def test_what_is_written_late_is_deleted_as_well(service: Service) -> None:
    doomed = service.tenant("doomed")
    agent = doomed.agent("ada")
    ok(agent.get("/api/v1/me"))
    ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    sweep(service)
    ok(put(agent, "s2", "late"), 201)
    finish(service)
    assert find(service, "doomed") == []


def test_a_tenant_that_never_was_is_not_found(service: Service) -> None:
    refused(service.root.delete(f"{TENANTS}/nobody"), 404, "NOT_FOUND")
    refused(service.root.get(f"{TENANTS}/nobody/deletion"), 404, "NOT_FOUND")


def test_a_dry_run_counts_and_changes_nothing(service: Service) -> None:
    doomed = service.tenant("doomed")
    agent = fill(doomed)
    before = find(service, "doomed")
    ok(service.root.delete(f"{TENANTS}/doomed?dry_run=true"), 202)
    refused(service.root.get(f"{TENANTS}/doomed/deletion"), 404, "NOT_FOUND")
    sweep(service)
    found = ok(service.root.get(f"{TENANTS}/doomed/deletion?dry_run=true"))
    assert (found["status"], found["dry_run"]) == ("done", True)
    keys = [each for each in before if '"pk": {"S": "~key#' in each]
    assert sum(found["counts"].values()) == len(before) - len(keys)
    assert find(service, "doomed") == before
    ok(agent.get("/api/v1/me"))


def test_a_deletion_goes_on_wherever_it_was_cut_off(service: Service) -> None:
    doomed = service.tenant("doomed")
    create(doomed.agent("ada"), entry())
    ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    for write in range(1, 4):
        with faulty(write, "after"), pytest.raises(Killed) if write == 1 else suppress(Killed):
            sweep(service)
    finish(service)
    assert find(service, "doomed") == []
    assert ok(service.root.get(f"{TENANTS}/doomed/deletion"))["status"] == "done"


def test_a_deleted_agent_leaves_only_what_is_others(tenant: Tenant, service: Service) -> None:
    stream, deliver = Stream(service), stream_function(service)
    fill(tenant, "alice")
    bob = fill(tenant, "bob")
    assert deliver(stream.read()) == []
    assert len(log(tenant.admin, "intents/intent_alice")) == 3
    begun = ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "alice"}), 202)
    assert begun["requested_by"] == {"id": "admin", "kind": "user"}
    finish(service)
    assert deliver(stream.read()) == []
    finish(service)
    done = ok(tenant.admin.get(f"{DELETIONS}/agent/alice"))
    assert done["status"] == "done", done
    assert done["counts"]["entry"] == 2
    events = log(tenant.admin, "intents/intent_alice")
    assert [each for each in events if each["agent_id"] == "alice"] == []
    assert log(tenant.admin, "agents/alice") == []
    assert counters_equal_items(service)
    left = [each for each in service.stored() if '"alice"' in str(each).replace("'", '"')]
    assert {name_type(each) for each in left} <= KEPT_WITH_ID
    assert not any("zq-alice" in each for each in find(service, tenant.id))
    assert ok(bob.get(f"{MEMORY}?agent_id=bob"))["total"] == 2
    assert ok(bob.get("/api/v1/conversations/s-bob"))["messages"]


@pytest.mark.parametrize("kind", ["agent", "person"])
def test_who_is_deleted_keeps_neither_key_nor_permission_after_a_crash(
    tenant: Tenant, service: Service, kind: str
) -> None:
    ann = tenant.agent("ann")
    allow(tenant.admin, "shared", "none", ann="write", bob="read")
    with faulty(1, "after"):
        mortal = start(service.engine, service.clock, service.key_file, 0)
    admin = mortal.client(tenant.admin.headers["X-API-Key"])
    with pytest.raises(Killed):
        admin.post(DELETIONS, json={"kind": kind, "id": "ann"})
    finish(service)
    assert ok(tenant.admin.get(f"{DELETIONS}/{kind}/ann"))["status"] == "done"
    refused(ann.get("/api/v1/me"), 401, "UNAUTHENTICATED")
    listed = ok(tenant.admin.get(f"{NAMESPACES}/shared"))["permissions"]["allow"]
    assert [each["agent"] for each in listed] == ["bob"]


def test_of_two_who_are_deleted_none_brings_the_others_events_back(
    tenant: Tenant, service: Service
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    for name in ("ann", "bob"):
        create(tenant.agent(name), entry(scope={"intent_id": "i"}))
    assert deliver(stream.read()) == []
    for name in ("ann", "bob"):
        ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": name}), 202)
    service.clock.advance(seconds=SETTLING_TIME // 1000)
    with faulty() as dynamodb:
        dynamodb.interrupt(
            "put_item", lambda request: "events" in request["Item"], lambda: finish(service)
        )
        sweep(service)
    assert log(tenant.admin, "intents/i") == []
    for name in ("ann", "bob"):
        assert ok(tenant.admin.get(f"{DELETIONS}/agent/{name}"))["status"] == "done"


def name_type(item: Json) -> str:
    key = item["pk"]["S"], item["sk"]["S"]
    found = find_item_type("memory", key) or find_item_type("log", key)
    return "" if found is None else found.name


def test_a_deleted_agent_is_taken_out_of_what_others_share(
    tenant: Tenant, service: Service
) -> None:
    boss, alice, bob = tenant.coordinator("boss"), tenant.agent("alice"), tenant.agent("bob")
    create_task(boss, id="t", assigned_agent="bob")
    ok(grant(boss, "t", "alice", access="read"))
    allow(tenant.admin, "shared", "none", alice="write", bob="read")
    body = {"user_id": "bob", "agent_participants": ["alice"], "messages": []}
    ok(bob.put("/api/v1/conversations/s", json=body), 201)
    ok(bob.put("/api/v1/conversations/over", json=body | {"ttl": "PT1S"}), 201)
    service.clock.advance(seconds=2)
    sweep(service)
    acl = {"entries": [{"principal": "alice", "access": "read"}]}
    ok(boss.put("/api/v1/intents/intent_1/acl", json=acl))
    ok(bob.put("/api/v1/agents/bob/objects/files/k", content=b"x"), 201)
    permissions = {"allow": [{"agent": "alice", "access": "write"}]}
    ok(bob.patch("/api/v1/agents/bob/objects/files", json={"permissions": permissions}))
    made = create(alice, semantic(namespace="shared"))
    begun = ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "alice"}), 202)
    assert begun["counts"] == {"namespace": 1, "object space": 1}
    finish(service)
    assert ok(boss.get("/api/v1/tasks/t/grants"))["grants"] == []
    listed = ok(tenant.admin.get(f"{NAMESPACES}/shared"))["permissions"]["allow"]
    assert [each["agent"] for each in listed] == ["bob"]
    for kept in ("s", "over/archive"):
        assert ok(bob.get(f"/api/v1/conversations/{kept}"))["agent_participants"] == []
    assert ok(boss.get("/api/v1/intents/intent_1/acl"))["entries"] == []
    assert ok(bob.get(f"{MEMORY}/{made['id']}"))["namespace"] == "shared"


def test_a_deleted_principal_becomes_no_curator_by_a_key_that_is_remembered(
    tenant: Tenant, service: Service
) -> None:
    boss = tenant.coordinator("boss")
    other = start(service.engine, service.clock, service.key_file, 60)
    elsewhere = other.client(boss.headers["X-API-Key"])
    ok(elsewhere.get("/api/v1/me"))
    ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "boss"}), 202)
    late = elsewhere.post(MEMORY, json=semantic(namespace="new"))
    refused(late, 401, "UNAUTHENTICATED")
    refused(tenant.admin.get(f"{NAMESPACES}/new"), 404, "NOT_FOUND")


def test_a_deleted_persons_facts_and_states_go_and_an_agents_of_that_name_stay(
    tenant: Tenant, service: Service
) -> None:
    bob = tenant.agent("bob")
    for name in ("ada", "sales"):
        learn(bob, name, "prefers", "email")
        ok(bob.put(f"/api/v1/agents/bob/state/{name}/k", json={"value": 1}))
    ok(tenant.admin.post(DELETIONS, json={"kind": "person", "id": "ada"}), 202)
    ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "sales"}), 202)
    finish(service)
    assert [each["subject"] for each in ok(bob.get("/api/v1/facts"))["facts"]] == ["sales"]
    for name in ("ada", "sales"):
        refused(bob.get(f"/api/v1/agents/bob/state/{name}/k"), 404, "NOT_FOUND")


def test_who_was_deleted_may_come_back_and_write(tenant: Tenant, service: Service) -> None:
    stream, deliver = Stream(service), stream_function(service)
    create(tenant.agent("ada"), entry(key="before"))
    late = stream.read()
    ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "ada"}), 202)
    finish(service)
    again = tenant.agent("ada", reuse=True)
    service.clock.advance(seconds=1)
    create(again, entry(key="after"))
    assert deliver(late + stream.read()) == []
    assert [each["data"]["key"] for each in log(again, "agents/ada")] == ["after"]


def restore_backup(service: Service, backup: list[Json]) -> None:
    """Put a backup into the tables, and the deletions that were made since, as the command does."""
    seals = Container(service.settings(), service.clock).seals
    table = Table(service.engine.client, service.engine.memory, seals)
    known = DeletionStore(table, table, None)
    deletions = known.list_all()
    put_back(service, backup)
    for each in deletions:
        known.put(restart(each, service.clock()))


def test_a_backup_that_is_restored_gives_a_deleted_agent_no_permission_back(
    tenant: Tenant, service: Service
) -> None:
    tenant.agent("alice")
    allow(tenant.admin, "shared", "none", alice="write", bob="read")
    backup = service.stored()
    ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "alice"}), 202)
    restore_backup(service, backup)
    Container(service.settings(), service.clock).deletions.take_permissions_again()
    listed = ok(tenant.admin.get(f"{NAMESPACES}/shared"))["permissions"]["allow"]
    assert [each["agent"] for each in listed] == ["bob"]


def test_a_backup_that_is_restored_does_not_bring_a_tenant_back(service: Service) -> None:
    doomed = service.tenant("doomed")
    create(doomed.agent("ada"), entry())
    backup = service.stored()
    ok(service.root.delete(f"{TENANTS}/doomed"), 202)
    finish(service)
    restore_backup(service, backup)
    finish(service)
    assert find(service, "doomed") == []
    refused(service.root.post(TENANTS, json={"id": "doomed"}), 409, "ENTRY_EXISTS")


def count_scans(service: Service, kind: str, **fields: Any) -> tuple[int, list[Json]]:
    """Delete four agents of two tenants at once; how many scans that took, and the results."""
    agents: list[tuple[Tenant, str]] = []
    for tenant in (service.tenant(), service.tenant()):
        for name in ("one", "two"):
            create(tenant.agent(name), entry())
            agents.append((tenant, name))
    for tenant, name in agents:
        body = {"kind": kind, "id": name} | fields
        ok(tenant.admin.post(DELETIONS, json=body), 202)
    scans: list[str] = []
    dynamodb = create_client("dynamodb")
    dynamodb.meta.events.register("before-call.dynamodb.Scan", lambda **_: scans.append("scan"))
    container = Container(service.settings(), service.clock, dynamodb)
    for _ in range(20):
        for key in [get_key(each) for each in container.deletion_store.list_due(service.clock())]:
            container.deletions.resume(key, 60)
        service.clock.advance(seconds=SETTLING_TIME // 1000)
    query = {"dry_run": "true"} if fields.get("dry_run") else {}
    done = [ok(t.admin.get(f"{DELETIONS}/{kind}/{name}", params=query)) for t, name in agents]
    return len(scans), done


@pytest.mark.parametrize("kind", ["agent", "person"])
def test_previews_and_deletions_share_scans(service: Service, kind: str) -> None:
    pages = 2  # the memory table and the log table, each in one page
    scans, previews = count_scans(service, kind, dry_run=True)
    assert scans == pages
    assert [each["counts"]["entry"] for each in previews] == [1] * 4
    scans, deletions = count_scans(service, kind)
    assert scans <= 3 * pages  # two passes, and one that finds nothing
    assert [each["status"] for each in deletions] == ["done"] * 4
    assert [each["counts"]["entry"] for each in deletions] == [1] * 4


def test_a_deletion_waits_for_a_scan_that_goes_on(service: Service) -> None:
    tenant = service.tenant()
    for name in ("one", "two"):
        tenant.agent(name)
    container = Container(service.settings(), service.clock)
    ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "one", "dry_run": True}), 202)
    (first,) = container.deletion_store.list_due(service.clock())
    begun = first._replace(stage="log", revision=first.revision + 1)
    assert container.deletion_store.save(begun, first)
    ok(tenant.admin.post(DELETIONS, json={"kind": "agent", "id": "two", "dry_run": True}), 202)
    path = f"{DELETIONS}/agent/{{}}?dry_run=true"
    second = get_key(first._replace(subject=first.subject._replace(name="two")))
    assert container.deletions.resume(second, 60)
    assert ok(tenant.admin.get(path.format("two")))["status"] == "running"
    container.deletions.resume(get_key(first), 60)
    container.deletions.resume(second, 60)
    for name in ("one", "two"):
        assert ok(tenant.admin.get(path.format(name)))["status"] == "done"
