"""Consolidation of facts (CONTRACT3 section 15)."""

from functools import partial
from typing import Any

import httpx
import pytest

from functions.container import Container
from tests.contract.bodies import NAMESPACES, allow
from tests.contract.expect import invalid, ok, refused
from tests.contract.fact_calls import FACTS, learn, objects, recall
from tests.contract.faults import When
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import after_each_kill, sweep

CONSOLIDATION = "/api/v1/consolidation"
SETTINGS = f"{CONSOLIDATION}/settings"
DAY = 86_400  # seconds
Json = dict[str, Any]
pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]


def preview(admin: httpx.Client) -> Json:
    report: Json = ok(admin.post(CONSOLIDATION, json={"dry_run": True}))
    return report


def consolidate(tenant: Tenant) -> Json:
    """Run a consolidation to its end; its report."""
    started = ok(tenant.admin.post(CONSOLIDATION, json={"dry_run": False}), 202)
    assert started["status"] == "running"
    sweep(tenant.service)
    report: Json = ok(tenant.admin.get(f"{CONSOLIDATION}/{started['id']}"))
    assert report["status"] == "done"
    return report


def undo(tenant: Tenant, report: Json) -> None:
    answer = ok(tenant.admin.post(f"{CONSOLIDATION}/{report['id']}/undo"))
    assert answer == {"id": report["id"], "status": "undone"}


def get(client: httpx.Client, fact: Json) -> Json:
    found: Json = ok(client.get(f"{FACTS}/{fact['fact_id']}"))
    return found


def ids(step: Json) -> set[str]:
    return {each["fact_id"] for each in step["facts"]}


def counts(report: Json) -> tuple[int, int, int]:
    return len(report["merged"]), len(report["ended"]), len(report["weakened"])


def declare(tenant: Tenant, predicate: str) -> None:
    ok(tenant.admin.put(f"{FACTS}/predicates/{predicate}", json={"single_valued": True}))


def changes(client: httpx.Client, fact: Json) -> list[str]:
    """The changes of a fact, the last one at the end."""
    chain = ok(client.get(f"{FACTS}/{fact['fact_id']}/history"))["facts"]
    own = next(each for each in chain if each["fact_id"] == fact["fact_id"])
    return [each["change"] for each in own["changes"]]


def test_what_says_the_same_is_merged_with_its_evidence(sdr: httpx.Client, tenant: Tenant) -> None:
    first = learn(sdr, "acme", "is in", "New York City", confidence=0.6, learned_from_run_id="r1")
    tenant.service.clock.advance(seconds=60)
    other = learn(sdr, "acme", "is in", "new york city.", confidence=0.9, learned_from_run_id="r2")
    ok(sdr.post(FACTS, json={"subject": "acme", "predicate": "is in", "object": "New York City"}))
    learn(sdr, "acme", "is in", "New York State")
    learn(sdr, "acme", "was in", "New York City.")
    (planned,) = preview(tenant.admin)["merged"]
    assert (ids(planned), planned["reason"]) == (
        {first["fact_id"], other["fact_id"]},
        "same_spelling",
    )
    assert get(sdr, other)["valid_until"] is None
    report = consolidate(tenant)
    assert counts(report) == (1, 0, 0)
    (step,) = report["merged"]
    assert (ids(step), step["kept"]) == (ids(planned), first["fact_id"])
    kept, ended = get(sdr, first), get(sdr, other)
    assert (kept["learned_count"], kept["confidence"], kept["valid_until"]) == (3, 1.0, None)
    assert sorted(kept["learned_from_run_ids"]) == ["r1", "r2"]
    assert kept["first_learned_at"] == first["first_learned_at"]
    assert (ended["merged_into"], ended["valid_until"] is None) == (first["fact_id"], False)
    found = objects(recall(sdr, "where is acme", predicate="is in"))
    assert sorted(found) == ["New York City", "New York State"]
    assert changes(sdr, kept) == ["evidence_added"]
    assert changes(sdr, ended) == ["merged"]
    assert counts(consolidate(tenant)) == (0, 0, 0)


def test_a_slip_of_typing_is_merged_and_other_words_are_not(
    sdr: httpx.Client, tenant: Tenant
) -> None:
    right = learn(sdr, "eve", "needs", "wheelchair accommodation")
    ok(sdr.post(FACTS, json={k: right[k] for k in ("subject", "predicate", "object")}))
    wrong = learn(sdr, "eve", "needs", "wheelchair accomodation")
    learn(sdr, "eve", "needs", "no accommodation")
    learn(sdr, "eve", "needs", "net 30")
    learn(sdr, "eve", "needs", "net 60")
    (step,) = preview(tenant.admin)["merged"]
    assert (ids(step), step["reason"]) == ({right["fact_id"], wrong["fact_id"]}, "near_identical")
    assert step["kept"] == right["fact_id"]


def test_facts_about_different_users_are_not_merged(sdr: httpx.Client, tenant: Tenant) -> None:
    for user in ("ada", "bob"):
        allow(tenant.admin, f"users/{user}/memory", "write")
        learn(sdr, "plan", "is", "gold" if user == "ada" else "Gold", user_id=user)
    learn(sdr, "plan", "is", "GOLD")
    assert counts(preview(tenant.admin)) == (0, 0, 0)


def test_a_contradicted_fact_ends_when_the_later_one_was_stated(
    sdr: httpx.Client, tenant: Tenant
) -> None:
    rome = learn(sdr, "ada", "lives in", "Rome", valid_from="2026-01-01T00:00:00Z")
    paris = learn(sdr, "ada", "lives in", "Paris", valid_from="2026-02-01T00:00:00Z")
    learn(sdr, "ada", "likes", "Rome")
    learn(sdr, "ada", "likes", "Paris")
    assert counts(preview(tenant.admin)) == (0, 0, 0)
    declare(tenant, "lives in")
    report = consolidate(tenant)
    (step,) = report["ended"]
    assert counts(report) == (0, 1, 0)
    assert (ids(step), step["reason"], step["kept"]) == (
        {rome["fact_id"]},
        "contradicted",
        paris["fact_id"],
    )
    assert get(sdr, rome)["valid_until"] == paris["valid_from"]
    (item,) = ok(sdr.post("/api/v1/recall", json={"query": "where does ada live in"}))["items"][:1]
    assert [each["object"] for each in item["provenance"]["replaced"]] == ["Rome"]
    undo(tenant, report)
    assert get(sdr, rome)["valid_until"] is None
    assert get(sdr, paris)["replaced_facts"] == []
    assert counts(preview(tenant.admin)) == (0, 0, 0), "what was undone stays"


def test_a_value_that_was_stated_again_is_the_later_one(sdr: httpx.Client, tenant: Tenant) -> None:
    clock = tenant.service.clock
    rome = learn(sdr, "ada", "lives in", "Rome")
    clock.advance(seconds=60)
    paris = learn(sdr, "ada", "lives in", "Paris")
    clock.advance(seconds=60)
    ok(sdr.post(FACTS, json={"subject": "ada", "predicate": "lives in", "object": "Rome"}))
    declare(tenant, "lives in")
    (step,) = preview(tenant.admin)["ended"]
    assert (ids(step), step["kept"]) == ({paris["fact_id"]}, rome["fact_id"])


def test_what_is_not_used_loses_confidence_and_ends(sdr: httpx.Client, tenant: Tenant) -> None:
    clock = tenant.service.clock
    ok(tenant.admin.put(SETTINGS, json={"decay_after": "P30D", "end_below": 0.45, "every": None}))
    old = learn(sdr, "ada", "likes", "tea", confidence=0.8)
    clock.advance(seconds=29 * DAY)
    assert counts(consolidate(tenant)) == (0, 0, 0)
    clock.advance(seconds=2 * DAY)
    new = learn(sdr, "ada", "likes", "milk", confidence=0.3)
    report = consolidate(tenant)
    (step,) = report["weakened"]
    assert (ids(step), step["reason"]) == ({old["fact_id"]}, "not_used")
    assert get(sdr, old)["confidence"] == pytest.approx(0.64)
    assert counts(consolidate(tenant)) == (0, 0, 0), "once for each time of disuse"
    clock.advance(seconds=60 * DAY)
    report = consolidate(tenant)
    assert [each["reason"] for each in report["ended"]] == ["low_confidence"] * 2
    assert set.union(*map(ids, report["ended"])) == {old["fact_id"], new["fact_id"]}
    assert get(sdr, old)["confidence"] == pytest.approx(0.4096)
    assert recall(sdr, "tea") == []
    assert changes(sdr, old) == ["weakened", "ended"]
    undo(tenant, report)
    assert get(sdr, old)["confidence"] == pytest.approx(0.64)
    assert objects(recall(sdr, "ada likes tea"))[0] == "tea"


def test_what_is_learned_again_or_recalled_keeps_its_confidence(
    sdr: httpx.Client, tenant: Tenant
) -> None:
    clock = tenant.service.clock
    tea = learn(sdr, "ada", "likes", "tea")
    milk = learn(sdr, "bob", "drinks", "milk")
    lost = learn(sdr, "carl", "drives", "vans")
    clock.advance(seconds=80 * DAY)
    ok(sdr.post(FACTS, json={"subject": "ada", "predicate": "likes", "object": "tea"}))
    assert objects(recall(sdr, "bob drinks milk", top_k=1)) == ["milk"]
    assert get(sdr, milk)["version"] == 1
    clock.advance(seconds=20 * DAY)
    report = consolidate(tenant)
    (step,) = report["weakened"]
    assert ids(step) == {lost["fact_id"]}
    assert get(sdr, lost)["confidence"] == pytest.approx(0.8)
    assert {get(sdr, each)["confidence"] for each in (tea, milk)} == {1.0}


def test_undo_leaves_facts_that_were_changed_since(sdr: httpx.Client, tenant: Tenant) -> None:
    kept = learn(sdr, "acme", "is in", "Rome")
    tenant.service.clock.advance(seconds=1)
    other = learn(sdr, "acme", "is in", "rome")
    third = learn(sdr, "zeta", "is in", "Lyon")
    fourth = learn(sdr, "zeta", "is in", "lyon")
    report = consolidate(tenant)
    assert counts(report) == (2, 0, 0)
    (step,) = (each for each in report["merged"] if kept["fact_id"] in ids(each))
    winner = kept if step["kept"] == kept["fact_id"] else other
    loser = other if winner is kept else kept
    said = {name: winner[name] for name in ("subject", "predicate", "object")}
    assert ok(sdr.post(FACTS, json=said))["learned_count"] == 3
    undo(tenant, report)
    assert get(sdr, winner)["learned_count"] == 3
    assert (get(sdr, loser)["merged_into"], get(sdr, loser)["valid_until"]) == (None, None)
    for fact in (third, fourth):
        assert get(sdr, fact) == fact | {"version": 3}
        assert changes(sdr, fact)[-1] == "undone"
    steps = ok(tenant.admin.get(f"{CONSOLIDATION}/{report['id']}"))["merged"]
    assert [each["undone"] for each in steps] == [True, True]
    undo(tenant, report)
    assert counts(preview(tenant.admin)) == (0, 0, 0)


def test_a_merged_fact_that_is_learned_again_holds_again(sdr: httpx.Client, tenant: Tenant) -> None:
    learn(sdr, "acme", "is in", "Rome")
    ok(sdr.post(FACTS, json={"subject": "acme", "predicate": "is in", "object": "Rome"}))
    learn(sdr, "acme", "is in", "rome")
    consolidate(tenant)
    again = ok(sdr.post(FACTS, json={"subject": "acme", "predicate": "is in", "object": "rome"}))
    assert (again["merged_into"], again["valid_until"], again["learned_count"]) == (None, None, 1)
    (step,) = consolidate(tenant)["merged"]
    assert sorted(each["learned_count"] for each in step["facts"]) == [1, 4]


def test_deleted_facts_are_in_no_report(sdr: httpx.Client, tenant: Tenant) -> None:
    learn(sdr, "acme", "is in", "Rome")
    learn(sdr, "acme", "is in", "rome")
    report = consolidate(tenant)
    ok(sdr.delete(FACTS, params={"subject": "acme"}))
    (step,) = ok(tenant.admin.get(f"{CONSOLIDATION}/{report['id']}"))["merged"]
    assert (step["facts"], step["kept"]) == ([], None)
    stored = [each for each in tenant.service.state() if f'"{tenant.id}#' in each]
    assert not [each for each in stored if "Rome" in each or "acme" in each]
    undo(tenant, report)
    assert ok(sdr.get(FACTS, params={"ended": True}))["facts"] == []


def test_a_deleted_person_takes_the_steps_along(sdr: httpx.Client, tenant: Tenant) -> None:
    allow(tenant.admin, "users/ada/memory", "write")
    for what in ("Rome", "rome"):
        learn(sdr, "home", "is in", what, user_id="ada")
        learn(sdr, "office", "is in", what)
    report = consolidate(tenant)
    assert counts(report) == (2, 0, 0)
    ok(tenant.admin.post("/api/v1/deletions", json={"kind": "person", "id": "ada"}), 202)
    sweep(tenant.service)
    left = ok(tenant.admin.get(f"{CONSOLIDATION}/{report['id']}"))["merged"]
    assert [each["facts"][0]["subject"] for each in left] == ["office"]


def test_a_report_hides_what_the_caller_may_not_read(sdr: httpx.Client, tenant: Tenant) -> None:
    rule = {"permissions": {"default": "none", "allow": [{"agent": "sdr", "access": "write"}]}}
    ok(tenant.admin.patch(f"{NAMESPACES}/users%2Fada%2Fmemory", json=rule))
    for what in ("secret place", "Secret place"):
        learn(sdr, "home", "is in", what, user_id="ada")
    mod = tenant.agent("mod", permissions=["memory.admin", "memory.read"])
    planned = preview(mod)
    url = f"{CONSOLIDATION}/{consolidate(tenant)['id']}"
    for (step,) in (planned["merged"], ok(mod.get(url))["merged"]):
        assert "secret place" not in str(step).lower()
        assert [each["user_id"] for each in step["facts"]] == ["ada", "ada"]


def test_a_consolidation_is_for_admins(sdr: httpx.Client, tenant: Tenant) -> None:
    for answer in (
        sdr.post(CONSOLIDATION, json={"dry_run": True}),
        sdr.get(SETTINGS),
        sdr.put(SETTINGS, json={}),
    ):
        refused(answer, 403, "ACCESS_DENIED")
    refused(tenant.admin.get(f"{CONSOLIDATION}/none"), 404, "NOT_FOUND")
    refused(tenant.admin.post(f"{CONSOLIDATION}/none/undo"), 404, "NOT_FOUND")


def test_settings_have_defaults_and_are_checked(tenant: Tenant) -> None:
    admin = tenant.admin
    defaults = {"every": "P7D", "decay_after": "P90D", "end_below": 0.2}
    assert ok(admin.get(SETTINGS)) == {**defaults, "next_at": None, "last_run": None}
    changed = {"every": "P1D", "decay_after": None, "end_below": 0}
    assert ok(admin.put(SETTINGS, json=changed)).items() >= changed.items()
    assert ok(admin.get(SETTINGS)).items() >= changed.items()
    assert ok(admin.put(SETTINGS, json={"every": None}))["next_at"] is None
    assert ok(admin.put(SETTINGS, json={})).items() >= defaults.items()
    for wrong in ({"every": "PT59M"}, {"every": "soon"}, {"decay_after": "P0D"}, {"end_below": 2}):
        invalid(admin.put(SETTINGS, json=wrong), next(iter(wrong)))


def test_the_schedule_consolidates_again_and_again(sdr: httpx.Client, tenant: Tenant) -> None:
    ok(tenant.admin.put(SETTINGS, json={"every": "P2D"}))
    runs = set()
    for days in (1, 2, 2):
        for what in ("Rome", "rome"):
            sdr.post(FACTS, json={"subject": "acme", "predicate": "is in", "object": what})
        tenant.service.clock.advance(seconds=days * DAY)
        sweep(tenant.service)
        sweep(tenant.service)
        runs.add(ok(tenant.admin.get(SETTINGS))["last_run"])
    assert len(runs) == 3
    assert None in runs
    assert len(ok(sdr.get(FACTS, params={"subject": "acme"}))["facts"]) == 1


def test_a_tenant_with_facts_is_scheduled_once_a_week(sdr: httpx.Client, tenant: Tenant) -> None:
    learn(sdr, "acme", "is in", "Rome")
    container = Container(tenant.service.settings(), tenant.service.clock)
    container.reconciler.run(lambda _: None)
    first = ok(tenant.admin.get(SETTINGS))["next_at"]
    assert first is not None
    container.reconciler.run(lambda _: None)
    assert ok(tenant.admin.get(SETTINGS))["next_at"] == first


def test_a_run_on_request_starts_the_schedule(tenant: Tenant) -> None:
    ok(tenant.admin.post(CONSOLIDATION, json={"dry_run": False}), 202)
    first = ok(tenant.admin.get(SETTINGS))["next_at"]
    assert first is not None
    sweep(tenant.service)
    ok(tenant.admin.post(CONSOLIDATION, json={"dry_run": False}), 202)
    assert ok(tenant.admin.get(SETTINGS))["next_at"] == first


def test_a_repeated_request_starts_one_consolidation(tenant: Tenant) -> None:
    start = partial(tenant.admin.post, CONSOLIDATION, json={}, headers={"Idempotency-Key": "one"})
    first = ok(start(), 202)
    sweep(tenant.service)
    assert ok(start(), 202)["id"] == first["id"]


def test_one_consolidation_runs_at_a_time(tenant: Tenant) -> None:
    start = partial(tenant.admin.post, CONSOLIDATION, json={})
    first, second = ok(start(), 202), ok(start(), 202)
    assert first == second
    sweep(tenant.service)
    assert ok(start(), 202)["id"] != first["id"]


def test_each_step_is_in_the_audit_log(sdr: httpx.Client, tenant: Tenant) -> None:
    kept = learn(sdr, "acme", "is in", "Rome")
    ok(sdr.post(FACTS, json={"subject": "acme", "predicate": "is in", "object": "Rome"}))
    learn(sdr, "acme", "is in", "rome")
    report = consolidate(tenant)
    query = {"action": "consolidation.run"}
    records = ok(tenant.admin.get("/api/v1/audit", params=query))["records"]
    by_target = {each["target"]: each for each in records}
    assert by_target.keys() == {f"consolidation:{report['id']}", f"fact:{kept['fact_id']}"}
    step = by_target[f"fact:{kept['fact_id']}"]
    assert step["actor"] == {"id": "agent-memory", "kind": "service"}
    assert (step["before"]["learned_count"], step["after"]["learned_count"]) == (2, 3)
    assert "rome" not in str(records).lower()


def test_pages_of_a_report_continue(sdr: httpx.Client, tenant: Tenant) -> None:
    for number in range(5):
        for what in ("Rome", "rome"):
            learn(sdr, f"acme {number}", "is in", what)
    report = consolidate(tenant)
    url, query, seen = f"{CONSOLIDATION}/{report['id']}", {"limit": "2"}, []
    while True:
        page = ok(tenant.admin.get(url, params=query))
        seen += [each["facts"][0]["subject"] for each in page["merged"]]
        if "next" not in page:
            break
        query["after"] = page["next"]
    assert sorted(seen) == [f"acme {number}" for number in range(5)]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_consolidation_takes_each_step_once(
    service: Service, tenant: Tenant, sdr: httpx.Client, when: When
) -> None:
    for number in range(3):
        for what in ("Rome", "rome"):
            learn(sdr, f"acme {number}", "is in", what)
    run = ok(tenant.admin.post(CONSOLIDATION, json={}), 202)["id"]
    snapshot = service.stored()

    def look() -> Any:
        report = ok(tenant.admin.get(f"{CONSOLIDATION}/{run}"))
        facts = ok(sdr.get(FACTS))["facts"]
        return report["status"], counts(report), [each["learned_count"] for each in facts]

    seen = after_each_kill(service, snapshot, when, look)
    assert len(seen) > 3
    assert set(map(str, seen)) == {str(("done", (3, 0, 0), [2, 2, 2]))}


def test_many_facts_of_many_subjects_are_walked_once(sdr: httpx.Client, tenant: Tenant) -> None:
    words = [f"place number {number}" for number in range(120)]
    for start in range(0, 120, 40):
        facts = [
            {"subject": subject, "predicate": "knows", "object": text}
            for word in words[start : start + 40]
            for subject in ("acme",)
            for text in (word,)
        ]
        ok(sdr.post(f"{FACTS}/batch", json={"facts": facts}))
        tenant.service.clock.advance(seconds=1)
    other = {"subject": "zeta", "predicate": "knows"}
    for text in ("Place number 7", "place number 7", "place number 8"):
        ok(sdr.post(FACTS, json=other | {"object": text}), 201)
    learn(sdr, "acme", "knows", "Place number 119")
    report = consolidate(tenant)
    assert (counts(report), report["examined"]) == ((2, 0, 0), 124)
