"""ADR-043 Tier 3: facts are learned, and recalled by what they mean."""

import httpx
import pytest

from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.fact_calls import FACTS, learn, objects, recall, said
from tests.contract.faults import faulty
from tests.contract.service import Service, Tenant, start
from tests.contract.test_concurrency import at_once
from tests.contract.transport import MovableClock

SEED = {
    "agent_type": "sdr",
    "subject": "contact:hubspot_id:123456",
    "predicate": "responded_positively_to",
    "object": "direct_roi_framing",
    "confidence": 0.82,
    "learned_from_run_id": "run_1",
}


def test_a_learned_fact_is_given_back_and_recalled(sdr: httpx.Client) -> None:
    made = learn(sdr, **SEED, metadata={"channel": "email"})
    assert made | SEED == made
    assert (made["learned_by"], made["version"], made["metadata"]) == (
        "sdr",
        1,
        {"channel": "email"},
    )
    assert ok(sdr.get(f"{FACTS}/{made['fact_id']}")) == made
    learn(sdr, "contact 7", "moved to", "Berlin")
    (best, other) = recall(sdr, "responded positively to direct ROI framing")
    assert {name: best[name] for name in made} == made
    assert 1 >= best["score"] > other["score"]


def test_the_same_words_score_one(sdr: httpx.Client) -> None:
    learn(sdr, "acme", "prefers", "email")
    (found,) = recall(sdr, "acme prefers email")
    assert found["score"] == pytest.approx(1, abs=1e-5)


def test_recall_gives_the_best_first_and_as_many_as_asked_for(sdr: httpx.Client) -> None:
    for what in ("the invoice", "the unpaid invoice of March", "a football match", "breakfast"):
        learn(sdr, "they", "talked about", what)
    found = recall(sdr, "an unpaid invoice", top_k=2)
    assert set(objects(found)) == {"the invoice", "the unpaid invoice of March"}
    scores = [fact["score"] for fact in recall(sdr, "an unpaid invoice", top_k=100)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 4


def test_a_recall_leaves_out_the_values(sdr: httpx.Client) -> None:
    learn(sdr)
    (found,) = ok(sdr.post(f"{FACTS}/recall?values=omit", json={"query": "anything"}))["facts"]
    assert {"fact_id", "score"} <= found.keys()
    assert not {"subject", "predicate", "object"} & found.keys()


def test_filters(sdr: httpx.Client) -> None:
    learn(sdr, "acme", "likes", "tea", agent_type="sdr", confidence=0.9)
    learn(sdr, "acme", "likes", "coffee", agent_type="support", confidence=0.4)
    learn(sdr, "globex", "likes", "juice", confidence=0.6, learned_from_run_id="run_1")
    learn(sdr, "globex", "hates", "milk")
    assert objects(recall(sdr, "drinks", agent_type="sdr")) == ["tea"]
    assert set(objects(recall(sdr, "drinks", subject="acme"))) == {"tea", "coffee"}
    assert objects(recall(sdr, "drinks", predicate="hates")) == ["milk"]
    assert objects(recall(sdr, "drinks", learned_from_run_id="run_1")) == ["juice"]
    assert set(objects(recall(sdr, "drinks", min_confidence=0.6))) == {"tea", "juice", "milk"}
    assert objects(recall(sdr, "drinks", subject="acme", min_confidence=0.5)) == ["tea"]
    assert recall(sdr, "drinks", subject="nobody") == []


def test_a_filter_by_confidence_searches_deep_enough(sdr: httpx.Client) -> None:
    for number in range(30):
        learn(sdr, "acme", "likes", f"tea {number}", confidence=0.1)
    learn(sdr, "weather", "was", "sunny on Monday", confidence=0.9)
    assert objects(recall(sdr, "acme likes tea", top_k=1, min_confidence=0.5)) == [
        "sunny on Monday"
    ]


def test_the_same_id_replaces_the_fact(sdr: httpx.Client, clock: MovableClock) -> None:
    first = learn(sdr, "acme", "prefers", "email", fact_id="contact/7#channel")
    clock.advance(seconds=1)
    body = said("acme", "prefers", "phone calls", fact_id="contact/7#channel", confidence=0.5)
    second = ok(sdr.post(FACTS, json=body))
    assert (second["version"], second["object"], second["confidence"]) == (2, "phone calls", 0.5)
    assert second["created_at"] == first["created_at"] < second["updated_at"]
    assert objects(recall(sdr, "acme prefers")) == ["phone calls"]


def test_a_forgotten_fact_is_never_recalled(sdr: httpx.Client) -> None:
    made = learn(sdr, "acme", "prefers", "email")
    assert len(recall(sdr, "email")) == 1
    stale = sdr.delete(f"{FACTS}/{made['fact_id']}", headers={"If-Match": "2"})
    refused(stale, 409, "VERSION_MISMATCH")
    assert_no_content(sdr.delete(f"{FACTS}/{made['fact_id']}"))
    assert recall(sdr, "email") == []
    refused(sdr.get(f"{FACTS}/{made['fact_id']}"), 404, "NOT_FOUND")
    refused(sdr.delete(f"{FACTS}/{made['fact_id']}"), 404, "NOT_FOUND")
    again = learn(sdr, "acme", "prefers", "email", fact_id=made["fact_id"])
    assert again["version"] > made["version"]
    assert len(recall(sdr, "email")) == 1


def test_a_forgotten_fact_is_removed_from_storage(sdr: httpx.Client, service: Service) -> None:
    made = learn(sdr, "acme", "prefers", "a secret channel")
    assert_no_content(sdr.delete(f"{FACTS}/{made['fact_id']}"))
    assert "secret channel" not in "".join(service.state())


def test_a_retried_fact_is_one_fact(sdr: httpx.Client) -> None:
    once = {"Idempotency-Key": "fact-1"}
    first = sdr.post(FACTS, json=said(), headers=once)
    second = sdr.post(FACTS, json=said(), headers=once)
    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert len(recall(sdr, "email")) == 1
    for other in (said(confidence=0.5), said(what="fax"), said(fact_id="f")):
        refused(sdr.post(FACTS, json=other, headers=once), 409, "IDEMPOTENCY_CONFLICT")
    assert ok(sdr.get(FACTS))["total"] == 1


def test_a_late_retry_counts_nothing(sdr: httpx.Client) -> None:
    once = {"Idempotency-Key": "fact-1"}
    ok(sdr.post(FACTS, json=said(), headers=once), 201)
    ok(sdr.post(FACTS, json=said(confidence=0.5)))
    late = ok(sdr.post(FACTS, json=said(), headers=once))
    assert (late["learned_count"], late["confidence"]) == (2, 0.5)


@pytest.mark.usefixtures("parallel")
def test_concurrent_writes_of_a_fact_are_all_counted(sdr: httpx.Client) -> None:
    at_once(8, lambda n: sdr.post(FACTS, json=said(what=str(n), fact_id="f")))
    assert ok(sdr.get(f"{FACTS}/f"))["version"] == 8
    assert len(recall(sdr, "acme")) == 1


def test_large_metadata_are_refused(sdr: httpx.Client) -> None:
    large = {"metadata": {"x": "y" * 20_000}}
    refused(sdr.post(FACTS, json=said() | large), 413, "VALUE_TOO_LARGE")


def test_another_instance_recalls_what_was_learned_since_it_last_looked(
    service: Service, sdr: httpx.Client
) -> None:
    other = start(service.engine, service.clock, service.key_file, 60).client(
        sdr.headers["X-API-Key"]
    )
    first = learn(sdr, "acme", "prefers", "email")
    assert objects(recall(other, "acme")) == ["email"]
    learn(sdr, "acme", "prefers", "phone")
    assert_no_content(sdr.delete(f"{FACTS}/{first['fact_id']}"))
    assert objects(recall(other, "acme")) == ["phone"]


def test_the_same_triple_learned_again_is_one_fact(sdr: httpx.Client, clock: MovableClock) -> None:
    first = learn(sdr, confidence=0.9, learned_from_run_id="run_1", metadata={"a": 1})
    clock.advance(seconds=1)
    answers = at_once(5, lambda _: sdr.post(FACTS, json=said(confidence=0.4)))
    assert {each.status_code for each in answers} == {200}
    fact = ok(sdr.post(FACTS, json=said(confidence=0.5, learned_from_run_id="run_2")))
    assert fact["fact_id"] == first["fact_id"]
    assert (fact["confidence"], fact["learned_count"]) == (0.5, 7)
    assert fact["learned_from_run_ids"] == ["run_1", "run_2"]
    assert fact["first_learned_at"] == first["created_at"] < fact["updated_at"]
    assert fact["metadata"] == {"a": 1}
    assert len(recall(sdr, "email")) == 1


@pytest.mark.parametrize("ids", [("a", "b", None), ("a", None, "a"), (None, "a", "b")])
def test_the_same_triple_is_one_fact_under_any_id(
    sdr: httpx.Client, service: Service, ids: tuple[str | None, ...]
) -> None:
    bodies = [said() if id is None else said(fact_id=id) for id in ids]
    first = ok(sdr.post(FACTS, json=bodies[0]), 201)
    for body in bodies[1:]:
        again = ok(sdr.post(FACTS, json=body))
        assert again["fact_id"] == first["fact_id"]
    assert again["learned_count"] == 3
    assert ok(sdr.get(FACTS))["total"] == 1
    assert_no_content(sdr.delete(f"{FACTS}/{first['fact_id']}"))
    assert not any("same_as" in item for item in service.stored())
    assert learn(sdr, fact_id="c")["fact_id"] == "c"


@pytest.mark.in_process
def test_a_fact_that_is_learned_while_it_is_deleted_stays_one(
    sdr: httpx.Client, service: Service
) -> None:
    learn(sdr, fact_id="a")
    with faulty() as dynamodb:
        instance = start(service.engine, service.clock, service.key_file, 0)
        dynamodb.interrupt(
            "transact_write_items",
            lambda _: True,
            lambda: sdr.post(FACTS, json=said(fact_id="a")),
        )
        deleting = instance.client(sdr.headers["X-API-Key"])
        assert_no_content(deleting.delete(f"{FACTS}/a"))
    sdr.post(FACTS, json=said())
    assert ok(sdr.get(FACTS))["total"] == 1


def test_a_statement_that_an_id_no_longer_has_is_learned_anew(sdr: httpx.Client) -> None:
    learn(sdr, fact_id="a")
    ok(sdr.post(FACTS, json=said(what="phone", fact_id="a")))
    assert learn(sdr)["learned_count"] == 1
    assert ok(sdr.get(FACTS))["total"] == 2


def test_a_fact_that_takes_the_statement_of_another_becomes_that_one(sdr: httpx.Client) -> None:
    learn(sdr, fact_id="a")
    known = learn(sdr, what="phone")
    for count in (2, 3):
        again = ok(sdr.post(FACTS, json=said(what="phone", fact_id="a")))
        assert (again["fact_id"], again["learned_count"]) == (known["fact_id"], count)
    assert [each["fact_id"] for each in ok(sdr.get(FACTS))["facts"]] == [known["fact_id"]]
    assert objects(recall(sdr, "email or phone")) == ["phone"]
    refused(sdr.get(f"{FACTS}/a"), 404, "NOT_FOUND")
    assert learn(sdr)["learned_count"] == 1


def test_parallel_learning_under_many_ids_is_one_fact(sdr: httpx.Client) -> None:
    answers = at_once(30, lambda number: sdr.post(FACTS, json=said(fact_id=f"f{number % 5}")))
    assert sorted(each.status_code for each in answers) == [200] * 29 + [201]
    (fact,) = ok(sdr.get(FACTS))["facts"]
    assert fact["learned_count"] == 30


def test_the_seeds_document_is_taken_as_printed(sdr: httpx.Client) -> None:
    printed = SEED | {"fact_id": "f-1", "tenant_id": "acme", "created_at": 1746700000}
    made = ok(sdr.post(FACTS, json=printed), 201)
    assert made | SEED == made
    assert made["created_at"] != 1746700000


def test_facts_are_listed_and_forgotten_by_filters(
    sdr: httpx.Client, tenant: Tenant, clock: MovableClock
) -> None:
    for number, subject in enumerate(("acme", "globex", "acme")):
        clock.advance(ms=1)
        more = {"agent_type": "sdr"} if number else {"learned_from_run_id": "run_1"}
        learn(sdr, subject, "likes", f"tea {number}", **more)

    def listed(**query: str) -> list[str]:
        found: list[str] = objects(ok(sdr.get(FACTS, params=query))["facts"])
        return found

    assert listed() == ["tea 2", "tea 1", "tea 0"]
    assert listed(subject="acme") == ["tea 2", "tea 0"]
    assert listed(agent_type="sdr", predicate="likes") == ["tea 2", "tea 1"]
    assert listed(learned_from_run_id="run_1") == ["tea 0"]
    page = ok(sdr.get(FACTS, params={"limit": 2, "total": "none"}))
    rest = ok(sdr.get(FACTS, params={"limit": 2, "total": "none", "after": page["next"]}))
    assert objects(page["facts"] + rest["facts"]) == ["tea 2", "tea 1", "tea 0"]
    (bare, *_) = ok(sdr.get(FACTS, params={"values": "omit"}))["facts"]
    assert "object" not in bare
    invalid(sdr.delete(FACTS), "query")
    admin = tenant.agent("auditor", permissions=["memory.admin"])
    assert ok(admin.delete(FACTS, params={"subject": "acme"})) == {"deleted": 2}
    assert listed() == ["tea 1"]
