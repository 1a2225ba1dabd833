"""Real answers are exactly as the OpenAPI document says."""

import httpx
import pytest

from functions.event_log.model import Event, LogName, build_event_id
from functions.event_log.store import EventLogStore
from functions.identity.model import SERVICE
from functions.platform.aws import create_client
from functions.platform.table import Table
from tests.contract import conversation_calls, run_calls
from tests.contract.bodies import (
    BATCH,
    MEMORY,
    NAMESPACES,
    PRINCIPALS,
    TASKS,
    entry,
    patch,
    semantic,
    task,
    update,
    working,
)
from tests.contract.openwop_calls import path as memory_path
from tests.contract.openwop_calls import start, start_on
from tests.contract.service import Tenant
from tests.contract.sweeping import sweep
from tests.unit.api.reading import Json, Reader, operations

CONFIG = "/api/v1/agents/worker/memory/config"
GUARDRAILS = "/api/v1/coordinators/boss/guardrails"
WORKFLOWS = "/api/v1/workflows"
ACL = "/api/v1/intents/intent_1/acl"


@pytest.fixture(scope="module")
def reader(document: Json) -> Reader:
    """Holds every answer of `admin` and `stranger` against the document."""
    return Reader(document)


@pytest.fixture(scope="module")
def admin(tenant: Tenant, reader: Reader) -> httpx.Client:
    """The tenant's first principal."""
    tenant.admin.event_hooks["response"].append(reader)
    return tenant.admin


@pytest.fixture(scope="module")
def stranger(tenant: Tenant, reader: Reader) -> httpx.Client:
    """Somebody without a key."""
    client = tenant.service.client()
    client.event_hooks["response"].append(reader)
    return client


def _entries(admin: httpx.Client) -> None:
    rich = entry(
        scope={"intent_id": "intent_1"},
        tags=["a"],
        ttl="duration:PT1H",
        sensitivity="restricted",
        pinned=True,
        priority="high",
    )
    id = admin.post(MEMORY, json=rich).json()["id"]
    for body in (rich, {"nonsense": 1}, working("t1", key="w"), semantic(tags=["a", "b"])):
        admin.post(MEMORY, json=body)
    admin.get(f"{MEMORY}/{id}")
    admin.post(MEMORY, json=entry(key="evictable", memory_type="episodic"))
    for agent in ("admin", "unknown"):
        admin.get(f"/api/v1/agents/{agent}/memory/eviction")
    assert admin.get(f"{MEMORY}/{id}", headers={"If-None-Match": '"1"'}).status_code == 304
    for filters in ({"limit": 1}, {"limit": 0}, {"tags": "a"}, {"memory_type": "semantic"}):
        admin.get(MEMORY, params=filters)
    admin.get("/api/v1/agents/admin/memory", params={"limit": 1})
    for asked in ({"memory_type": "semantic"}, {"agent_id": "admin"}, {"top_k": 0}):
        body = {"query": "a", "memory_type": "working"} | asked
        admin.post(f"{MEMORY}/search", json=body)
    admin.get("/api/v1/agents/admin/memory/summary")
    admin.patch(CONFIG, json={"episodic": {"capacity": 7, "pinned_namespaces": ["p"]}})
    admin.get(CONFIG)
    for body in (entry(key="put"), entry(key="put"), {"nonsense": 1}):
        admin.put(MEMORY, json=body)
    update(admin, id, 1, value={"n": 2})
    assert update(admin, id, 1, value={"n": 3}).status_code == 409
    assert update(admin, id, 2, value={"s": "x" * 70_000}).status_code == 413
    assert admin.patch(f"{MEMORY}/{id}", json={"tags": []}).status_code == 428
    assert admin.delete(f"{MEMORY}/{id}").status_code == 204
    assert admin.get(f"{MEMORY}/{id}").status_code == 404


def _batches(admin: httpx.Client) -> None:
    for _ in range(2):
        admin.post(BATCH, json={"entries": [entry(key="b1"), entry(key="b2")]})
    admin.post(BATCH, json={"entries": [entry()] * 51})
    admin.delete(BATCH)
    admin.delete(BATCH, params={"key": "b1"})


def _namespaces(admin: httpx.Client) -> None:
    permissions = {"default": "none", "allow": [{"agent": "a", "access": "read"}]}
    admin.patch(f"{NAMESPACES}/policies", json={"permissions": permissions})
    patch(admin, f"{NAMESPACES}/policies", 7, {"permissions": permissions})
    admin.get(f"{NAMESPACES}/policies")
    admin.get(f"{NAMESPACES}/unknown")
    admin.get(NAMESPACES)


def _tasks(admin: httpx.Client, tenant: Tenant) -> None:
    tenant.agent("worker")
    admin.post(WORKFLOWS, json={"name": "w", "plan": [{"task": "t", "agent": "worker"}]})
    admin.get(GUARDRAILS)
    for version in (0, 0):
        patch(admin, GUARDRAILS, version, {"guardrails": {"max_working_memory_per_task": 9}})
    admin.post(TASKS, json=task(id="task_1", assigned_agent="worker", input=[1], priority=3))
    admin.post(TASKS, json=task(id="task_1"))
    admin.get(f"{TASKS}/task_1")
    admin.get("/api/v1/agents", params={"limit": 1})
    admin.get(f"{TASKS}/task_1/context", params={"tags": "a", "max_kb": 9})
    grant = f"{TASKS}/task_1/grants/bob"
    admin.get(f"{TASKS}/task_1/grants")
    admin.put(grant, json={"access": "read", "expires_at": "2031-01-01T00:00:00Z"})
    patch(admin, f"{TASKS}/task_1", 1, {"status": "running", "metadata": {"a": 1}})
    patch(admin, f"{TASKS}/task_1", 1, {"status": "running"})
    for _ in range(2):
        admin.delete(grant)
    admin.get("/api/v1/intents/intent_1/tasks", params={"status": "running"})
    admin.get("/api/v1/agents/worker/tasks", params={"limit": 1})
    admin.put(ACL, json={"entries": [{"principal": "bob", "access": "write"}]})
    admin.get(ACL)
    admin.get("/api/v1/intents", params={"limit": 1})
    for target in ("task=task_1&principal=worker", "task=unknown", "task=a&entry=b"):
        admin.get(f"/api/v1/access?{target}")
    for owner in ("admin", "worker"):
        admin.put("/api/v1/intents/intent_1/owner", json={"principal": owner})


def _logs(tenant: Tenant, admin: httpx.Client) -> None:
    assert admin.get("/api/v1/intents/unknown/events").status_code == 404
    engine = tenant.service.engine
    events = Table(create_client("dynamodb"), engine.log)
    for log, path in (
        (LogName("intent", "intent_1"), "intents/intent_1"),
        (LogName("agent", "admin"), "agents/admin"),
        (LogName("namespace", "policies"), "memory/namespaces/policies"),
    ):
        id = build_event_id(tenant.id, log.kind)
        event = Event(
            id, "memory.deleted", tenant.id, "admin", SERVICE, None, None, {"a": 1}, 1_000, log
        )
        EventLogStore(events, tenant.service.clock, 0).append(tenant.id, log, [event])
        assert len(admin.get(f"/api/v1/{path}/events").json()["events"]) == 1


def _memories(admin: httpx.Client) -> None:
    secrets = [{"label": "k", "value": "sk-12345678"}]
    run = start(admin, secrets=secrets, onSecret="reject")
    entry = run.put("a", tags=["t"], expiresAt="2031-01-01T00:00:00Z")
    assert run.entries() == []
    assert run.get(entry["id"]) is None
    later = start(admin, secrets=secrets)
    admin.get("/v1/runs", params={"limit": 1})
    for body in ({"agent": "planner"}, {}):
        admin.post("/v1/memories", json=body)
    for limit in (1, 0):
        admin.get("/v1/memories", params={"limit": limit})
    for query in ({}, {"tag": "t"}, {"limit": 0}, {"limit": -1}, {"before": "x"}):
        admin.get(memory_path(run.reference), params=query)
    assert later.get(entry["id"]) == entry
    assert run.try_put("sk-12345678").status_code == 422
    assert run.try_put("x" * 65_537).status_code == 413
    for body in ({"agent": "planner"}, {"agent": "other"}):
        admin.post("/v1/runs", json=body, headers={"Idempotency-Key": "k"})
    assert admin.get(memory_path("mref_x")).status_code == 403
    later.delete(entry["id"])
    assert later.learn("mail", "hunter2-hunter2")["secrets"] == ["k", "mail"]
    several = start_on(admin, run.reference, start(admin, "other").reference, secrets=secrets)
    assert several.state()["state"] == "open"
    several.end()
    replay = several.replay(retainSnapshot=0)
    assert replay.state()["replayOf"] == several.id
    for query in (
        {},
        {"tag": "t"},
        {"memoryRef": run.reference, "limit": 1, "before": entry["id"]},
    ):
        later.seen(**query)
    replay.end()
    for method, name in (("GET", "/entries"), ("GET", ""), ("POST", "/secrets"), ("DELETE", "")):
        admin.request(
            method,
            f"/v1/runs/{replay.id}{name}",
            json=None
            if method != "POST"
            else {"secrets": [{"label": "x", "value": "hunter3-hunter3"}]},
        )
    run.end()
    assert run.try_put("late").status_code == 409


def _conversations(admin: httpx.Client, tenant: Tenant) -> None:
    path = f"{conversation_calls.CONVERSATIONS}/s1"
    conversation_calls.append(admin, "s1", "too early")
    for tags in (["a"], ["b"]):
        conversation_calls.put(
            admin, "s1", "hello", tags=tags, ttl="duration:P1D", sensitivity="internal"
        )
    conversation_calls.append(admin, "s1", "a")
    conversation_calls.append(admin, "s1", "a", "b", **{"Idempotency-Key": "k"})
    conversation_calls.append(admin, "s1", "c", **{"Idempotency-Key": "k"})
    conversation_calls.append(admin, "s1", "x" * 4_200_000)
    admin.get(path, params={"limit": 1})
    admin.get(path, params={"limit": 1, "values": "omit"})
    admin.patch(path, json={"tags": ["b"], "metadata": {"m": 1}})
    admin.patch(path, json={"tags": []}, headers={"If-Match": "1"})
    admin.patch(f"{path}/messages/0", json={"content": "[redacted]"})
    admin.patch(f"{path}/messages/99", json={"content": 1})
    admin.delete(f"{path}/messages")
    admin.delete(f"{path}/messages", params={"from": 1, "to": 2})
    _upload(admin, path)
    admin.get(path, params={"last": 1})
    admin.get(path, params={"last": 1, "limit": 1})
    admin.post(f"{path}/messages/pop")
    admin.post(f"{path}/messages/pop", headers={"Idempotency-Key": "p"})
    admin.get("/api/v1/users/user_1/conversations", params={"limit": 1, "tags": "b"})
    admin.get(conversation_calls.CONVERSATIONS, params={"limit": 1})
    admin.get(conversation_calls.CONVERSATIONS, params={"archived": "true"})
    admin.delete(path, headers={"If-Match": "9"})
    for _ in range(2):
        admin.delete(path)
    conversation_calls.put(admin, "s1", "hello", ttl="duration:P1D")
    tenant.service.clock.advance(seconds=24 * 3600)
    sweep(tenant.service)
    admin.get(f"{path}/archive", params={"limit": 1})
    for _ in range(2):
        admin.delete(f"{path}/archive")


def _upload(admin: httpx.Client, path: str) -> None:
    upload = admin.post(f"{path}/uploads", json={"sensitivity": "internal"}).json()["upload_id"]
    messages = [conversation_calls.message("a")]
    for offset in (0, 9):
        body = {"offset": offset, "messages": messages}
        admin.post(f"{path}/uploads/{upload}/messages", json=body)
    admin.post(f"{path}/uploads/{'0' * 16}/messages", json=body)
    shown = {"user_id": "user_1", "sensitivity": "internal", "tags": ["b"], "upload_id": upload}
    admin.put(path, json=shown)
    conversation_calls.append(admin, "s1", "b")


def _states(tenant: Tenant, admin: httpx.Client) -> None:
    path = f"/api/v1/agents/{tenant.admin_id}/state/user_1"
    for version in ({"If-Match": "1"}, {}, {"If-Match": "1"}, {"If-Match": "1"}):
        admin.put(f"{path}/k", json={"value": [1]}, headers=version)
    admin.put(f"{path}/k", json={"value": "x" * 4_200_000})
    admin.get(f"{path}/k")
    admin.get(path, params={"offset": 0})
    admin.get(path, params={"values": "omit"})
    for query in ({}, {"values": "omit"}, {"limit": 0}):
        admin.get(f"/api/v1/agents/{tenant.admin_id}/state", params=query)
    for _ in range(2):
        admin.delete(f"{path}/k")


def _facts(admin: httpx.Client) -> None:
    fact: Json = {"subject": "a", "predicate": "b", "object": "c", "fact_id": "f"}
    changes: list[Json] = [{"metadata": {}}, {}, {"confidence": 2}]
    for change in changes:
        admin.post("/api/v1/facts", json=fact | change)
    once = {"Idempotency-Key": "k"}
    for what in ("c", "d"):
        admin.post("/api/v1/facts", json=fact | {"object": what}, headers=once)
    admin.post("/api/v1/facts", json=fact | {"metadata": {"x": "y" * 20_000}})
    for query in ("a", ""):
        admin.post("/api/v1/facts/recall", json={"query": query})
    admin.get("/api/v1/facts/f")
    for version in ({"If-Match": "7"}, {}, {}):
        admin.delete("/api/v1/facts/f", headers=version)
    admin.get("/api/v1/facts/f")
    admin.get("/api/v1/facts?limit=1")
    admin.delete("/api/v1/facts?subject=acme")
    admin.delete("/api/v1/facts")


def _instances(admin: httpx.Client) -> None:
    path = "/api/v1/instances/i1/working"
    for value in ([1], "x" * 140_000):
        admin.put(f"{path}/k", json={"value": value})
    admin.get(f"{path}/k")
    admin.get(path)
    for _ in range(2):
        admin.delete(f"{path}/k")


def _procedures(admin: httpx.Client) -> None:
    path = "/api/v1/procedures/sdr/outreach"
    admin.post(f"{path}/select")
    for version in ({"If-Match": "1"}, {}, {"If-Match": "1"}, {"If-Match": "7"}):
        admin.put(f"{path}/w", json={"spec": [1], "half_life": "duration:P1D"}, headers=version)
    admin.put(f"{path}/w", json={"spec": "x" * 70_000})
    for score in (0.5, 2):
        admin.post(f"{path}/w/outcome", json={"score": score})
    admin.post(f"{path}/none/outcome", json={"score": 1})
    admin.post(f"{path}/select", json={"seed": 1})
    admin.get(path, params={"limit": 1})
    admin.get("/api/v1/procedures/sdr")
    admin.get(f"{path}/w")
    for version in ({"If-Match": "7"}, {}, {}):
        admin.delete(f"{path}/w", headers=version)


def _runs(admin: httpx.Client) -> None:
    run = run_calls.start(admin, instance_id="i", input={"a": 1}, sensitivity="internal")
    for _ in range(2):
        admin.post(run_calls.RUNS, json={"agent_type": "sdr"}, headers={"Idempotency-Key": "k"})
    admin.post(run_calls.RUNS, json={"agent_type": "sdr", "input": "x" * 4_200_000})
    more = {"role": "tool", "kind": "call", "turn": 1, "metadata": {}, "sensitivity": "internal"}
    run_calls.append(admin, run, "a", **more)
    run_calls.append(admin, run, "b")
    run_calls.try_append(admin, run["id"], "x" * 270_000)
    run_calls.try_append(admin, "run_x", 1)
    for whose in ("agent_type=sdr", f"run_id={run['id']}", "run_id=run_x", ""):
        admin.get(f"{run_calls.EPISODES}?{whose}&limit=1")
    run_calls.end(admin, run, output=[1])
    run_calls.end(admin, run)
    run_calls.end(admin, run_calls.start(admin), "fail", error="e")
    for path in (run["id"], "run_x"):
        admin.get(f"{run_calls.RUNS}/{path}")
    for asked in ("agent_type=sdr&limit=1&status=running", ""):
        admin.get(f"{run_calls.RUNS}?{asked}")
    admin.get("/api/v1/agent-types")
    episode = run_calls.append(admin, run, "c")["id"]
    for path in (f"{run['id']}/episodes/{episode}", run["id"]):
        for _ in range(2):
            admin.delete(f"{run_calls.RUNS}/{path}")
    for asked in ("agent_type=sdr", ""):
        admin.delete(f"{run_calls.RUNS}?{asked}")


def _principals(admin: httpx.Client) -> None:
    for _ in range(2):
        admin.post(PRINCIPALS, json={"id": "bob", "kind": "agent"})
    admin.get(PRINCIPALS, params={"limit": 1})
    admin.get("/api/v1/me")
    admin.patch(f"{PRINCIPALS}/bob", json={"agent_type": "billing"})
    admin.post(f"{PRINCIPALS}/bob/rotate")
    admin.get("/api/v1/audit", params={"action": "principal.change"})
    for _ in range(2):
        admin.delete(f"{PRINCIPALS}/bob")


def _tenants(tenant: Tenant, admin: httpx.Client, reader: Reader) -> None:
    admin.post("/api/v1/tenants", json={"id": "another"})
    root = tenant.service.root
    reader(root.post("/api/v1/tenants", json={"id": "another"}))
    for path in ("another", "unknown"):
        reader(root.delete(f"/api/v1/tenants/{path}"))
        reader(root.get(f"/api/v1/tenants/{path}/deletion"))
    for body in ({"kind": "person", "id": "user_9"}, {"kind": "tenant", "id": "acme"}):
        admin.post("/api/v1/deletions", json=body)
    for path in ("person/user_9", "agent/unknown"):
        admin.get(f"/api/v1/deletions/{path}")


def _deletions(tenant: Tenant, admin: httpx.Client, reader: Reader) -> None:
    for body in ({"kind": "agent", "id": "gone", "dry_run": True}, {"kind": "nonsense"}):
        admin.post("/api/v1/deletions", json=body)
    for kind in ("agent", "nonsense"):
        admin.get(f"/api/v1/deletions/{kind}/gone", params={"dry_run": "true"})
    for name in ("another", "unknown"):
        reader(tenant.service.root.get(f"/api/v1/tenants/{name}/deletion"))
        reader(tenant.service.root.delete(f"/api/v1/tenants/{name}"))


def _discovery(stranger: httpx.Client, document: Json) -> None:
    keyless = [name for name, each in operations(document).items() if each.get("security") == []]
    for name in keyless:
        assert stranger.get(name.split()[1]).status_code == 200
        assert stranger.get(name.split()[1], params={"nonsense": 1}).status_code == 400


def _objects(admin: httpx.Client) -> None:
    space, described = "/api/v1/objects/file_store", {"Content-Type": "image/png"}
    restricted = {"X-Object-Sensitivity": "restricted", "X-Object-TTL": "60"}
    for headers in ({}, restricted, described, {"If-None-Match": "*"}, {"X-Object-TTL": "x"}):
        admin.put(f"{space}/k", content=b"0123", headers=headers)
    etag = admin.get(f"{space}/k").headers["ETag"]
    for headers in ({"Range": "bytes=1-2"}, {"Range": "bytes=9-"}, {"If-None-Match": etag}):
        admin.get(f"{space}/k", headers=headers)
    admin.get(space, params={"limit": 1})
    upload = admin.post(f"{space}/uploads", json={"size": 4_194_305}).json()
    hooks, admin.event_hooks = admin.event_hooks, {}  # the address isn't the API's
    admin.put(upload["url"], content=bytes(4_194_305), headers=upload["headers"])
    admin.event_hooks = hooks
    admin.put(f"{space}/large", headers={"X-Object-Upload": upload["upload_id"]})
    admin.get(f"{space}/large")
    admin.post(f"{space}/uploads", json={"size": 104_857_601})
    admin.post(f"{space}/read", json={"keys": ["k", "none"]})
    admin.patch(space, json={"permissions": {"default": "read"}})
    admin.get("/api/v1/objects")
    admin.post(f"{space}/rename", json={"from": "k", "to": "l"})
    for _ in range(2):
        admin.delete(f"{space}/l")
    admin.delete(space)
    admin.delete(space, params={"prefix": ""})


def test_refusals_of_keys(stranger: httpx.Client, tenant: Tenant, reader: Reader) -> None:
    assert stranger.get(MEMORY).status_code == 401
    agent = tenant.agent("stranger")
    reader(agent.get(PRINCIPALS))
    reader(agent.get(MEMORY, headers={"X-Agent-ID": "somebody-else"}))


def test_a_name_that_is_anothers_path_is_answered_as_documented(
    tenant: Tenant, document: Json
) -> None:
    assert tenant.agent("lost").patch(BATCH, json={}).status_code == 405
    assert "405" in operations(document)["PATCH /api/v1/memory/{id}"]["responses"]
    assert "405" not in operations(document)["POST /api/v1/memory"]["responses"]


def test_every_operation_answers_as_documented(
    tenant: Tenant,
    admin: httpx.Client,
    stranger: httpx.Client,
    reader: Reader,
    document: Json,
) -> None:
    for use in (
        _entries,
        _batches,
        _namespaces,
        _principals,
        _memories,
        _facts,
        _instances,
        _procedures,
        _runs,
        _objects,
    ):
        use(admin)
    _tasks(admin, tenant)
    _logs(tenant, admin)
    _conversations(admin, tenant)
    _states(tenant, admin)
    _tenants(tenant, admin, reader)
    _deletions(tenant, admin, reader)
    _discovery(stranger, document)
    assert reader.seen == operations(document).keys()
