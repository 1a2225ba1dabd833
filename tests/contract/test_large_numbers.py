"""Numbers beyond the range of a double are refused everywhere; all others are read everywhere."""

import json
from typing import Any

import httpx
import pytest

from tests.contract import conversation_calls, run_calls
from tests.contract.bodies import MEMORY, PRINCIPALS, create, entry, read, update, working
from tests.contract.expect import ok, refused
from tests.contract.run_calls import start
from tests.contract.search_calls import SEARCH, embedder, search
from tests.contract.service import Tenant

LARGEST = int(1.7976931348623157e308)
CONVERSATION = "/api/v1/conversations/s1"

Json = dict[str, Any]


def send(client: httpx.Client, method: str, path: str, body: Any) -> httpx.Response:
    """Send a body whose number 4711 is an integer of 400 digits."""
    text = json.dumps(body).replace("4711", "1" * 400)
    headers = {"Content-Type": "application/json", "If-Match": "1"}
    return client.request(method, path, content=text, headers=headers)


BODIES: dict[str, tuple[str, str, Any]] = {
    "entry": ("POST", MEMORY, entry(value={"n": 4711})),
    "put": ("PUT", MEMORY, entry(value={"deep": [{"n": 4711}]})),
    "batch": ("POST", f"{MEMORY}/batch", {"entries": [entry(value={"n": 4711})]}),
    "conversation": (
        "PUT",
        "/api/v1/conversations/s2",
        {"user_id": "u", "messages": [], "metadata": {"n": 4711}},
    ),
    "message": (
        "POST",
        f"{CONVERSATION}/messages",
        {"messages": [{"role": "user", "content": {"n": 4711}}]},
    ),
    "state": ("PUT", "/api/v1/agents/admin/state/o/k", {"value": {"n": 4711}}),
    "run": ("POST", "/api/v1/runs", {"agent_type": "sdr", "input": {"n": 4711}}),
    "fact": (
        "POST",
        "/api/v1/facts",
        {"subject": "a", "predicate": "b", "object": "c", "metadata": {"n": 4711}},
    ),
    "procedure": ("PUT", "/api/v1/procedures/sdr/t/w", {"spec": {"n": 4711}}),
    "working value": ("PUT", "/api/v1/instances/i/working/k", {"value": {"n": 4711}}),
    "task": ("POST", "/api/v1/tasks", {"intent_id": "i", "name": "t", "context": {"n": 4711}}),
    "search": (
        "POST",
        SEARCH,
        {"query": "q", "memory_type": "semantic", "namespace": "n", "filters": {"n": 4711}},
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_number_beyond_a_double_is_refused_and_changes_nothing(tenant: Tenant, name: str) -> None:
    ok(conversation_calls.put(tenant.admin, "s1", "hello"), 201)
    before = tenant.service.state()
    problem = refused(send(tenant.admin, *BODIES[name]), 400, "VALIDATION_ERROR")
    assert problem["errors"][0]["field"] != ""
    assert tenant.service.state() == before


def test_an_episode_with_a_number_beyond_a_double_is_refused(tenant: Tenant) -> None:
    run = start(tenant.admin)
    path = f"/api/v1/runs/{run['id']}/episodes"
    refused(send(tenant.admin, "POST", path, {"content": {"n": 4711}}), 400, "VALIDATION_ERROR")


def test_the_largest_integer_is_found_and_changed(tenant: Tenant) -> None:
    embed = embedder(tenant.service)
    made = create(tenant.admin, entry(value={"n": LARGEST, "text": "a cup of green tea"}))
    create(tenant.admin, working(key="w", value={"n": -LARGEST, "text": "a red car"}))
    embed()
    assert search(tenant.admin, "green tea", agent_id="admin")[0]["entry"]["value"]["n"] == LARGEST
    found = search(tenant.admin, "red car", memory_type="working", agent_id="admin")
    assert found[0]["entry"]["value"]["n"] == -LARGEST
    ok(update(tenant.admin, made["id"], 1, value={"n": LARGEST - 1}))
    assert ok(read(tenant.admin, made["id"]))["value"] == {"n": LARGEST - 1}


def test_a_message_with_the_largest_integer_is_changed(tenant: Tenant) -> None:
    ok(conversation_calls.put(tenant.admin, "s1", "hello"), 201)
    said = {"role": "user", "content": {"n": LARGEST}}
    ok(tenant.admin.post(f"{CONVERSATION}/messages", json={"messages": [said]}), 201)
    changed = tenant.admin.patch(f"{CONVERSATION}/messages/1", json={"content": {"n": -LARGEST}})
    assert ok(changed)["content"] == {"n": -LARGEST}


def test_who_may_only_write_stores_a_large_integer(tenant: Tenant) -> None:
    body = {"id": "writer", "kind": "agent", "permissions": ["memory.write"]}
    key = ok(tenant.admin.post(PRINCIPALS, json=body), 201)["api_key"]
    writer = tenant.service.client(key)
    assert "value" not in create(writer, entry(value={"n": LARGEST}))
    run = start(writer)
    appended = run_calls.append(writer, run, {"n": LARGEST})
    assert "content" not in appended
    listed = tenant.admin.get("/api/v1/episodes", params={"agent_type": "sdr", "values": "omit"})
    ok(listed)
