"""ADR-043 Tiers 1 and 2: runs, from their start to their end and their removal."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.contract.expect import invalid, ok, refused
from tests.contract.run_calls import DAY, RUNS, append, end, listed, recall, start
from tests.contract.service import Service
from tests.contract.transport import MovableClock


def test_a_run_is_started_and_completed(agent: httpx.Client, clock: MovableClock) -> None:
    run = start(agent, instance_id="i-1", input={"lead": 7})
    assert run["id"].startswith("run_")
    assert (run["status"], run["agent_type"], run["instance_id"]) == ("running", "sdr", "i-1")
    assert (run["input"], run["output"], run["error"]) == ({"lead": 7}, None, None)
    assert (run["created_by"], run["ended_at"], run["version"]) == ("worker", None, 1)
    assert ok(agent.get(f"{RUNS}/{run['id']}")) == run
    clock.advance(seconds=3)
    done = ok(end(agent, run, output=["mail", 1.5]))
    changed = {"status": "completed", "output": ["mail", 1.5], "version": 2}
    assert done == run | changed | {"ended_at": clock.time(), "ended_by": "worker"}
    assert ok(agent.get(f"{RUNS}/{run['id']}")) == done


def test_a_run_that_failed_says_why(agent: httpx.Client) -> None:
    run = start(agent)
    failed = ok(end(agent, run, "fail", error={"code": "TIMEOUT"}))
    assert (failed["status"], failed["error"]) == ("failed", {"code": "TIMEOUT"})


def test_a_run_ends_once(agent: httpx.Client) -> None:
    run = start(agent)
    done = ok(end(agent, run, output=1))
    for how, result in (("complete", {"output": 2}), ("fail", {"error": "late"})):
        refused(end(agent, run, how, **result), 409, "RUN_CLOSED")
    assert ok(agent.get(f"{RUNS}/{run['id']}")) == done


@pytest.mark.moto
def test_a_retried_end_gets_the_first_response(agent: httpx.Client) -> None:
    run = start(agent)
    done = ok(end(agent, run, output=1, key="k"))
    assert ok(end(agent, run, output=1, key="k")) == done
    refused(end(agent, run, output=2, key="k"), 409, "IDEMPOTENCY_CONFLICT")
    refused(end(agent, run, output=1, key="another"), 409, "RUN_CLOSED")


@pytest.mark.usefixtures("parallel")
def test_one_of_many_concurrent_ends_succeeds(agent: httpx.Client) -> None:
    run = start(agent)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: end(agent, run, output=number), range(8)))
    (first,) = [each.json() for each in answers if each.status_code == 200]
    assert [each.status_code for each in answers].count(409) == 7
    assert ok(agent.get(f"{RUNS}/{run['id']}")) == first


def test_a_retried_start_starts_one_run(agent: httpx.Client, clock: MovableClock) -> None:
    def ask(**fields: Any) -> httpx.Response:
        body = {"agent_type": "sdr"} | fields
        return agent.post(RUNS, json=body, headers={"Idempotency-Key": "k"})

    first = ok(ask(), 201)
    clock.advance(seconds=60)
    assert ok(ask(), 201) == first
    refused(ask(input=1), 409, "IDEMPOTENCY_CONFLICT")
    refused(ask(agent_type="other"), 409, "IDEMPOTENCY_CONFLICT")
    assert listed(agent) == [first["id"]]
    ok(end(agent, first))
    refused(ask(), 409, "RUN_CLOSED")


@pytest.mark.moto
def test_runs_are_listed_newest_first_by_agent_type(
    agent: httpx.Client, clock: MovableClock
) -> None:
    runs = []
    for number in range(5):
        runs.append(start(agent, input=number))
        start(agent, "other")
        clock.advance(ms=1)
    ok(end(agent, runs[1], output=1))
    ok(end(agent, runs[3], "fail"))
    newest = [run["id"] for run in reversed(runs)]
    page = ok(agent.get(RUNS, params={"agent_type": "sdr", "limit": 2, "offset": 1}))
    assert [run["input"] for run in page["runs"]] == [3, 2]
    assert (page["total"], page["next_offset"]) == (5, 3)
    assert listed(agent) == newest
    assert listed(agent, status="running") == [newest[0], newest[2], newest[4]]
    assert listed(agent, status="failed") == [runs[3]["id"]]
    assert listed(agent, "nobody") == []


def test_text_of_another_form_is_no_id(agent: httpx.Client) -> None:
    id = "run_" + "0" * 62
    refused(agent.get(f"{RUNS}/{id}"), 404, "NOT_FOUND")
    refused(agent.post(f"{RUNS}/{id}/episodes", json={"content": 1}), 404, "NOT_FOUND")
    refused(agent.get("/api/v1/episodes", params={"run_id": id}), 404, "NOT_FOUND")


def test_an_unknown_status_is_refused(agent: httpx.Client) -> None:
    invalid(agent.get(RUNS, params={"agent_type": "sdr", "status": "paused"}), "status")


def test_values_have_a_maximum_size(agent: httpx.Client) -> None:
    run = start(agent, input="x" * 4_194_302)
    large = "x" * 4_194_303
    answer = agent.post(RUNS, json={"agent_type": "sdr", "input": large})
    problem = refused(answer, 413, "VALUE_TOO_LARGE")
    assert (problem["max"], problem["actual"]) == (4_194_304, 4_194_305)
    refused(end(agent, run, output=large), 413, "VALUE_TOO_LARGE")
    refused(end(agent, run, "fail", error=large), 413, "VALUE_TOO_LARGE")
    assert ok(agent.get(f"{RUNS}/{run['id']}"))["status"] == "running"


def test_sensitive_values_are_encrypted(service: Service, agent: httpx.Client) -> None:
    run = start(agent, input="hidden-in", sensitivity="confidential")
    append(agent, run, "hidden-too", sensitivity="restricted")
    assert ok(end(agent, run, output="hidden-out"))["input"] == "hidden-in"
    assert ok(agent.get(f"{RUNS}/{run['id']}"))["output"] == "hidden-out"
    assert recall(agent, agent_type="sdr") == recall(agent, run_id=run["id"]) == ["hidden-too"]
    assert "hidden" not in str(service.stored())


@pytest.mark.in_process
def test_a_run_is_not_found_after_90_days(agent: httpx.Client, clock: MovableClock) -> None:
    run = start(agent)
    assert run["expires_at"] == clock.time(seconds=90 * DAY)
    clock.advance(seconds=90 * DAY - 0.001)
    ok(agent.get(f"{RUNS}/{run['id']}"))
    append(agent, run, "at the last moment")
    clock.advance(ms=1)
    refused(agent.get(f"{RUNS}/{run['id']}"), 404, "NOT_FOUND")
    refused(end(agent, run), 404, "NOT_FOUND")
    refused(agent.post(f"{RUNS}/{run['id']}/episodes", json={"content": 1}), 404, "NOT_FOUND")
    assert listed(agent) == []
    assert recall(agent, agent_type="sdr") == []  # its episodes go with it
