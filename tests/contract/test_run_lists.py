"""A tenant's runs and agent types are listed, a page at a time."""

from typing import Any

import httpx
import pytest

from tests.contract.expect import invalid, ok
from tests.contract.run_calls import DAY, RUNS, end, listed, start
from tests.contract.service import Service
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)


def test_runs_are_listed_by_instance_status_and_type(service: Service, agent: httpx.Client) -> None:
    a = start(agent, "sdr", instance_id="i-1")["id"]
    b = start(agent, "other", instance_id="i-1")["id"]
    c = start(agent, "sdr", instance_id="i-2")["id"]
    ok(end(agent, {"id": b}))
    other = service.tenant().admin
    start(other, "sdr", instance_id="i-1")
    assert set(listed(agent, None)) == {a, b, c}
    assert set(listed(agent, None, instance_id="i-1")) == {a, b}
    assert listed(agent, "sdr", instance_id="i-1") == [a]
    assert listed(agent, None, status="completed") == [b]
    assert listed(agent, None, instance_id="i-1", status="running") == [a]


def test_pages_after_another_neither_skip_nor_repeat(
    agent: httpx.Client, clock: MovableClock
) -> None:
    runs = []
    for _ in range(5):
        runs.append(start(agent)["id"])
        clock.advance(ms=1)
    query: dict[str, Any] = {"limit": 2, "total": "none"}
    page = ok(agent.get(RUNS, params=query))
    assert "total" not in page
    start(agent)
    found = [each["id"] for each in page["runs"]]
    while "next" in page:
        page = ok(agent.get(RUNS, params=query | {"after": page["next"]}))
        found += [each["id"] for each in page["runs"]]
    assert found == runs[::-1]
    invalid(agent.get(RUNS, params={"agent_type": "sdr", "after": "x"}), "after")


def test_a_page_of_large_runs_ends_where_the_response_does(agent: httpx.Client) -> None:
    large = "x" * 4_000_000
    runs = [start(agent, input=large)["id"] for _ in range(2)]
    page = ok(agent.get(RUNS))
    assert (len(page["runs"]), page["total"], page["next_offset"]) == (1, 2, 1)
    later = ok(agent.get(RUNS, params={"after": page["next"]}))["runs"]
    assert {page["runs"][0]["id"], later[0]["id"]} == set(runs)
    bare = ok(agent.get(RUNS, params={"values": "omit"}))["runs"]
    assert [("input" in each, each["status"]) for each in bare] == [(False, "running")] * 2


def test_values_that_a_response_does_not_hold_together_are_answered_alone(
    agent: httpx.Client,
) -> None:
    value = '"' * 2_097_151  # two bytes each, and four as a Lambda response has it
    run = start(agent, input=value)
    done = ok(end(agent, run, output=value))
    assert (done["omitted"], done["output"], "input" in done) == (["input"], value, False)
    got = ok(agent.get(f"{RUNS}/{run['id']}", params={"value": "input"}))
    assert (got["input"], "output" in got) == (value, False)


def test_agent_types_are_listed_for_90_days_or_with_workflows(
    service: Service, agent: httpx.Client, clock: MovableClock
) -> None:
    def types() -> list[str]:
        found = ok(agent.get("/api/v1/agent-types"))["agent_types"]
        return sorted(each["agent_type"] for each in found)

    assert types() == []
    for name in ("sdr", "sdr", "triage"):
        start(agent, name)
    start(service.tenant().admin, "foreign")
    for _ in range(2):
        assert agent.put("/api/v1/procedures/mailer/send/w", json={"spec": 1}).is_success
    start(agent, "mailer")
    assert types() == ["mailer", "sdr", "triage"]
    clock.advance(seconds=45 * DAY)
    start(agent, "sdr")
    clock.advance(seconds=45 * DAY)
    assert types() == ["mailer", "sdr"]
