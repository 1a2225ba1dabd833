"""Each use of authority leaves one record, with the action itself or not at all."""

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

import functions
from functions.api.route_index import list_routes
from functions.authorization.rules import Action
from tests.contract import run_calls
from tests.contract.bodies import (
    MEMORY,
    NAMESPACES,
    PRINCIPALS,
    TASKS,
    allow,
    change_task,
    create,
    create_task,
    entry,
    grant,
    semantic,
    update,
    working,
)
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.openwop_calls import start
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep
from tests.contract.transport import MovableClock

AUDIT = "/api/v1/audit"
Json = dict[str, Any]
Use = Callable[[Tenant], httpx.Response]
"""Uses an action once; what it needs is set up before."""


def records(client: httpx.Client, **query: Any) -> list[Json]:
    found: list[Json] = ok(client.get(AUDIT, params=query))["records"]
    return found


def _create_tenant(tenant: Tenant) -> httpx.Response:
    return tenant.service.root.post("/api/v1/tenants", json={"id": f"{tenant.id}-2"})


def _set_owner(tenant: Tenant) -> httpx.Response:
    tenant.coordinator("boss")
    return tenant.admin.put("/api/v1/intents/i/owner", json={"principal": "boss"})


def _delete_conversation(tenant: Tenant) -> httpx.Response:
    body = {"user_id": "eve", "messages": []}
    ok(tenant.agent("eve").put("/api/v1/conversations/s", json=body), 201)
    return tenant.admin.delete("/api/v1/conversations/s")


def _say(tenant: Tenant) -> httpx.Client:
    """Store two messages of eve, and return who may change them, too."""
    said = [{"role": "user", "content": text} for text in ("one", "two")]
    body = {"user_id": "eve", "agent_participants": ["admin"], "messages": said}
    ok(tenant.agent("eve").put("/api/v1/conversations/s", json=body), 201)
    return tenant.admin


def _delete_archived_conversation(tenant: Tenant) -> httpx.Response:
    body = {"user_id": "eve", "messages": [], "ttl": "PT1S"}
    ok(tenant.agent("eve").put("/api/v1/conversations/s", json=body), 201)
    tenant.service.clock.advance(seconds=2)
    sweep(tenant.service)
    return tenant.admin.delete("/api/v1/conversations/s/archive")


def _delete_state(tenant: Tenant) -> httpx.Response:
    path = "/api/v1/agents/eve/state/bob/k"
    ok(tenant.agent("eve").put(path, json={"value": 1}))
    return tenant.admin.delete(path)


def _adopt_task(tenant: Tenant) -> httpx.Response:
    create(tenant.agent("eve"), working("t"))
    body = {"id": "t", "intent_id": "i", "assigned_agent": "eve"}
    return tenant.admin.post(TASKS, json=body)


def _change_task(tenant: Tenant) -> httpx.Response:
    task = create_task(tenant.admin, id="t", assigned_agent="ada")
    return change_task(tenant.admin, task, assigned_agent="eve")


def _grant(tenant: Tenant) -> httpx.Response:
    create_task(tenant.admin, id="t", assigned_agent="ada")
    return grant(tenant.admin, "t", "eve", access="read")


def _revoke_grant(tenant: Tenant) -> httpx.Response:
    ok(_grant(tenant))
    return tenant.admin.delete(f"{TASKS}/t/grants/eve")


def _start_run(tenant: Tenant) -> str:
    return start(tenant.agent("eve")).id


def _replace_a_predecessors_entry(tenant: Tenant) -> httpx.Response:
    boss, first, second = tenant.coordinator("lead"), tenant.agent("first"), tenant.agent("second")
    at = create_task(boss, id="t", assigned_agent="first")
    create(first, working("t"))
    ok(change_task(boss, at, assigned_agent="second"))
    return second.put(MEMORY, json=working("t"))


def _make_entry(tenant: Tenant) -> str:
    allow(tenant.admin, "facts", "write")
    made: str = create(tenant.agent("eve"), semantic())["id"]
    return made


def _share_object(tenant: Tenant) -> None:
    eve, space = tenant.coordinator("eve"), "/api/v1/objects/shared"
    ok(eve.put(f"{space}/k", content=b"eve's"), 201)
    ok(eve.patch(space, json={"permissions": {"default": "write"}}))


def _use_object(method: str, path: str, **request: Any) -> Use:
    """A use of an object that another principal wrote."""

    def use(tenant: Tenant) -> httpx.Response:
        _share_object(tenant)
        return tenant.admin.request(method, f"/api/v1/objects/shared{path}", **request)

    return use


def _use_private_object(method: str, path: str, **request: Any) -> Use:
    """A use of an object that another principal wrote in its private space."""
    space = "/api/v1/agents/eve/objects/shared"

    def use(tenant: Tenant) -> httpx.Response:
        eve = tenant.agent("eve")
        ok(eve.put(f"{space}/k", content=b"eve's"), 201)
        ok(eve.patch(space, json={"permissions": {"default": "write"}}))
        return tenant.admin.request(method, f"{space}{path}", **request)

    return use


def _learn(tenant: Tenant) -> str:
    """A fact of another principal; its path."""
    fact = {"subject": "acme", "predicate": "pays", "object": "net 30", "fact_id": "terms"}
    ok(tenant.agent("learner").post("/api/v1/facts", json=fact), 201)
    return "/api/v1/facts/terms"


def _learn_again(path: str, *, is_replaced: bool) -> Callable[[Tenant], httpx.Response]:
    """A fact of another principal is learned again; or its id takes what another fact says."""

    def use(tenant: Tenant) -> httpx.Response:
        _learn(tenant)
        fact = {"subject": "acme", "predicate": "pays", "object": "net 30"}
        if is_replaced:
            fact |= {"object": "net 10"}
            ok(tenant.admin.post("/api/v1/facts", json=fact), 201)
            fact |= {"fact_id": "terms"}
        body = {"facts": [fact]} if path.endswith("batch") else fact
        return tenant.admin.post(path, json=body)

    return use


def _delete_memory_entry(tenant: Tenant) -> httpx.Response:
    run = start(tenant.agent("putter"))
    return tenant.admin.delete(f"/v1/memory/{run.reference}/{run.put('text')['id']}")


def _log_run(tenant: Tenant) -> tuple[str, str]:
    """A run of another principal with an episode; the paths of both."""
    agent = tenant.agent("runner")
    run = run_calls.start(agent, instance_id="one")
    episode = run_calls.append(agent, run, "text")
    path = f"/api/v1/runs/{run['id']}"
    return path, f"{path}/episodes/{episode['id']}"


def _make_workflow(tenant: Tenant) -> str:
    """A workflow that another principal has written; its path."""
    path = "/api/v1/procedures/sdr/outreach/w1"
    ok(tenant.agent("writer").put(path, json={"spec": "mine"}), 201)
    return path


def _delete_runs_of_an_instance(tenant: Tenant) -> httpx.Response:
    _log_run(tenant)
    return tenant.admin.delete("/api/v1/runs?instance_id=one")


def _delete_run(tenant: Tenant) -> httpx.Response:
    return tenant.admin.delete(_log_run(tenant)[0])


def _consolidate(tenant: Tenant) -> httpx.Response:
    return tenant.admin.post("/api/v1/consolidation", json={})


def _replace_conversation(tenant: Tenant) -> httpx.Response:
    body = {"user_id": "admin", "messages": []}
    ok(tenant.agent("eve").put("/api/v1/conversations/s", json=body), 201)
    return tenant.admin.put("/api/v1/conversations/s", json=body, headers={"If-Match": "1"})


def _change_state(tenant: Tenant) -> httpx.Response:
    path = "/api/v1/agents/admin/state/bob/k"
    ok(tenant.agent("eve", agent_type="admin").put(path, json={"value": 1}))
    return tenant.admin.put(path, json={"value": 2})


def _put_strategy(tenant: Tenant) -> httpx.Response:
    return tenant.admin.put("/api/v1/strategies/notes", json={"kind": "facts"})


def _delete_strategy(tenant: Tenant) -> httpx.Response:
    ok(_put_strategy(tenant), 201)
    return tenant.admin.delete("/api/v1/strategies/notes")


def _forget_user(tenant: Tenant) -> httpx.Response:
    return tenant.admin.post("/api/v1/forget", json={"user_id": "ada"})


def _forget_facts(tenant: Tenant) -> httpx.Response:
    _learn(tenant)
    return tenant.admin.delete("/api/v1/facts?subject=acme")


USES: dict[tuple[str, str], Use] = {
    ("POST /api/v1/tenants", "tenant.create"): _create_tenant,
    ("POST /api/v1/tenants/{id}/admins", "principal.create_admin"): lambda tenant: (
        tenant.service.root.post(f"/api/v1/tenants/{tenant.id}/admins", json={"id": "rescue"})
    ),
    ("PATCH /api/v1/tenants/{id}", "tenant.change"): lambda tenant: tenant.service.root.patch(
        f"/api/v1/tenants/{tenant.id}", json={"limits": {"items": 7}}
    ),
    ("PATCH /api/v1/tenants/{id}/principals/{principal}", "principal.grant"): lambda tenant: (
        tenant.service.root.patch(
            f"/api/v1/tenants/{tenant.id}/principals/ada", json={"permissions": ["memory.inspect"]}
        )
    ),
    ("DELETE /api/v1/tenants/{id}", "tenant.delete"): lambda tenant: tenant.service.root.delete(
        f"/api/v1/tenants/{tenant.id}"
    ),
    ("POST /api/v1/deletions", "agent.delete"): lambda tenant: tenant.admin.post(
        "/api/v1/deletions", json={"kind": "agent", "id": "ada"}
    ),
    ("POST /api/v1/deletions", "person.delete"): lambda tenant: tenant.admin.post(
        "/api/v1/deletions", json={"kind": "person", "id": "ada"}
    ),
    ("POST /api/v1/principals", "principal.create"): lambda tenant: tenant.admin.post(
        PRINCIPALS, json={"id": "bob", "kind": "agent"}
    ),
    ("PATCH /api/v1/principals/{id}", "principal.change"): lambda tenant: tenant.admin.patch(
        f"{PRINCIPALS}/ada", json={"permissions": ["memory.read"]}
    ),
    ("POST /api/v1/principals/{id}/rotate", "principal.rotate_key"): lambda tenant: (
        tenant.admin.post(f"{PRINCIPALS}/ada/rotate")
    ),
    ("DELETE /api/v1/principals/{id}", "principal.revoke"): lambda tenant: tenant.admin.delete(
        f"{PRINCIPALS}/ada"
    ),
    ("PUT /api/v1/intents/{intent_id}/acl", "intent.set_acl"): lambda tenant: tenant.admin.put(
        "/api/v1/intents/i/acl", json={"entries": [{"principal": "ada", "access": "read"}]}
    ),
    ("PUT /api/v1/intents/{intent_id}/owner", "intent.set_owner"): _set_owner,
    ("PATCH /api/v1/memory/namespaces/{namespace}", "namespace.change"): lambda tenant: (
        tenant.admin.patch(f"{NAMESPACES}/policies", json={"permissions": {"default": "read"}})
    ),
    ("POST /api/v1/memory", "namespace.claim"): lambda tenant: tenant.admin.post(
        MEMORY, json=semantic()
    ),
    ("POST /api/v1/remember", "namespace.claim"): lambda tenant: tenant.admin.post(
        "/api/v1/remember", json={"text": "Invoices go out on Fridays"}
    ),
    ("PUT /api/v1/memory", "namespace.claim"): lambda tenant: tenant.admin.put(
        MEMORY, json=semantic()
    ),
    ("PUT /api/v1/memory", "entry.replace"): _replace_a_predecessors_entry,
    ("POST /api/v1/memory/batch", "namespace.claim"): lambda tenant: tenant.admin.post(
        f"{MEMORY}/batch", json={"entries": [semantic()]}
    ),
    ("PATCH /api/v1/agents/{agent_id}/memory/config", "agent.configure"): lambda tenant: (
        tenant.admin.patch("/api/v1/agents/ada/memory/config", json={"episodic": {"capacity": 7}})
    ),
    ("DELETE /api/v1/conversations/{session_id}", "conversation.delete"): _delete_conversation,
    (
        "DELETE /api/v1/conversations/{session_id}/archive",
        "conversation.delete",
    ): _delete_archived_conversation,
    ("DELETE /api/v1/agents/{agent_id}/state/{owner_id}/{key}", "state.delete"): _delete_state,
    ("PUT /api/v1/agents/{agent_id}/state/{owner_id}/{key}", "state.change"): _change_state,
    ("PUT /api/v1/conversations/{session_id}", "conversation.replace"): _replace_conversation,
    ("PUT /api/v1/facts/predicates/{predicate}", "predicate.declare"): (
        lambda tenant: tenant.admin.put(
            "/api/v1/facts/predicates/lives%20in", json={"single_valued": True}
        )
    ),
    ("PATCH /api/v1/conversations/{session_id}/messages/{index}", "message.change"): (
        lambda tenant: _say(tenant).patch(
            "/api/v1/conversations/s/messages/0", json={"content": "other"}
        )
    ),
    ("DELETE /api/v1/conversations/{session_id}/messages", "message.delete"): (
        lambda tenant: _say(tenant).delete(
            "/api/v1/conversations/s/messages", params={"from": 0, "to": 1}
        )
    ),
    ("POST /api/v1/conversations/{session_id}/messages/pop", "message.delete"): (
        lambda tenant: _say(tenant).post("/api/v1/conversations/s/messages/pop")
    ),
    ("POST /api/v1/tasks", "task.adopt"): _adopt_task,
    ("POST /api/v1/tasks", "task.register"): lambda tenant: tenant.admin.post(
        TASKS, json={"intent_id": "i", "assigned_agent": "ada"}
    ),
    ("PATCH /api/v1/tasks/{task_id}", "task.change"): _change_task,
    ("PUT /api/v1/tasks/{task_id}/grants/{principal}", "task.grant"): _grant,
    ("DELETE /api/v1/tasks/{task_id}/grants/{principal}", "task.revoke_grant"): _revoke_grant,
    ("PATCH /api/v1/coordinators/{coordinator_id}/guardrails", "guardrails.change"): (
        lambda tenant: tenant.admin.patch(
            "/api/v1/coordinators/boss/guardrails",
            json={"guardrails": {"max_working_memory_per_task": 7}},
        )
    ),
    ("DELETE /v1/runs/{runId}", "openwop-run.delete"): lambda tenant: tenant.admin.delete(
        f"/v1/runs/{_start_run(tenant)}"
    ),
    ("POST /v1/runs/{runId}/secrets", "openwop-run.change"): lambda tenant: tenant.admin.post(
        f"/v1/runs/{_start_run(tenant)}/secrets",
        json={"secrets": [{"label": "k", "value": "sk-12345678"}]},
    ),
    ("POST /v1/runs/{runId}/end", "openwop-run.change"): lambda tenant: tenant.admin.post(
        f"/v1/runs/{_start_run(tenant)}/end"
    ),
    ("PATCH /api/v1/memory/{id}", "entry.change"): lambda tenant: update(
        tenant.admin, _make_entry(tenant), 1, value={"n": 2}
    ),
    ("POST /api/v1/memory/{id}/restore", "entry.change"): lambda tenant: tenant.admin.post(
        f"{MEMORY}/{_make_entry(tenant)}/restore", json={"version": 1}, headers={"If-Match": "1"}
    ),
    ("PUT /api/v1/memory", "entry.change"): lambda tenant: (
        _make_entry(tenant),
        tenant.admin.put(MEMORY, json=semantic(value={"n": 2})),
    )[1],
    ("POST /api/v1/memory/batch", "entry.change"): lambda tenant: tenant.admin.post(
        f"{MEMORY}/batch",
        json={"entries": [{"id": _make_entry(tenant), "version": 1, "value": {"n": 2}}]},
    ),
    ("DELETE /api/v1/memory/{id}", "entry.delete"): lambda tenant: tenant.admin.delete(
        f"{MEMORY}/{_make_entry(tenant)}"
    ),
    ("DELETE /api/v1/memory/batch", "entry.delete"): lambda tenant: (
        _make_entry(tenant),
        tenant.admin.delete(f"{MEMORY}/batch?namespace=facts&memory_type=semantic"),
    )[1],
    ("PUT /api/v1/objects/{space}/{key}", "object.write"): _use_object("PUT", "/k", content=b"2"),
    ("POST /api/v1/objects/{space}/rename", "object.write"): _use_object(
        "POST", "/rename", json={"from": "k", "to": "l"}
    ),
    ("DELETE /api/v1/objects/{space}/{key}", "object.delete"): _use_object("DELETE", "/k"),
    ("DELETE /api/v1/objects/{space}", "object.delete"): _use_object("DELETE", "?prefix="),
    ("PATCH /api/v1/objects/{space}", "object-space.change"): _use_object(
        "PATCH", "", json={"permissions": {"default": "read"}}
    ),
    (
        "PUT /api/v1/agents/{agent_id}/objects/{space}/{key}",
        "object.write",
    ): _use_private_object("PUT", "/k", content=b"2"),
    (
        "POST /api/v1/agents/{agent_id}/objects/{space}/rename",
        "object.write",
    ): _use_private_object("POST", "/rename", json={"from": "k", "to": "l"}),
    (
        "DELETE /api/v1/agents/{agent_id}/objects/{space}/{key}",
        "object.delete",
    ): _use_private_object("DELETE", "/k"),
    (
        "DELETE /api/v1/agents/{agent_id}/objects/{space}",
        "object.delete",
    ): _use_private_object("DELETE", "?prefix="),
    ("PATCH /api/v1/agents/{agent_id}/objects/{space}", "object-space.change"): (
        lambda tenant: tenant.admin.patch(
            "/api/v1/agents/admin/objects/own", json={"permissions": {"default": "read"}}
        )
    ),
    ("POST /api/v1/runs/{run_id}/episodes", "run.append"): lambda tenant: tenant.admin.post(
        f"{_log_run(tenant)[0]}/episodes", json={"content": "other"}
    ),
    ("POST /api/v1/runs/{run_id}/complete", "run.end"): lambda tenant: tenant.admin.post(
        f"{_log_run(tenant)[0]}/complete", json={"output": 1}
    ),
    ("POST /api/v1/runs/{run_id}/fail", "run.end"): lambda tenant: tenant.admin.post(
        f"{_log_run(tenant)[0]}/fail", json={"error": "no"}
    ),
    ("PUT /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}", "procedure.write"): (
        lambda tenant: tenant.admin.put(_make_workflow(tenant), json={"spec": "other"})
    ),
    ("DELETE /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}", "procedure.delete"): (
        lambda tenant: tenant.admin.delete(_make_workflow(tenant))
    ),
    ("DELETE /api/v1/runs/{run_id}", "run.delete"): _delete_run,
    ("DELETE /api/v1/runs/{run_id}", "episodes.delete"): _delete_run,
    ("DELETE /api/v1/runs", "run.delete"): _delete_runs_of_an_instance,
    ("DELETE /api/v1/runs", "episodes.delete"): _delete_runs_of_an_instance,
    ("DELETE /api/v1/runs/{run_id}/episodes/{episode_id}", "episodes.delete"): lambda tenant: (
        tenant.admin.delete(_log_run(tenant)[1])
    ),
    **{
        (f"POST {path}", action): _learn_again(path, is_replaced=is_replaced)
        for path in ("/api/v1/facts", "/api/v1/facts/batch")
        for action, is_replaced in (("fact.change", False), ("fact.delete", True))
    },
    ("DELETE /v1/memory/{memoryRef}/{id}", "openwop-entry.delete"): _delete_memory_entry,
    ("DELETE /api/v1/facts/{fact_id}", "fact.delete"): lambda tenant: tenant.admin.delete(
        _learn(tenant)
    ),
    ("DELETE /api/v1/facts", "fact.delete"): _forget_facts,
    ("POST /api/v1/consolidation", "consolidation.run"): _consolidate,
    ("POST /api/v1/consolidation/{id}/undo", "consolidation.undo"): lambda tenant: (
        tenant.admin.post(f"/api/v1/consolidation/{_consolidate(tenant).json()['id']}/undo")
    ),
    ("PUT /api/v1/consolidation/settings", "consolidation.change"): lambda tenant: tenant.admin.put(
        "/api/v1/consolidation/settings", json={"every": None}
    ),
    ("POST /api/v1/forget", "user.forget"): _forget_user,
    ("PUT /api/v1/strategies/{name}", "strategy.change"): _put_strategy,
    ("DELETE /api/v1/strategies/{name}", "strategy.delete"): _delete_strategy,
    ("POST /api/v1/workflows", "task.register"): lambda tenant: tenant.admin.post(
        "/api/v1/workflows",
        json={"name": "w", "agents": {"ada": {}}, "plan": [{"task": "one", "agent": "ada"}]},
    ),
    ("POST /api/v1/workflows", "workflow.apply"): lambda tenant: tenant.admin.post(
        "/api/v1/workflows", json={"name": "audits"}
    ),
}
"""A use of each audited action of each route: a route that declares another one fails here."""
_TARGETS = {"episodes": "run", "guardrails": "coordinator", "object": "object-space"}
"""The kind of target of an action whose name begins with another word."""


def _declared() -> Iterator[tuple[str, str]]:
    for route in list_routes():
        for action in route.audited:
            yield f"{route.method} {route.openapi_path}", action.name


def test_every_audited_action_of_a_route_is_tried() -> None:
    assert set(_declared()) == set(USES)


def test_every_audited_action_is_declared_by_a_route() -> None:
    names = (each.name for each in pkgutil.walk_packages(functions.__path__, "functions."))
    modules = [importlib.import_module(each) for each in names if each.endswith("authority")]
    actions = (each for module in modules for each in vars(module).values())
    audited = {each.name for each in actions if isinstance(each, Action) and each.is_audited}
    assert audited == {action for _, action in _declared()} | {"memory.inspect"}


@pytest.mark.parametrize(("route", "action"), USES, ids=str)
def test_an_action_leaves_one_record(tenant: Tenant, route: str, action: str) -> None:
    tenant.agent("ada")
    answer = USES[route, action](tenant)
    assert answer.is_success, answer.text
    if action == "tenant.delete":  # whose audit log goes with it: the operator's has it
        (kept,) = [each for each in tenant.service.state() if '"~root#audit"' in each]
        assert f'"tenant:{tenant.id}"' in kept
        return
    admin, actor = tenant.admin, {"id": "admin", "kind": "user"}
    if action == "tenant.create":
        admin = tenant.service.client(answer.json()["admin"]["api_key"])
    if action in ("tenant.create", "principal.create_admin", "principal.grant", "tenant.change"):
        actor = {"id": "root", "kind": "operator"}
    if action == "entry.replace":
        actor = {"id": "second", "kind": "agent"}
    (record,) = [
        each
        for each in records(admin, action=action)
        if each["request_id"] == answer.headers["x-request-id"]
    ]
    assert (record["action"], record["actor"]) == (action, actor)
    assert record["id"].startswith("aud_")
    subject = action.partition(".")[0]
    target = record["target"].removeprefix("archived_")
    assert target.partition(":")[0] == _TARGETS.get(subject, subject)
    assert "am_" not in json.dumps(record)


def test_a_record_says_what_changed(tenant: Tenant, clock: MovableClock) -> None:
    tenant.agent("ada")
    clock.advance(seconds=1)
    change = {"permissions": ["memory.read"], "agent_type": "billing"}
    ok(tenant.admin.patch(f"{PRINCIPALS}/ada", json=change))
    (record,) = records(tenant.admin, action="principal.change")
    assert record["target"] == "principal:ada"
    assert record["before"] == {"permissions": ["memory.read", "memory.write"], "agent_type": None}
    assert record["after"] == change
    assert record["time"] == clock.time()


def test_what_is_refused_leaves_no_record(tenant: Tenant) -> None:
    tenant.agent("ada")
    before = records(tenant.admin)
    again = tenant.admin.post(PRINCIPALS, json={"id": "ada", "kind": "agent"})
    refused(again, 409, "ENTRY_EXISTS")
    refused(tenant.admin.delete(f"{PRINCIPALS}/nobody"), 404, "NOT_FOUND")
    refused(tenant.agent("eve").get(AUDIT), 403, "ACCESS_DENIED")
    assert len(records(tenant.admin)) == len(before) + 1  # eve


def test_what_one_does_with_ones_own_leaves_no_record(tenant: Tenant) -> None:
    boss, ada = tenant.coordinator("boss"), tenant.agent("ada")
    at = create_task(boss, id="t", assigned_agent="ada")
    before = records(tenant.admin)
    ok(change_task(ada, at, status="running"))
    run, state = run_calls.start(ada), "/api/v1/agents/ada/state/bob/k"
    run_calls.append(ada, run, "text")
    own = create(ada, entry())
    ok(update(ada, own["id"], 1, value={"n": 2}))
    ok(ada.put("/api/v1/conversations/s", json={"user_id": "ada", "messages": []}), 201)
    ok(ada.put(state, json={"value": 1}))
    ok(ada.put("/api/v1/agents/ada/objects/files/k", content=b"1"), 201)
    for path in (
        f"{MEMORY}/{own['id']}",
        "/api/v1/conversations/s",
        state,
        "/api/v1/agents/ada/objects/files/k",
        f"/api/v1/runs/{run['id']}",
    ):
        assert_no_content(ada.delete(path))
    assert records(tenant.admin) == before


def test_a_retry_leaves_no_second_record(tenant: Tenant, clock: MovableClock) -> None:
    def send(method: str, path: str, body: Json | None = None) -> None:
        clock.advance(ms=1)
        for _ in range(2):
            once = {"Idempotency-Key": f"{method}-{path}"}
            assert tenant.admin.request(method, path, json=body, headers=once).is_success

    send("POST", PRINCIPALS, {"id": "ada", "kind": "agent"})
    send("PATCH", f"{PRINCIPALS}/ada", {"agent_type": "x"})
    send("POST", f"{PRINCIPALS}/ada/rotate")
    actions = ["tenant.create", "principal.create", "principal.change", "principal.rotate_key"]
    assert [each["action"] for each in records(tenant.admin)] == actions


def test_records_come_oldest_first_in_pages(tenant: Tenant, clock: MovableClock) -> None:
    for id in ("ada", "bob", "cleo"):
        clock.advance(seconds=1)
        tenant.agent(id)
    targets: list[str] = []
    after: dict[str, str] = {}
    while page := ok(tenant.admin.get(AUDIT, params={"limit": "2"} | after)):
        targets += [each["target"] for each in page["records"]]
        if not page["records"]:
            break
        after = {"after": page["next"]}
    assert targets == [f"tenant:{tenant.id}", "principal:ada", "principal:bob", "principal:cleo"]
    clock.advance(seconds=1)
    tenant.agent("dora")
    assert [each["target"] for each in records(tenant.admin, **after)] == ["principal:dora"]
    assert records(tenant.admin, actor="root") == records(tenant.admin, action="tenant.create")
    assert records(tenant.admin, actor="nobody") == []
    invalid(tenant.admin.get(AUDIT, params={"after": "yesterday"}), "after")


def test_records_are_read_newest_first_and_of_a_period(tenant: Tenant, clock: MovableClock) -> None:
    names = ["ada", "bob", "cleo", "dora"]
    for id in names:
        clock.advance(seconds=1)
        tenant.agent(id)
    asked = {"limit": "2", "order": "desc", "action": "principal.create"}
    targets: list[str] = []
    while True:
        page = ok(tenant.admin.get(AUDIT, params=asked))
        targets += [each["target"] for each in page["records"]]
        if "next" not in page:
            break
        asked["after"] = page["next"]
    assert targets == [f"principal:{id}" for id in reversed(names)]
    period = {"from": clock.time(seconds=-2), "to": clock.time(seconds=-1)}
    for order, within in (("asc", names[1:3]), ("desc", names[2:0:-1])):
        found = records(tenant.admin, order=order, **period)
        assert [each["target"] for each in found] == [f"principal:{id}" for id in within]
    assert records(tenant.admin, to="1960-01-01T00:00:00Z") == []
    invalid(tenant.admin.get(AUDIT, params={"from": period["to"], "to": period["from"]}), "to")


def test_records_are_kept_as_long_as_logs(tenant: Tenant, clock: MovableClock) -> None:
    clock.advance(seconds=365 * 86_400 - 1)
    assert records(tenant.admin) != []
    clock.advance(seconds=1)
    assert records(tenant.admin) == []


def test_a_tenant_reads_its_own_records_alone(service: Service, tenant: Tenant) -> None:
    other = service.tenant()
    other.agent("ada")
    assert [each["target"] for each in records(tenant.admin)] == [f"tenant:{tenant.id}"]
