"""CONTRACT3 section 10: to forget a user leaves nothing of the user, in any kind of memory."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from functions.deletions.model import SETTLING_TIME
from tests.contract.conversation_calls import CONVERSATIONS, put
from tests.contract.expect import ok, refused
from tests.contract.fact_calls import FACTS, learn
from tests.contract.language_model import Model, serve
from tests.contract.learning_calls import Learning, close_users, declare
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep
from tests.contract.test_deletion import DELETIONS, name_type

pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]
Json = dict[str, Any]
NOTHING = {"entries": 0, "facts": 0, "conversations": 0, "states": 0, "objects": 0}
DAY = 24 * 3600


@pytest.fixture
def model() -> Iterator[Model]:
    with serve() as served:
        yield served


@pytest.fixture
def learning(service: Service, model: Model) -> Learning:
    return Learning(service, model, stream_consumers="learning,history,vectors")


@pytest.fixture
def admin(learning: Learning, tenant: Tenant) -> httpx.Client:  # noqa: ARG001 - its stream begins before
    close_users(tenant)
    return tenant.admin


def forget(client: httpx.Client, user: str) -> Json:
    receipt: Json = ok(client.post("/api/v1/forget", json={"user_id": user}))
    return receipt


def fill(tenant: Tenant, user: str, mark: str) -> None:
    """Store something of each kind about a user, by several principals."""
    admin, other = tenant.admin, tenant.agents(f"agent-{mark}")[0]
    for namespace in ("memory", "notes"):
        entry = {
            "memory_type": "semantic",
            "namespace": f"users/{user.replace('@', '%40')}/{namespace}",
            "key": "k",
            "value": {"text": f"first {mark}"},
        }
        ok(admin.put("/api/v1/memory", json=entry), 201)
        ok(admin.put("/api/v1/memory", json=entry | {"value": {"text": f"then {mark}"}}))
    for city in ("Rome", "Oslo"):
        replaced: Json = {"user_id": user, "replaces": "same_subject_predicate"}
        learn(admin, user, "lives in", f"{city} {mark}", **replaced)
    ok(put(other, f"s-{mark}", f"I live in Rome {mark}", user_id=user), 201)
    ok(put(other, f"old-{mark}", f"archived {mark}", user_id=user, ttl="duration:P1D"), 201)
    for client, agent in ((admin, "admin"), (other, f"agent-{mark}")):
        state = {"value": f"state {mark}"}
        ok(client.put(f"/api/v1/agents/{agent}/state/{user}/mood", json=state))
    own = user.replace("@", "%2540")  # `%25` is the percent sign of a name
    for space in (f"users%252F{own}", f"users%252F{own}%252Ffiles", f"users/{own}"):
        stored = admin.put(f"/api/v1/objects/{space}/k", content=f"object {mark}".encode())
        assert stored.is_success, stored.text


def find(service: Service, mark: str) -> list[str]:
    """The stored items with a text in them; the name of the agent `agent-MARK` aside."""
    found = [str(each).replace(f"agent-{mark}", "") for each in service.stored()]
    return [each for each in found if mark in each]


def find_name(service: Service, name: str) -> list[str]:
    """The types of the stored items that have a user's name in clear."""
    found = [
        each for each in service.stored() if f"'{name}" in str(each) or f"/{name}" in str(each)
    ]
    return sorted({name_type(each) for each in found})


def delete_person(service: Service, admin: httpx.Client, learning: Learning, user: str) -> Json:
    """Delete a person, and give what a preview has counted."""
    body = {"kind": "person", "id": user}
    ok(admin.post(DELETIONS, json=body | {"dry_run": True}), 202)
    sweep(service)
    preview = ok(admin.get(f"{DELETIONS}/person/{user}", params={"dry_run": True}))
    ok(admin.post(DELETIONS, json=body), 202)
    for _ in range(4):
        sweep(service)
        learning.settle()
        service.clock.advance(seconds=SETTLING_TIME // 1000)
    assert ok(admin.get(f"{DELETIONS}/person/{user}"))["status"] == "done"
    counts: Json = preview["counts"]
    return counts


def list_namespaces(admin: httpx.Client) -> list[str]:
    found = ok(admin.get("/api/v1/memory/namespaces"))["namespaces"]
    return sorted(each["namespace"] for each in found)


def count_archives(service: Service, tenant: Tenant) -> int:
    folder = service.archive / "conversations" / tenant.id
    return sum(each.is_file() for each in folder.rglob("*"))


def test_nothing_of_a_user_is_left_and_all_of_others(
    service: Service, tenant: Tenant, admin: httpx.Client, learning: Learning
) -> None:
    declare(admin, "facts")
    declare(admin, "episodes", namespace="agents/{agent_id}/lessons")
    for user, mark in (("ada@example.com", "zebra"), ("bob", "quagga")):
        fill(tenant, user, mark)
    learning.settle()
    service.clock.advance(seconds=DAY)
    sweep(service)
    before = ok(admin.get(FACTS, params={"user_id": "ada@example.com"}))["facts"]
    assert "Rome" in str([each for each in before if each["learned_by"] == "agent-memory"])
    receipt = forget(admin, "ada@example.com")
    assert receipt.pop("complete")
    assert receipt == {"entries": 2, "facts": 3, "conversations": 2, "states": 2, "objects": 3}
    learning.settle()
    assert find(service, "zebra") == []
    assert count_archives(service, tenant) == 1
    ask = {"query": "zebra", "user_id": "ada@example.com"}
    assert ok(admin.post("/api/v1/recall", json=ask))["items"] == []
    assert forget(admin, "ada@example.com") == NOTHING | {"complete": True}
    receipt = forget(admin, "bob")
    assert (receipt["entries"], receipt["conversations"], receipt["objects"]) == (2, 2, 3)


def test_write_access_to_the_users_memory_is_needed_and_enough(
    tenant: Tenant, admin: httpx.Client
) -> None:
    ada, eve = tenant.agents("ada", "eve")
    allow = [{"agent": "ada", "access": "write"}]
    rule = {"permissions": {"default": "none", "allow": allow}}
    ok(admin.patch("/api/v1/memory/namespaces/users%2F*", json=rule))
    ok(put(eve, "s", "Hello", user_id="bob"), 201)
    answer = eve.post("/api/v1/forget", json={"user_id": "bob"})
    refused(answer, 403, "ACCESS_DENIED")
    assert forget(ada, "bob")["conversations"] == 1
    refused(eve.get(f"{CONVERSATIONS}/s"), 404, "NOT_FOUND")
    (record,) = [
        each
        for each in ok(admin.get("/api/v1/audit"))["records"]
        if each["action"] == "user.forget"
    ]
    assert (record["actor"]["id"], record["target"]) == ("ada", "user:bob")


def test_an_agent_forgets_nobody_where_everybody_may_write(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    refused(ada.post("/api/v1/forget", json={"user_id": "bob"}), 403, "ACCESS_DENIED")
    rule = {"permissions": {"default": "write"}}
    ok(tenant.admin.patch("/api/v1/memory/namespaces/users%2F*", json=rule))
    answer = ada.post("/api/v1/forget", json={"user_id": "bob"})
    assert "users%2F*" in refused(answer, 403, "ACCESS_DENIED")["detail"]


def test_users_whose_names_begin_alike_are_told_apart(tenant: Tenant, admin: httpx.Client) -> None:
    ok(admin.post("/api/v1/remember", json={"text": "tea", "user_id": "ann"}), 201)
    ok(admin.post("/api/v1/remember", json={"text": "tea", "user_id": "anna"}), 201)
    ok(tenant.admin.put("/api/v1/objects/users%252Fanna/k", content=b"x"), 201)
    assert forget(admin, "ann") == NOTHING | {"entries": 1, "complete": True}
    assert forget(admin, "anna") == NOTHING | {"entries": 1, "objects": 1, "complete": True}


def test_of_a_deleted_person_nothing_is_left_and_all_of_others(
    service: Service, tenant: Tenant, admin: httpx.Client, learning: Learning
) -> None:
    declare(admin, "facts")
    for user, mark in (("ada@example.com", "zebra"), ("ada@example.community", "quagga")):
        fill(tenant, user, mark)
    learning.settle()
    counts = delete_person(service, admin, learning, "ada@example.com")
    kinds = ("semantic entry", "entry version", "object", "object space", "namespace", "fact")
    assert [counts[each] for each in kinds] == [2, 2, 3, 2, 2, 3]
    assert find(service, "zebra") == []
    left = {"audit record", "deletion", "preview of a deletion"}
    for name in ("ada@example.com'", "ada%40example.com/", "ada%2540example.com"):
        assert set(find_name(service, name)) <= left, name
    assert list_namespaces(admin) == [
        "users/*",
        "users/ada%40example.community/memory",
        "users/ada%40example.community/notes",
    ]
    receipt = forget(admin, "ada@example.community")
    assert (receipt["entries"], receipt["conversations"], receipt["objects"]) == (2, 2, 3)


@pytest.mark.parametrize("path", ["memory", "objects/users%252Fann", "objects/users/ann"])
def test_a_person_whom_only_a_name_below_users_names_is_deleted(
    service: Service, admin: httpx.Client, learning: Learning, path: str
) -> None:
    entry = {"memory_type": "semantic", "namespace": "users/ann/x", "key": "k"}
    if path == "memory":
        ok(admin.put("/api/v1/memory", json=entry | {"value": {"text": "zebra"}}), 201)
    else:
        assert admin.put(f"/api/v1/{path}/k", content=b"zebra").is_success
    assert find(service, "zebra")
    delete_person(service, admin, learning, "ann")
    assert find(service, "zebra") == []


def test_a_person_is_told_apart_from_an_agent_of_that_name(
    service: Service, admin: httpx.Client, learning: Learning
) -> None:
    ok(admin.post("/api/v1/remember", json={"text": "tea", "user_id": "ann"}), 201)
    ok(admin.post("/api/v1/remember", json={"text": "tea", "user_id": "ann/a"}), 201)
    ok(admin.post(DELETIONS, json={"kind": "agent", "id": "ann"}), 202)
    sweep(service)
    assert delete_person(service, admin, learning, "ann")["semantic entry"] == 1
    assert forget(admin, "ann/a")["entries"] == 1


def test_who_may_not_write_all_of_a_users_namespaces_forgets_nothing(
    tenant: Tenant, admin: httpx.Client
) -> None:
    closed = {"permissions": {"default": "none"}}
    ok(admin.patch("/api/v1/memory/namespaces/users%2Fann%2F%2A", json=closed))
    for name, agents in (("memory", ("eve", "admin")), ("health", ("doctor",))):
        allow = [{"agent": each, "access": "write"} for each in agents]
        path = f"/api/v1/memory/namespaces/users%2Fann%2F{name}"
        ok(admin.patch(path, json={"permissions": {"default": "none", "allow": allow}}))
    eve, doctor = tenant.agent("eve"), tenant.agent("doctor")
    entry = {"memory_type": "semantic", "namespace": "users/ann/health", "key": "k", "value": {}}
    made = ok(doctor.post("/api/v1/memory", json=entry), 201)
    refused(eve.post("/api/v1/forget", json={"user_id": "ann"}), 403, "ACCESS_DENIED")
    assert ok(doctor.get(f"/api/v1/memory/{made['id']}"))["key"] == "k"
    refused(admin.post("/api/v1/forget", json={"user_id": "ann"}), 403, "ACCESS_DENIED")
    more = {"allow": [{"agent": "admin", "access": "write"}]}
    path = "/api/v1/memory/namespaces/users%2Fann%2Fhealth"
    ok(admin.patch(path, json={"permissions": more}))
    assert forget(admin, "ann")["entries"] == 1
    refused(doctor.get(f"/api/v1/memory/{made['id']}"), 404, "ENTRY_NOT_FOUND")


def test_what_was_configured_for_a_user_goes_unless_that_opens_the_name(
    service: Service, tenant: Tenant, admin: httpx.Client, learning: Learning
) -> None:
    entry = {"memory_type": "semantic", "namespace": "users/ann/memory", "key": "k", "value": {}}
    ok(admin.put("/api/v1/memory", json=entry), 201)
    forget(admin, "ann")
    assert list_namespaces(admin) == ["users/*"]
    rule = {"permissions": {"default": "read"}}
    ok(admin.patch("/api/v1/memory/namespaces/users%2F*", json=rule))
    ok(admin.put("/api/v1/memory", json=entry), 201)
    allow = [{"agent": each, "access": "write"} for each in ("ann", "bob")]
    closed = {"permissions": {"default": "none", "allow": allow}}
    ok(admin.patch("/api/v1/memory/namespaces/users%2Fann%2Fmemory", json=closed))
    forget(admin, "ann")
    assert list_namespaces(admin) == ["users/*", "users/ann/memory"]
    eve = tenant.agent("eve")
    refused(eve.get("/api/v1/memory/namespaces/users%2Fann%2Fmemory"), 403, "ACCESS_DENIED")
    delete_person(service, admin, learning, "ann")
    kept = ok(admin.get("/api/v1/memory/namespaces/users%2Fann%2Fmemory"))["permissions"]
    assert kept["default"] == "none"
    assert [each["agent"] for each in kept["allow"]] == ["admin", "bob"]
