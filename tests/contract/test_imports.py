"""An import keeps ids, versions and times, for holders of the permission."""

import copy
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from functions.platform.openwop_keys import build_memory_entry_id, get_first_sequence
from tests.contract import conversation_calls, openwop_calls
from tests.contract.bodies import MEMORY, create, entry, semantic
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep

PERMISSIONS = ["memory.read", "memory.write", "memory.import"]
TASKS = "/api/v1/tasks"
IMPORT = {"X-Import": "true"}
LONG_AGO, LATER = "2019-03-01T10:00:00.123Z", "2019-04-01T10:00:00.456Z"
TIMES = {"created_at": LONG_AGO, "updated_at": LATER}


def _importer(tenant: Tenant, name: str = "alice", *more: str) -> httpx.Client:
    return tenant.agent(name, permissions=[*PERMISSIONS, *more])


def _step_back(time: str) -> str:
    """The time a day before."""
    earlier = datetime.fromisoformat(time) - timedelta(days=1)
    return earlier.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = ok(client.post(path, json=body, headers=IMPORT), 201)
    return made


def test_an_imported_entry_is_as_it_was_elsewhere(tenant: Tenant, service: Service) -> None:
    alice = _importer(tenant)
    elsewhere = create(service.tenant().agent("alice"), entry(tags=["a"]))
    stored = elsewhere | {"version": 7}
    made = _post(alice, MEMORY, stored | {"last_accessed_at": LONG_AGO})
    (next_evicted,) = ok(alice.get("/api/v1/agents/alice/memory/eviction"))["entries"]
    assert next_evicted["last_accessed_at"] == LONG_AGO
    assert made.items() >= stored.items()
    assert ok(alice.get(f"{MEMORY}/{made['id']}")).items() >= stored.items()
    assert ok(alice.patch(f"{MEMORY}/{made['id']}", json={"tags": []}, headers={"If-Match": "7"}))
    batch = {"entries": [entry(key="old", version=3) | TIMES, entry(key="older") | TIMES]}
    written = ok(alice.post(f"{MEMORY}/batch", json=batch, headers=IMPORT))["entries"]
    assert [(each["version"], each["updated_at"]) for each in written] == [(3, LATER), (1, LATER)]


def test_shared_memory_names_its_authors_with_the_permission_of_an_admin(tenant: Tenant) -> None:
    whole = tenant.user("mover", permissions=[*PERMISSIONS, "memory.admin"])
    body = semantic(key="k") | TIMES | {"created_by": "ann", "curated_by": "bob", "agent_id": "ann"}
    made = _post(whole, MEMORY, body)
    assert (made["created_by"], made["curated_by"]) == ("ann", "bob")
    alone = tenant.user("lone", permissions=PERMISSIONS)
    body["key"] = "other"
    refused(alone.post(MEMORY, json=body, headers=IMPORT), 403, "ACCESS_DENIED")


def test_runs_and_episodes_keep_their_ids(tenant: Tenant, service: Service) -> None:
    there = service.tenant().agent("alice")
    run = ok(there.post("/api/v1/runs", json={"agent_type": "sdr"}), 201)
    path = f"/api/v1/runs/{run['id']}"
    episode = ok(there.post(f"{path}/episodes", json={"content": 1}), 201)
    service.clock.advance(seconds=5)
    alice = _importer(tenant)
    for field, change in (("id", {"agent_type": "bdr"}), ("id", {"created_at": LONG_AGO})):
        body = {"id": run["id"], "agent_type": "sdr"} | change
        invalid(alice.post("/api/v1/runs", json=body, headers=IMPORT), field)
    body = {"id": run["id"], "agent_type": "sdr"}
    moved = _post(alice, "/api/v1/runs", body)
    assert (moved["id"], moved["created_at"]) == (run["id"], run["created_at"])
    body = {"id": episode["id"], "content": 1}
    assert _post(alice, f"{path}/episodes", body) == episode
    listed = ok(alice.get("/api/v1/episodes", params={"run_id": run["id"]}))
    assert [each["id"] for each in listed["episodes"]] == [episode["id"]]
    body["created_at"] = LONG_AGO
    invalid(alice.post(f"{path}/episodes", json=body, headers=IMPORT), "id")
    assert ok(alice.post(f"{path}/complete", json={}))["version"] == 2
    assert alice.delete(f"{path}/episodes/{episode['id']}").status_code == 204


def test_what_is_shared_keeps_its_times_and_versions(tenant: Tenant) -> None:
    boss = tenant.user("boss", permissions=[*PERMISSIONS, "memory.admin"])
    made: dict[str, Any] = TIMES | {"version": 7}
    permissions = {"permissions": {"default": "read"}}
    paths = ("/api/v1/memory/namespaces/n", "/api/v1/memory/namespaces/n*", "/api/v1/objects/s")
    for path in paths:
        for version in (7, 5):
            body = permissions | made | {"version": version}
            changed = ok(boss.patch(path, json=body, headers=IMPORT))
            assert changed.items() >= (made | {"version": version}).items()
    workflow = {"spec": 1} | made
    path = "/api/v1/procedures/sdr/mail/w"
    assert ok(boss.put(path, json=workflow, headers=IMPORT), 201).items() >= made.items()
    path = "/api/v1/intents/i/owner"
    owner = {"principal": "boss", "created_at": LONG_AGO, "version": 3}
    assert ok(boss.put(path, json=owner, headers=IMPORT))["version"] == 3
    (intent,) = ok(boss.get("/api/v1/intents"))["intents"]
    assert intent["created_at"] == LONG_AGO
    ok(boss.post(TASKS, json={"id": "t", "intent_id": "i", "assigned_agent": "a"}), 201)
    grant = {"access": "read", "created_at": LONG_AGO}
    granted = ok(boss.put(f"{TASKS}/t/grants/b", json=grant, headers=IMPORT))
    assert granted["created_at"] == LONG_AGO


def test_an_object_keeps_its_times_version_and_end(tenant: Tenant, service: Service) -> None:
    alice, path = _importer(tenant), "/api/v1/objects/s/k"
    ends = service.clock.time(seconds=60)
    said = {"Created-At": LONG_AGO, "Updated-At": LATER, "Expires-At": ends, "Version": "12"}
    headers = IMPORT | {f"X-Object-{name}": value for name, value in said.items()}
    stored = ok(alice.put(path, content=b"1", headers=headers), 201)
    expected = TIMES | {"expires_at": ends, "version": 12}
    assert stored.items() >= expected.items()
    assert ok(alice.put(path, content=b"2"))["version"] > 12
    headers["X-Object-Version"] = str(2**53)
    invalid(alice.put(path, content=b"3", headers=headers), "X-Object-Version")
    del headers["X-Import"]
    invalid(alice.put(path, content=b"3", headers=headers), "X-Object-Created-At")


def test_runs_facts_conversations_and_states_keep_their_times(tenant: Tenant) -> None:
    alice = _importer(tenant, "alice", "memory.admin")
    now = create(alice, entry())["created_at"]
    recent = {"created_at": _step_back(now)}
    run = _post(alice, "/api/v1/runs", {"agent_type": "sdr", "created_by": "bob"} | recent)
    path = f"/api/v1/runs/{run['id']}"
    episode = _post(alice, f"{path}/episodes", {"content": 1} | recent)
    end = {"output": 1, "ended_at": now, "ended_by": "bob"}
    ended = ok(alice.post(f"{path}/complete", json=end, headers=IMPORT))
    assert (ended["created_at"], ended["created_by"]) == (recent["created_at"], "bob")
    assert (ended["ended_at"], ended["ended_by"]) == (end["ended_at"], "bob")
    assert episode["created_at"] == recent["created_at"]
    learned: dict[str, Any] = {
        **dict(zip(("subject", "predicate", "object"), "abc", strict=True)),
        **dict.fromkeys(("version", "learned_count"), 3),
        "learned_by": "bob",
        "learned_from_run_ids": ["x", "y"],
        "first_learned_at": LONG_AGO,
    }
    search = {"query": "a b c"}
    assert not ok(alice.post("/api/v1/facts/recall", json=search))["facts"]
    fact = _post(alice, "/api/v1/facts", learned | TIMES)
    assert fact.items() >= (learned | TIMES).items()
    assert len(ok(alice.post("/api/v1/facts/recall", json=search))["facts"]) == 1
    path = "/api/v1/conversations/s"
    body: dict[str, Any] = {"user_id": "alice", "revision": 4} | TIMES
    conversation = ok(alice.put(path, json=body, headers=IMPORT), 201)
    assert conversation.items() >= body.items()
    path = "/api/v1/agents/alice/state/u/k"
    body = {"value": 1, "version": 5} | TIMES
    state = ok(alice.put(path, json=body, headers=IMPORT))
    assert state.items() >= body.items()
    assert ok(alice.put(path, json={"value": 2}))["updated_at"] >= now


def test_an_ended_task_is_archived_as_it_was_elsewhere(tenant: Tenant, service: Service) -> None:
    """What was archived is written again, and ends when the task ended: the same document."""
    elsewhere = service.tenant()
    task = {"id": "t1", "intent_id": "i1", "assigned_agent": "alice"}
    boss, alice = elsewhere.coordinator("boss"), elsewhere.agent("alice")
    begun = ok(boss.post(TASKS, json=task), 201)
    of_task = {"memory_type": "working", "scope": {"task_id": "t1"}}
    for key in ("k1", "k2"):
        create(alice, entry(key=key, tags=["a"], **of_task))
    service.clock.advance(seconds=5)
    ended = ok(boss.patch(f"{TASKS}/t1", json={"status": "failed"}, headers={"If-Match": "1"}))
    archived = _get_archived(boss)
    lines = copy.deepcopy(archived["data"]["snapshot"])
    alice = _importer(tenant)
    boss = tenant.coordinator("boss", permissions=PERMISSIONS)
    assert _post(boss, TASKS, task | {"created_at": begun["created_at"]}) == begun
    for line in lines:
        line["id"] = line.pop("entry_id")
        _post(alice, MEMORY, line | of_task)
    names = ("status", "version", "updated_at")
    end = {name: ended[name] for name in names} | {"started_at": begun["created_at"]}
    match = IMPORT | {"If-Match": "1"}
    again = ok(boss.patch(f"{TASKS}/t1", json=end, headers=match))
    assert again == ended | {"started_at": begun["created_at"]}
    assert _get_archived(boss).items() >= archived.items()


def _get_archived(client: httpx.Client) -> dict[str, Any]:
    """The archive of the task `t1`, without what names the tenant."""
    events = ok(client.get("/api/v1/intents/i1/events", params={"type": "memory.archived"}))
    (archived,) = events["events"]
    return {name: value for name, value in archived.items() if name != "id"}


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("created_at", {"created_at": "2099-01-01T00:00:00Z"}),
        ("updated_at", {"created_at": LATER, "updated_at": LONG_AGO}),
        ("id", {"key": "other"}),
        ("id", {"created_at": LONG_AGO}),
    ],
)
def test_an_import_is_of_the_past_and_of_its_own_slot(
    tenant: Tenant, field: str, change: dict[str, Any]
) -> None:
    alice = _importer(tenant)
    made = create(alice, entry())
    alice.delete(f"{MEMORY}/{made['id']}")
    body = {**made, "updated_at": made["created_at"], **change}
    if "updated_at" not in change:
        body.pop("updated_at")
    invalid(alice.post(MEMORY, json=body, headers=IMPORT), field)


def test_without_the_permission_nothing_is_imported(tenant: Tenant) -> None:
    bob = tenant.agent("bob")
    refused(bob.post(MEMORY, json=entry(), headers=IMPORT), 403, "ACCESS_DENIED")
    alice = _importer(tenant)
    invalid(alice.post(MEMORY, json=entry(), headers={"X-Import": "yes"}), "X-Import")
    assert ok(alice.post(MEMORY, json=entry(version=9) | TIMES), 201)["version"] == 1
    invalid(alice.put("/api/v1/agents/alice/state/u/k", json={"value": 1, "version": 2}), "version")
    of_bob = entry(key="k", agent_id="bob")
    refused(alice.post(MEMORY, json=of_bob, headers=IMPORT), 403, "ACCESS_DENIED")


def test_an_imported_memory_entry_comes_after_all_that_its_memory_has(
    tenant: Tenant, service: Service
) -> None:
    there = service.tenant().agent("alice")
    made = openwop_calls.start(there)
    entries = [made.put(text) for text in ("first", "second")]
    service.clock.advance(seconds=5)
    alice, body = _importer(tenant), {"agent": "planner", "created_at": LONG_AGO}
    reference = ok(alice.post("/v1/memories", json=body, headers=IMPORT))["memoryRef"]
    (listed,) = ok(alice.get("/v1/memories"))["memories"]
    assert listed["createdAt"] == LONG_AGO
    path = openwop_calls.path(reference)

    def put(entry: dict[str, Any], **headers: str) -> httpx.Response:
        body = {"id": entry["id"], "content": entry["content"]}
        return alice.post(path, json=body, headers=IMPORT | headers)

    for _ in range(2):  # the same request counts once
        assert ok(put(entries[0], **{"Idempotency-Key": "k"}), 201) == entries[0]
    run = openwop_calls.start(alice)
    openwop_calls.erring(put(entries[1]), 409, "version_mismatch")
    assert run.contents() == openwop_calls.present(alice, reference) == ["first"]
    empty = ok(alice.post("/v1/memories", json={"agent": "empty"}))["memoryRef"]
    path = openwop_calls.path(empty)
    assert [ok(put(each), 201) for each in entries] == entries
    openwop_calls.erring(put(entries[0]), 409, "version_mismatch")
    assert openwop_calls.present(alice, empty) == ["second", "first"]
    assert openwop_calls.start(alice, "empty").get(entries[0]["id"]) == entries[0]
    future = build_memory_entry_id(get_first_sequence(service.clock.now + 1000), "0" * 10)
    for wrong in (future, "mem_1", "run_1"):
        openwop_calls.erring(put(entries[0] | {"id": wrong}), 400, "validation_error")
    plain = alice.post(path, json={"id": entries[0]["id"], "content": "x"})
    openwop_calls.erring(plain, 400, "validation_error")


def test_an_imported_conversation_whose_retention_is_over_is_in_cold_storage(
    tenant: Tenant, service: Service
) -> None:
    alice = _importer(tenant)
    path, end = "/api/v1/conversations/s", service.clock.time(seconds=-5)
    messages = [{"role": "user", "content": "Hi"}]
    said = TIMES | {"revision": 4, "expires_at": end}
    body = said | {"user_id": "u", "messages": messages, "ttl": "PT1H"}
    for _ in range(2):
        headers = IMPORT | {"If-None-Match": "*", "Idempotency-Key": "k"}
        made = ok(alice.put(path, json=body, headers=headers), 201)
        found = ok(alice.get(f"{path}/archive"))
        assert found.items() >= made.items()
        assert (found["expires_at"], found["revision"]) == (end, 4)
        refused(alice.get(path), 404, "NOT_FOUND")
        alice.delete(f"{path}/archive")
    early = body | {"expires_at": _step_back(LONG_AGO)}
    invalid(alice.put(path, json=early, headers=IMPORT), "expires_at")
    invalid(alice.put(path, json={"user_id": "u", "messages": [], "expires_at": end}), "expires_at")


def test_principals_and_guardrails_keep_their_times(tenant: Tenant) -> None:
    boss = tenant.user("boss", permissions=[*PERMISSIONS, "memory.admin"])
    principal = {"id": "old", "kind": "coordinator", "created_at": LONG_AGO}
    assert _post(boss, "/api/v1/principals", principal)["created_at"] == LONG_AGO
    path = "/api/v1/coordinators/old/guardrails"
    body = {"guardrails": {"max_working_memory_per_task": 3}, "updated_at": LATER}
    changed = ok(boss.patch(path, json=body, headers=IMPORT))
    assert (changed["updated_at"], changed["version"]) == (LATER, 1)
    invalid(boss.patch(path, json=body | {"version": 1}, headers=IMPORT), "version")
    later = body | {"updated_at": "2090-01-01T00:00:00.000Z"}
    invalid(boss.patch(path, json=later, headers=IMPORT), "updated_at")


def test_an_imported_conversation_keeps_the_indexes_of_its_messages(
    tenant: Tenant, service: Service
) -> None:
    alice, path = _importer(tenant), "/api/v1/conversations/s"
    messages = [{"role": "user", "content": str(number)} for number in range(6)]
    body: dict[str, Any] = {"user_id": "u", "messages": messages, "revision": 3}
    removed = [{"first": 0, "end": 2}, {"first": 3, "end": 4}]
    for wrong in (removed[::-1], [{"first": 5, "end": 7}], [{"first": 2, "end": 1}]):
        invalid(alice.put(path, json=body | {"removed": wrong}, headers=IMPORT), "removed")
    few = body | {"removed": removed, "revision": 2}
    invalid(alice.put(path, json=few, headers=IMPORT), "removed")
    ok(alice.put(path, json=body | {"removed": removed}, headers=IMPORT), 201)
    for _ in range(2):
        found = ok(alice.get(path))
        assert [(each["index"], each["content"]) for each in found["messages"]] == [
            (2, "2"), (4, "4"), (5, "5")
        ]  # fmt: skip
        assert (found["message_count"], found["revision"]) == (3, 3)
        sweep(service)
    assert conversation_calls.stored_messages(service) == 3
