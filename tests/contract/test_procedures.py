"""ADR-043 Tier 4: procedures that learn which workflow does best."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.test_concurrency import at_once
from tests.contract.transport import MovableClock

PROCEDURE = "/api/v1/procedures/sdr/outreach"
SPEC = {"steps": ["research", "write", "send"]}
DAY = 24 * 3600


def path(workflow: str, call: str = "") -> str:
    return f"{PROCEDURE}/{workflow}{call}"


def add(client: httpx.Client, workflow: str, **body: Any) -> Any:
    return ok(client.put(path(workflow), json={"spec": SPEC} | body), 201)


def report(client: httpx.Client, workflow: str, score: float, **headers: str) -> Any:
    answer = client.post(path(workflow, "/outcome"), json={"score": score}, headers=headers)
    return ok(answer)


def beta(client: httpx.Client, workflow: str) -> tuple[float, float]:
    found = ok(client.get(path(workflow)))
    return found["alpha"], found["beta"]


def once(request: int) -> dict[str, str]:
    """The header that makes a request one that counts once."""
    return {"Idempotency-Key": f"outcome-{request}"}


def test_a_workflow_begins_without_a_preference(sdr: httpx.Client) -> None:
    made = add(sdr, "roi")
    assert (made["alpha"], made["beta"], made["mean"], made["outcomes"]) == (1, 1, 0.5, 0)
    assert (made["workflow_id"], made["spec"], made["version"]) == ("roi", SPEC, 1)
    assert ok(sdr.get(path("roi"))) == made


def test_a_new_workflow_begins_with_what_is_known_of_it(sdr: httpx.Client) -> None:
    known = {"alpha": 3.75, "beta": 1.25, "outcomes": 3}
    made = add(sdr, "moved", learned=known)
    more = {"spec": SPEC, "learned": {**known, "outcomes": 9}}
    again = ok(sdr.put(path("moved"), json=more))
    assert [{name: each[name] for name in known} for each in (made, again)] == [known, known]


def test_task_types_are_listed_as_long_as_they_have_workflows(
    tenant: Tenant, sdr: httpx.Client
) -> None:
    listed = "/api/v1/procedures/sdr"
    assert ok(sdr.get(listed))["task_types"] == []
    for name in ("out#reach ü", "audit", "reply"):
        for workflow in ("roi", "story"):
            made = f"{listed}/{quote(name, safe='')}/{workflow}"
            ok(sdr.put(made, json={"spec": SPEC}), 201)
    ok(sdr.put(f"{listed}/audit/roi", json={"spec": {}, "reset": True}))
    assert_no_content(sdr.delete(f"{listed}/audit/story"))
    for workflow in ("roi", "story"):
        assert_no_content(sdr.delete(f"{listed}/reply/{workflow}"))
    page = ok(sdr.get(listed, params={"limit": 1}))
    rest = ok(sdr.get(listed, params={"after": page["next"]}))
    assert page["task_types"] == [{"task_type": "audit", "workflows": 1}]
    assert rest["task_types"] == [{"task_type": "out#reach ü", "workflows": 2}]
    assert "next" not in rest
    other = tenant.service.tenant().agent("sdr")
    assert ok(other.get(listed))["task_types"] == []


def test_the_same_spec_again_changes_nothing(sdr: httpx.Client, service: Service) -> None:
    add(sdr, "roi")
    before = service.state()
    assert ok(sdr.put(path("roi"), json={"spec": SPEC}))["version"] == 1
    assert service.state() == before


def test_another_spec_keeps_what_was_learned_unless_reset(sdr: httpx.Client) -> None:
    add(sdr, "roi")
    report(sdr, "roi", 1)
    changed = ok(sdr.put(path("roi"), json={"spec": "call first"}))
    assert (changed["spec"], changed["version"], changed["alpha"]) == ("call first", 2, 2)
    reset = ok(sdr.put(path("roi"), json={"spec": "call first", "reset": True}))
    assert (reset["alpha"], reset["outcomes"], reset["version"]) == (1, 0, 3)


def test_a_change_at_a_version(sdr: httpx.Client) -> None:
    at = {"If-Match": "1"}
    refused(sdr.put(path("roi"), json={"spec": 1}, headers=at), 404, "NOT_FOUND")
    add(sdr, "roi")
    ok(sdr.put(path("roi"), json={"spec": 1}, headers=at))
    stale = sdr.put(path("roi"), json={"spec": 2}, headers=at)
    assert refused(stale, 409, "VERSION_MISMATCH")["current_version"] == 2
    refused(sdr.delete(path("roi"), headers=at), 409, "VERSION_MISMATCH")


@pytest.mark.usefixtures("parallel")
def test_concurrent_outcomes_are_all_counted(sdr: httpx.Client) -> None:
    add(sdr, "roi")
    at_once(24, lambda n: report(sdr, "roi", n % 2))
    assert beta(sdr, "roi") == (13, 13)


@pytest.mark.usefixtures("parallel")
def test_concurrent_outcomes_with_keys_are_counted_once(
    sdr: httpx.Client,
) -> None:
    add(sdr, "roi")
    at_once(24, lambda n: sdr.post(path("roi", "/outcome"), json={"score": 1}, headers=once(n % 8)))
    assert beta(sdr, "roi") == (9, 1)


@pytest.mark.usefixtures("parallel")
def test_a_rebase_at_the_same_time_loses_no_outcome(sdr: httpx.Client, clock: MovableClock) -> None:
    add(sdr, "roi", half_life="duration:PT1H")
    clock.advance(seconds=61 * 3600)
    answers = at_once(12, lambda n: sdr.post(path("roi", "/outcome"), json={"score": n % 2}))
    assert {answer.status_code for answer in answers} == {200}
    assert beta(sdr, "roi") == pytest.approx((7, 7))


@pytest.mark.usefixtures("parallel")
def test_a_change_of_the_spec_loses_no_outcome(sdr: httpx.Client) -> None:
    add(sdr, "roi")

    def work(n: int) -> httpx.Response:
        if n % 2:
            return sdr.put(path("roi"), json={"spec": n})
        return sdr.post(path("roi", "/outcome"), json={"score": 1})

    assert {answer.status_code for answer in at_once(16, work)} == {200}
    assert beta(sdr, "roi") == (9, 1)
    assert ok(sdr.get(path("roi")))["version"] == 9


def test_a_retried_outcome_is_counted_once(sdr: httpx.Client) -> None:
    add(sdr, "roi")
    first = report(sdr, "roi", 1, **once(1))
    assert report(sdr, "roi", 1, **once(1)) == first
    report(sdr, "roi", 0)
    report(sdr, "roi", 1, **once(1))
    assert beta(sdr, "roi") == (2, 2)
    other = sdr.post(path("roi", "/outcome"), json={"score": 0}, headers=once(1))
    refused(other, 409, "IDEMPOTENCY_CONFLICT")


def test_a_missing_workflow_is_not_found(sdr: httpx.Client) -> None:
    refused(sdr.get(path("none")), 404, "NOT_FOUND")
    refused(sdr.delete(path("none")), 404, "NOT_FOUND")
    refused(sdr.post(f"{PROCEDURE}/select"), 404, "NOT_FOUND")
    for headers in ({}, once(1)):
        answer = sdr.post(path("none", "/outcome"), json={"score": 1}, headers=headers)
        refused(answer, 404, "NOT_FOUND")
    assert ok(sdr.get(PROCEDURE))["total"] == 0


def test_a_seed_makes_a_selection_repeatable(sdr: httpx.Client) -> None:
    for workflow in "abc":
        add(sdr, workflow)
    first = ok(sdr.post(f"{PROCEDURE}/select", json={"seed": 7}))
    assert ok(sdr.post(f"{PROCEDURE}/select", json={"seed": 7})) == first
    assert (first["spec"], 0 <= first["sampled"] <= 1) == (SPEC, True)


def test_workflows_are_listed_newest_first(sdr: httpx.Client, clock: MovableClock) -> None:
    for workflow in "abc":
        add(sdr, workflow)
        clock.advance(ms=1)
    ok(sdr.put("/api/v1/procedures/sdr/research/d", json={"spec": 1}), 201)
    page = ok(sdr.get(PROCEDURE, params={"limit": 2}))
    assert [each["workflow_id"] for each in page["procedures"]] == ["c", "b"]
    assert (page["total"], page["next_offset"]) == (3, 2)


def test_a_deleted_workflow_loses_its_outcomes(sdr: httpx.Client) -> None:
    add(sdr, "roi")
    report(sdr, "roi", 1)
    assert_no_content(sdr.delete(path("roi")))
    assert add(sdr, "roi")["alpha"] == 1


def test_a_half_life_may_be_set_and_removed(sdr: httpx.Client, clock: MovableClock) -> None:
    add(sdr, "roi")
    report(sdr, "roi", 1)
    clock.advance(seconds=5 * DAY)
    ok(sdr.put(path("roi"), json={"spec": SPEC, "half_life": "duration:P1D"}))
    assert beta(sdr, "roi") == (2, 1)
    clock.advance(seconds=DAY)
    assert beta(sdr, "roi") == pytest.approx((1.5, 1))
    ok(sdr.put(path("roi"), json={"spec": SPEC}))
    clock.advance(seconds=5 * DAY)
    assert beta(sdr, "roi") == pytest.approx((1.5, 1))
    ok(sdr.put(path("roi"), json={"spec": SPEC, "half_life": "P1D"}))
    invalid(sdr.put(path("roi"), json={"spec": SPEC, "half_life": "a while"}), "half_life")


def test_names_and_specs_are_bounded(sdr: httpx.Client) -> None:
    large = sdr.put(path("roi"), json={"spec": "x" * 65_536})
    assert refused(large, 413, "VALUE_TOO_LARGE")["max"] == 65_536
    invalid(sdr.put(path("w" * 129), json={"spec": 1}), "workflow_id")
    invalid(sdr.put(path("roi"), json={}), "spec")
    invalid(sdr.post(path("roi", "/outcome"), json={"score": 1.01}), "score")
