"""Facts hold for a time (CONTRACT3 section 15)."""

from typing import Any

import httpx

from functions.platform.clock import to_rfc3339
from tests.contract.bodies import NAMESPACES
from tests.contract.expect import invalid, ok, refused
from tests.contract.fact_calls import FACTS, learn, objects, recall, said
from tests.contract.service import Tenant
from tests.contract.test_concurrency import at_once

PREDICATES = f"{FACTS}/predicates"
JANUARY, MARCH, JUNE = ("2026-01-01T00:00:00Z", "2026-03-12T00:00:00Z", "2026-06-01T00:00:00Z")


def move(client: httpx.Client, where: str, **more: Any) -> Any:
    return learn(client, "ada", "lives in", where, replaces="same_subject_predicate", **more)


def held(client: httpx.Client, as_of: str | None = None) -> list[str]:
    """Return what the list of facts says about ada, at a time."""
    params = {"subject": "ada"} | ({} if as_of is None else {"as_of": as_of})
    return sorted(objects(ok(client.get(FACTS, params=params))["facts"]))


def history(client: httpx.Client, fact_id: str) -> list[Any]:
    found: list[Any] = ok(client.get(f"{FACTS}/{fact_id}/history"))["facts"]
    return found


def test_a_fact_holds_from_its_learning_on(sdr: httpx.Client) -> None:
    fact = learn(sdr, "ada", "lives in", "Rome")
    assert fact["valid_from"] == fact["created_at"]
    assert fact["valid_until"] is None
    assert held(sdr, JANUARY) == []


def test_a_replaced_fact_ends_and_stays_in_the_past(sdr: httpx.Client) -> None:
    rome = move(sdr, "Rome", valid_from=JANUARY)
    paris = move(sdr, "Paris", valid_from=MARCH)
    assert paris["replaced_facts"] == [rome["fact_id"]]
    assert held(sdr) == ["Paris"]
    assert held(sdr, "2026-02-01T00:00:00Z") == ["Rome"]
    assert held(sdr, MARCH) == ["Paris"]
    assert objects(recall(sdr, "where does ada live in")) == ["Paris"]
    body = {"query": "where does ada live", "as_of": "2026-02-01T00:00:00Z"}
    assert objects(ok(sdr.post(f"{FACTS}/recall", json=body))["facts"]) == ["Rome"]
    ended = ok(sdr.get(f"{FACTS}/{rome['fact_id']}"))
    assert ended["valid_until"] == paris["valid_from"]
    assert ended["version"] == 2


def test_the_chain_names_what_held_before_latest_first(sdr: httpx.Client) -> None:
    rome = move(sdr, "Rome", valid_from=JANUARY)
    paris = move(sdr, "Paris", valid_from=MARCH)
    learn(sdr, "ada", "likes", "tea")
    for fact in (rome, paris):
        chain = history(sdr, fact["fact_id"])
        assert objects(chain) == ["Paris", "Rome"]
        assert [each["change"] for each in chain[1]["changes"]] == ["ended"]
        assert chain[1]["changes"][0]["actor"] == "sdr"


def test_a_fact_that_still_holds_replaces_others_when_it_is_learned_again(
    sdr: httpx.Client, tenant: Tenant
) -> None:
    clock = tenant.service.clock
    learn(sdr, "ada", "lives in", "Rome")
    clock.advance(seconds=60)
    learn(sdr, "ada", "lives in", "Paris")
    clock.advance(seconds=60)
    between = to_rfc3339(clock())
    clock.advance(seconds=60)
    again = said("ada", "lives in", "Rome") | {"replaces": "same_subject_predicate"}
    ok(sdr.post(FACTS, json=again))
    assert (held(sdr), held(sdr, between)) == (["Rome"], ["Paris", "Rome"])


def test_a_statement_that_holds_again_has_two_periods(sdr: httpx.Client) -> None:
    move(sdr, "Rome", valid_from=JANUARY)
    move(sdr, "Paris", valid_from=MARCH)
    again = ok(
        sdr.post(
            FACTS,
            json=said("ada", "lives in", "Rome", valid_from=JUNE)
            | {"replaces": "same_subject_predicate"},
        )
    )
    assert again["valid_until"] is None
    assert [held(sdr, each) for each in (JANUARY, MARCH, JUNE)] == [["Rome"], ["Paris"], ["Rome"]]
    assert objects(history(sdr, again["fact_id"])) == ["Rome", "Paris", "Rome"]


def test_a_single_valued_predicate_ends_the_value_before(sdr: httpx.Client, tenant: Tenant) -> None:
    learn(sdr, "ada", "lives in", "Rome", valid_from=JANUARY)
    admin = tenant.admin
    said_so = ok(admin.put(f"{PREDICATES}/lives in", json={"single_valued": True}))
    assert said_so == {"predicate": "lives in", "single_valued": True}
    assert ok(sdr.get(PREDICATES)) == {"predicates": [said_so]}
    learn(sdr, "ada", "lives in", "Paris")
    learn(sdr, "bob", "lives in", "Rome")
    assert held(sdr) == ["Paris"]
    ok(admin.put(f"{PREDICATES}/lives in", json={"single_valued": False}))
    assert ok(sdr.get(PREDICATES)) == {"predicates": []}
    learn(sdr, "ada", "lives in", "Berlin")
    assert held(sdr) == ["Berlin", "Paris"]


def test_only_an_admin_declares_a_predicate(sdr: httpx.Client) -> None:
    refused(sdr.put(f"{PREDICATES}/lives in", json={"single_valued": True}), 403, "ACCESS_DENIED")


def test_facts_of_another_user_are_not_replaced(sdr: httpx.Client, tenant: Tenant) -> None:
    rule = {"permissions": {"default": "write"}}
    ok(tenant.admin.patch(f"{NAMESPACES}/users%2F*", json=rule))
    learn(sdr, "plan", "is", "gold", user_id="ada")
    learn(sdr, "plan", "is", "silver", user_id="bob", replaces="same_subject_predicate")
    learn(sdr, "plan", "is", "none", replaces="same_subject_predicate")
    assert sorted(objects(ok(sdr.get(FACTS))["facts"])) == ["gold", "none", "silver"]


def test_a_fact_that_has_ended_replaces_nothing(sdr: httpx.Client) -> None:
    move(sdr, "Rome", valid_from=JUNE)
    move(sdr, "Oslo", valid_from=JANUARY, valid_until=MARCH)
    assert held(sdr) == ["Rome"]
    assert held(sdr, JANUARY) == ["Oslo"]


def test_a_fact_ends_when_it_says(sdr: httpx.Client) -> None:
    learn(sdr, "ada", "lives in", "Rome", valid_from=JANUARY, valid_until=MARCH)
    assert (held(sdr), held(sdr, JANUARY)) == ([], ["Rome"])
    invalid(sdr.post(FACTS, json=said("ada", "is", "x", valid_until=JANUARY)), "valid_until")


def test_deleting_a_fact_leaves_the_others_of_its_chain(sdr: httpx.Client) -> None:
    rome = move(sdr, "Rome", valid_from=JANUARY)
    paris = move(sdr, "Paris", valid_from=MARCH)
    oslo = move(sdr, "Oslo", valid_from=JUNE)
    assert sdr.delete(f"{FACTS}/{paris['fact_id']}").status_code == 204
    assert objects(history(sdr, rome["fact_id"])) == ["Oslo", "Rome"]
    assert held(sdr, MARCH) == []
    assert sdr.delete(f"{FACTS}/{oslo['fact_id']}").status_code == 204
    move(sdr, "Bern")
    assert held(sdr) == ["Bern"]


def test_of_replacements_at_once_one_fact_holds(sdr: httpx.Client) -> None:
    places = [f"town {number}" for number in range(8)]
    body = {"replaces": "same_subject_predicate"}
    answers = at_once(
        8, lambda number: sdr.post(FACTS, json=said("ada", "lives in", places[number], **body))
    )
    assert [each.status_code for each in answers] == [201] * 8
    assert len(held(sdr)) == 1
    (fact,) = ok(sdr.get(FACTS, params={"subject": "ada"}))["facts"]
    assert sorted(objects(history(sdr, fact["fact_id"]))) == places


def test_a_batch_replaces_but_not_itself(sdr: httpx.Client) -> None:
    move(sdr, "Rome", valid_from=JANUARY)
    replacing = {"replaces": "same_subject_predicate"}
    facts = [said("ada", "lives in", "Paris") | replacing, said("ada", "likes", "tea") | replacing]
    ok(sdr.post(f"{FACTS}/batch", json={"facts": facts}))
    assert held(sdr) == ["Paris", "tea"]
    facts = [said("ada", "lives in", "Oslo") | replacing, said("ada", "lives in", "Bern")]
    invalid(sdr.post(f"{FACTS}/batch", json={"facts": facts}), "facts")
    assert held(sdr) == ["Paris", "tea"]


def test_recall_says_since_when_and_what_was_before(sdr: httpx.Client) -> None:
    rome = move(sdr, "Rome", valid_from=JANUARY)
    move(sdr, "Paris", valid_from=MARCH)
    (item,) = ok(sdr.post("/api/v1/recall", json={"query": "where does ada live"}))["items"]
    assert item["time"] == item["provenance"]["valid_from"]
    (replaced,) = item["provenance"]["replaced"]
    assert replaced["object"] == "Rome"
    assert ok(sdr.get(f"/api/v1/recall/{replaced['reference']}"))["id"] == rome["fact_id"]
    assert "before: Rome" in item["text"]
    asked = {"query": "where does ada live", "as_of": "2026-02-01T00:00:00Z"}
    answer = ok(sdr.post("/api/v1/recall", json=asked))
    assert [each["object"] for each in answer["items"]] == ["Rome"]
    assert answer["skipped_sources"] == ["entries", "messages", "episodes"]


def test_recall_shows_two_values_of_a_single_valued_predicate(
    sdr: httpx.Client, tenant: Tenant
) -> None:
    for where in ("Rome", "Paris"):
        learn(sdr, "ada", "lives in", where)
    ok(tenant.admin.put(f"{PREDICATES}/lives in", json={"single_valued": True}))
    found = ok(sdr.post("/api/v1/recall", json={"query": "where does ada live"}))["items"]
    others = {each["object"]: each["provenance"]["conflicts_with"] for each in found}
    assert [each["object"] for each in others["Rome"]] == ["Paris"]


def test_facts_show_with_which_open_values_they_are_in_conflict(
    sdr: httpx.Client, tenant: Tenant
) -> None:
    rome, paris = (learn(sdr, "ada", "lives in", where)["fact_id"] for where in ("Rome", "Paris"))
    learn(sdr, "bob", "lives in", "Rome")
    ended = learn(sdr, "ada", "lives in", "Oslo", valid_from=JANUARY, valid_until=MARCH)["fact_id"]
    assert "conflicts_with" not in str(ok(sdr.get(FACTS)))
    ok(tenant.admin.put(f"{PREDICATES}/lives in", json={"single_valued": True}))
    listed = {each["fact_id"]: each for each in ok(sdr.get(FACTS))["facts"]}
    assert (listed[rome]["conflicts_with"], listed[paris]["conflicts_with"]) == ([paris], [rome])
    assert sum("conflicts_with" in each for each in listed.values()) == 2
    (found,) = recall(sdr, "ada lives in Rome", top_k=1)
    assert found["conflicts_with"] == [paris]
    asked = {"query": "ada lives in Rome", "top_k": 1}
    (item,) = ok(sdr.post("/api/v1/recall", json=asked))["items"]
    assert [each["object"] for each in item["provenance"]["conflicts_with"]] == ["Paris"]
    past = ok(sdr.post(f"{FACTS}/recall", json=asked | {"as_of": JANUARY}))["facts"]
    assert [each["fact_id"] for each in past] == [ended]
    assert "conflicts_with" not in past[0]


def test_a_retry_of_a_replacement_answers_the_same(sdr: httpx.Client) -> None:
    move(sdr, "Rome", valid_from=JANUARY)
    body = said("ada", "lives in", "Paris") | {"replaces": "same_subject_predicate"}
    answers = [
        ok(sdr.post(FACTS, json=body, headers={"Idempotency-Key": "k"}), 201) for _ in range(2)
    ]
    assert answers[0] == answers[1]
