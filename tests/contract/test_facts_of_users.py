"""CONTRACT3 section 8: facts about a user, and facts in batches."""

import httpx
import pytest

from tests.contract.bodies import NAMESPACES
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.fact_calls import FACTS, learn, objects, recall, said
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import sweep

BATCH = f"{FACTS}/batch"


@pytest.fixture
def ada(tenant: Tenant) -> httpx.Client:
    rule = {"permissions": {"default": "none", "allow": [{"agent": "ada", "access": "write"}]}}
    ok(tenant.admin.patch(f"{NAMESPACES}/users%2F*", json=rule))
    return tenant.agent("ada")


def test_a_fact_about_a_user_has_the_access_of_the_users_memory(
    tenant: Tenant, ada: httpx.Client
) -> None:
    eve = tenant.agent("eve")
    fact = learn(ada, "jo", "likes", "tea", user_id="jo")
    assert fact["user_id"] == "jo"
    learn(ada, "jo", "is", "a customer")
    assert ok(ada.get(f"{FACTS}/{fact['fact_id']}")) == fact
    refused(eve.get(f"{FACTS}/{fact['fact_id']}"), 403, "ACCESS_DENIED")
    refused(eve.delete(f"{FACTS}/{fact['fact_id']}"), 403, "ACCESS_DENIED")
    refused(eve.post(FACTS, json=said("jo", "likes", "x", user_id="jo")), 403, "ACCESS_DENIED")
    taken = said("jo", "likes", "x", fact_id=fact["fact_id"])
    refused(eve.post(FACTS, json=taken), 403, "ACCESS_DENIED")
    assert objects(recall(eve, "what does jo like")) == ["a customer"]
    listed = ok(eve.get(FACTS))
    assert (objects(listed["facts"]), listed["total"]) == (["a customer"], 1)
    assert ok(eve.get(FACTS, params={"user_id": "jo"}))["facts"] == []
    assert objects(ok(ada.get(FACTS, params={"user_id": "jo"}))["facts"]) == ["tea"]
    assert objects(recall(ada, "jo", user_id="jo")) == ["tea"]
    assert ok(eve.delete(FACTS, params={"subject": "jo"})) == {"deleted": 1}
    assert objects(recall(ada, "jo")) == ["tea"]


def test_a_fact_about_a_user_is_not_replaced_by_a_statement_that_is_known(
    tenant: Tenant, ada: httpx.Client
) -> None:
    eve = tenant.agent("eve")
    learn(ada, "jo", "likes", "tea", user_id="jo", fact_id="tea")
    learn(eve, "eve", "says", "so")
    refused(eve.post(FACTS, json=said("eve", "says", "so", fact_id="tea")), 403, "ACCESS_DENIED")
    assert objects(recall(ada, "jo", user_id="jo")) == ["tea"]


def test_two_users_facts_never_meet(ada: httpx.Client) -> None:
    one = learn(ada, "plan", "is", "gold", user_id="jo")
    two = learn(ada, "plan", "is", "gold", user_id="sam")
    shared = learn(ada, "plan", "is", "gold")
    assert len({one["fact_id"], two["fact_id"], shared["fact_id"]}) == 3
    again = ok(ada.post(FACTS, json=said("plan", "is", "gold", user_id="jo")))
    assert (again["fact_id"], again["learned_count"]) == (one["fact_id"], 2)
    assert ok(ada.delete(FACTS, params={"user_id": "jo"})) == {"deleted": 1}
    assert len(ok(ada.get(FACTS))["facts"]) == 2


def test_an_administrator_deletes_and_does_not_read(tenant: Tenant, ada: httpx.Client) -> None:
    fact = learn(ada, "jo", "likes", "tea", user_id="jo")
    refused(tenant.admin.get(f"{FACTS}/{fact['fact_id']}"), 403, "ACCESS_DENIED")
    assert_no_content(tenant.admin.delete(f"{FACTS}/{fact['fact_id']}"))
    refused(ada.get(f"{FACTS}/{fact['fact_id']}"), 404, "NOT_FOUND")


def test_facts_are_learned_all_or_none(tenant: Tenant, ada: httpx.Client) -> None:
    facts = [said("acme", "knows", str(n)) for n in range(50)]
    learned = ok(ada.post(BATCH, json={"facts": facts}))["facts"]
    assert objects(learned) == [str(n) for n in range(50)]
    assert ok(ada.get(FACTS, params={"limit": 1}))["total"] == 50
    mixed = [said("acme", "knows", "7"), said("acme", "knows", "new"), said(user_id="jo")]
    eve = tenant.agent("eve")
    refused(eve.post(BATCH, json={"facts": mixed}), 403, "ACCESS_DENIED")
    assert ok(ada.get(FACTS, params={"limit": 1}))["total"] == 50
    counts = [each["learned_count"] for each in ok(ada.post(BATCH, json={"facts": mixed}))["facts"]]
    assert counts == [2, 1, 1]
    invalid(ada.post(BATCH, json={"facts": [said(), said()]}), "facts")
    invalid(ada.post(BATCH, json={"facts": []}), "facts")
    invalid(ada.post(BATCH, json={"facts": [*facts, said()]}), "facts")


def test_a_batch_is_learned_once_for_a_key(ada: httpx.Client) -> None:
    body, headers = {"facts": [said(), said(what="phone")]}, {"Idempotency-Key": "k"}
    first = ok(ada.post(BATCH, json=body, headers=headers))
    assert ok(ada.post(BATCH, json=body, headers=headers)) == first
    assert [each["learned_count"] for each in first["facts"]] == [1, 1]


@pytest.mark.in_process
def test_a_persons_deletion_deletes_the_facts_about_the_person(
    tenant: Tenant, ada: httpx.Client, service: Service
) -> None:
    learn(ada, "favorite drink", "is", "tea", user_id="jo")
    kept = learn(ada, "favorite drink", "is", "tea", user_id="sam")
    body = {"kind": "person", "id": "jo"}
    ok(tenant.admin.post("/api/v1/deletions", json=body), 202)
    sweep(service)
    listed = ok(ada.get(FACTS))["facts"]
    assert [each["fact_id"] for each in listed] == [kept["fact_id"]]


def test_a_score_tells_nothing_of_facts_that_the_caller_may_not_read(
    tenant: Tenant, ada: httpx.Client
) -> None:
    eve = tenant.agent("eve")
    for what in ("a blue tractor", "a red barn", "a green field", "a white horse", "a black dog"):
        learn(ada, "acme", "has", what)
    before = recall(eve, "a blue tractor that is purple", 10)
    for number in range(5):
        learn(ada, "jo", "likes", f"the purple thing {number}", user_id="jo")
    assert recall(eve, "a blue tractor that is purple", 10) == before
