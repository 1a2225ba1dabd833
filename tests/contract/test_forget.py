"""CONTRACT3 section 10: to forget a user leaves nothing of the user, in any kind of memory."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.contract.conversation_calls import CONVERSATIONS, put
from tests.contract.expect import ok, refused
from tests.contract.fact_calls import FACTS, learn
from tests.contract.language_model import Model, serve
from tests.contract.learning_calls import Learning, close_users, declare
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep

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
