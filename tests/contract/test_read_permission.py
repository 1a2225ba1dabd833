"""RFC-0015 §6.4: who lacks `memory.read` gets no value back from any call."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from functions.api.documents import find_value_fields
from functions.api.route_index import list_routes
from functions.identity.model import READ
from tests.contract import conversation_calls
from tests.contract.bodies import BATCH, MEMORY, allow, create, semantic, task
from tests.contract.expect import ok, refused
from tests.contract.service import Tenant

SECRET = "s3cret-value"
VALUE = {"told": SECRET}
BY_KEY = {"namespace": "facts", "key": "k", "memory_type": "semantic"}
CONVERSATION = "/api/v1/conversations/s1"
WORKFLOW = "/api/v1/procedures/sdr/outreach/w1"

Call = Callable[[httpx.Client], httpx.Response]


def send(method: str, path: str, body: Any = None, **headers: str) -> Call:
    """A call with an Idempotency-Key, so that the same call again is a replay."""
    named = {"Idempotency-Key": f"{method} {path}".replace(" ", "-"), **headers}
    named = {name.replace("_", "-"): value for name, value in named.items()}
    return lambda client: client.request(method, path, json=body, headers=named)


def build_calls(admin: httpx.Client) -> dict[str, Call]:
    """One call for each route that answers with a stored value, on values that `admin` wrote."""
    entry = create(admin, semantic(value=VALUE))
    run = ok(admin.post("/v1/runs", json={"agent": "planner"}), 201)
    log = ok(admin.post("/api/v1/runs", json={"agent_type": "sdr", "input": SECRET}), 201)["id"]
    failing = ok(admin.post("/api/v1/runs", json={"agent_type": "sdr", "input": SECRET}), 201)["id"]
    ok(admin.put(WORKFLOW, json={"spec": SECRET}), 201)
    described = {"X-Object-Metadata": f'{{"of": "{SECRET}"}}'}
    ok(admin.put("/api/v1/objects/shared/k", content=b"1", headers=described), 201)
    ok(admin.patch("/api/v1/objects/shared", json={"permissions": {"default": "write"}}))
    private = "/api/v1/agents/admin/objects/shared"
    ok(admin.put(f"{private}/k", content=b"1", headers=described), 201)
    ok(admin.patch(private, json={"permissions": {"default": "write"}}))
    message = conversation_calls.message(SECRET)
    for said in (SECRET, SECRET.upper()):
        fact = {"subject": SECRET, "predicate": "said", "object": said}
        ok(admin.post("/api/v1/facts", json=fact), 201)
    consolidation = "/api/v1/consolidation"
    merging = ok(admin.post(consolidation, json={"dry_run": False}), 202)["id"]
    return {
        "POST /api/v1/consolidation": send("POST", consolidation, {"dry_run": True}),
        "GET /api/v1/consolidation/{id}": send("GET", f"{consolidation}/{merging}"),
        "POST /api/v1/memory": send("POST", MEMORY, semantic(key="new", value=VALUE)),
        "POST /api/v1/remember": send("POST", "/api/v1/remember", {"text": SECRET}),
        "PUT /api/v1/memory": send("PUT", MEMORY, semantic(key="put", value=VALUE)),
        "PATCH /api/v1/memory/{id}": send(
            "PATCH", f"{MEMORY}/{entry['id']}", {"tags": ["t"]}, If_Match="1"
        ),
        "POST /api/v1/memory/{id}/restore": send(
            "POST", f"{MEMORY}/{entry['id']}/restore", {"version": 2}, If_Match="2"
        ),
        "POST /api/v1/memory/batch": send(
            "POST", BATCH, {"entries": [BY_KEY | {"version": 3, "tags": ["u"]}]}
        ),
        "PUT /api/v1/conversations/{session_id}": send(
            "PUT",
            CONVERSATION,
            conversation_calls.conversation(SECRET, metadata=VALUE, agent_participants=["writer"]),
        ),
        "POST /api/v1/conversations/{session_id}/messages": send(
            "POST", f"{CONVERSATION}/messages", {"messages": [message]}
        ),
        "PATCH /api/v1/conversations/{session_id}": send("PATCH", CONVERSATION, {"tags": ["t"]}),
        "PATCH /api/v1/conversations/{session_id}/messages/{index}": send(
            "PATCH", f"{CONVERSATION}/messages/1", {"role": "tool"}
        ),
        "PUT /api/v1/agents/{agent_id}/state/{owner_id}/{key}": send(
            "PUT", "/api/v1/agents/writer/state/writer/k", {"value": SECRET}
        ),
        "PUT /api/v1/agents/{agent_id}/objects/{space}/{key}": send(
            "PUT", f"{private}/new", SECRET, X_Object_Metadata=f'{{"of": "{SECRET}"}}'
        ),
        "POST /api/v1/agents/{agent_id}/objects/{space}/rename": send(
            "POST", f"{private}/rename", {"from": "k", "to": "l"}
        ),
        "PUT /api/v1/objects/{space}/{key}": send(
            "PUT", "/api/v1/objects/shared/new", SECRET, X_Object_Metadata=f'{{"of": "{SECRET}"}}'
        ),
        "POST /api/v1/objects/{space}/rename": send(
            "POST", "/api/v1/objects/shared/rename", {"from": "k", "to": "l"}
        ),
        "POST /api/v1/facts/batch": send(
            "POST",
            "/api/v1/facts/batch",
            {"facts": [{"subject": SECRET, "predicate": "p", "object": SECRET}]},
        ),
        "POST /api/v1/facts": send(
            "POST", "/api/v1/facts", {"subject": SECRET, "predicate": SECRET, "object": SECRET}
        ),
        "PUT /api/v1/instances/{instance_id}/working/{key}": send(
            "PUT", "/api/v1/instances/i1/working/k", {"value": SECRET}
        ),
        "PUT /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}": send(
            "PUT", WORKFLOW, {"spec": SECRET}
        ),
        "POST /api/v1/procedures/{agent_type}/{task_type}/{workflow_id}/outcome": send(
            "POST", f"{WORKFLOW}/outcome", {"score": 1}
        ),
        "POST /v1/memory/{memoryRef}": send(
            "POST", f"/v1/memory/{run['memoryRef']}", {"content": SECRET}
        ),
        "POST /api/v1/runs": send("POST", "/api/v1/runs", {"agent_type": "sdr", "input": SECRET}),
        "POST /api/v1/runs/{run_id}/episodes": send(
            "POST", f"/api/v1/runs/{log}/episodes", {"content": SECRET}
        ),
        "POST /api/v1/runs/{run_id}/complete": send(
            "POST", f"/api/v1/runs/{log}/complete", {"output": SECRET}
        ),
        "POST /api/v1/runs/{run_id}/fail": send(
            "POST", f"/api/v1/runs/{failing}/fail", {"error": SECRET}
        ),
        "POST /api/v1/tasks": send("POST", "/api/v1/tasks", task(id="t1", input=SECRET)),
        "PATCH /api/v1/tasks/{task_id}": send(
            "PATCH", "/api/v1/tasks/t1", {"status": "running"}, If_Match="1"
        ),
    }


def list_routes_with_values() -> list[str]:
    """Those that answer with a stored value, and let callers without `memory.read` in."""
    return [
        f"{route.method} {route.openapi_path}"
        for route in list_routes()
        if READ not in (route.required_permission, route.further_permission)
        and any(map(find_value_fields, route.responses.values()))
    ]


@pytest.mark.in_process
def test_no_answer_shows_a_value_to_who_may_only_write(
    tenant: Tenant, subtests: pytest.Subtests
) -> None:
    allow(tenant.admin, "facts", "write")
    writer = tenant.user("writer", permissions=["memory.write", "memory.admin"])
    calls = build_calls(tenant.admin)
    assert calls.keys() == set(list_routes_with_values())
    for name, call in calls.items():
        with subtests.test(name):
            first, again = call(writer), call(writer)
            assert first.is_success, first.text
            assert again.is_success or again.status_code == 409, again.text
            assert SECRET not in first.text + again.text


@pytest.mark.in_process
def test_who_may_only_write_gets_metadata_version_and_etag(tenant: Tenant) -> None:
    allow(tenant.admin, "facts", "write")
    made = create(tenant.admin, semantic(value=VALUE))
    writer = tenant.user("writer", permissions=["memory.write"])
    path, headers = f"{MEMORY}/{made['id']}", {"If-Match": "1"}
    changed = writer.patch(path, json={"tags": ["t"]}, headers=headers)
    assert changed.headers["ETag"] == '"2"'
    shown = ok(changed)
    assert (shown["id"], shown["version"], shown["tags"]) == (made["id"], 2, ["t"])
    assert shown.keys() == made.keys() - {"value"}


@pytest.mark.in_process
def test_a_message_is_not_popped_without_the_permission_to_read(tenant: Tenant) -> None:
    writer = tenant.user("writer", permissions=["memory.write"])
    ok(conversation_calls.put(writer, "s1", SECRET, user_id="writer"), 201)
    refused(conversation_calls.pop(writer, "s1"), 403, "ACCESS_DENIED")
    assert ok(conversation_calls.append(writer, "s1", "more"), 201)["message_count"] == 2


@pytest.mark.in_process
def test_a_batch_update_tells_nothing_of_keys_in_a_closed_namespace(tenant: Tenant) -> None:
    create(tenant.admin, semantic())
    allow(tenant.admin, "facts", "none")
    mallory = tenant.agent("mallory")
    answers = [
        mallory.post(BATCH, json={"entries": [BY_KEY | {"key": key, "version": 1, "tags": []}]})
        for key in ("k", "unknown")
    ]
    shown = [refused(each, 403, "ACCESS_DENIED") for each in answers]
    assert shown[0] == shown[1]
