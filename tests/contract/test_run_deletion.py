"""Runs and episodes are deleted, which frees the quota at once."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from functions.platform.limits import MAX_EPISODES
from tests.contract.expect import invalid, ok, refused
from tests.contract.run_calls import (
    EPISODES,
    RUNS,
    append,
    end,
    listed,
    recall,
    start,
    stored_episodes,
    try_append,
)
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.test_episode_quota import Counted, counted, fill
from tests.contract.transport import MovableClock

__all__ = ["counted"]  # a fixture
pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)


def test_an_episode_is_deleted_alone(agent: httpx.Client) -> None:
    run = start(agent)
    first, second = append(agent, run, "kept"), append(agent, run, "deleted")
    path = f"{RUNS}/{run['id']}/episodes"
    assert agent.delete(f"{path}/{second['id']}").status_code == 204
    refused(agent.delete(f"{path}/{second['id']}"), 404, "NOT_FOUND")
    refused(agent.delete(f"{path}/{first['id'][:-1]}"), 404, "NOT_FOUND")
    refused(agent.delete(f"{RUNS}/{start(agent)['id']}/episodes/{first['id']}"), 404, "NOT_FOUND")
    assert recall(agent, agent_type="sdr") == recall(agent, run_id=run["id"]) == ["kept"]


def test_a_run_is_deleted_with_its_episodes_and_values(
    service: Service, agent: httpx.Client
) -> None:
    kept, run = start(agent), start(agent, input="hidden" * 50_000)
    append(agent, kept, "kept")
    for number in range(120):
        append(agent, run, f"hidden {number}")
    ok(end(agent, run, output="hidden"))
    assert agent.delete(f"{RUNS}/{run['id']}").status_code == 204
    for answer in (
        agent.get(f"{RUNS}/{run['id']}"),
        agent.get(EPISODES, params={"run_id": run["id"]}),
        end(agent, run),
        try_append(agent, run["id"], "too late"),
        agent.delete(f"{RUNS}/{run['id']}"),
    ):
        refused(answer, 404, "NOT_FOUND")
    assert listed(agent) == [kept["id"]]
    assert recall(agent, agent_type="sdr") == ["kept"]
    assert "hidden" not in str(service.stored())
    assert len(stored_episodes(service)) == 1


def test_all_runs_of_an_instance_are_deleted(agent: httpx.Client) -> None:
    for agent_type in ("sdr", "other"):
        append(agent, start(agent, agent_type, instance_id="i-1"), 1)
    kept = start(agent, instance_id="i-2")
    invalid(agent.delete(RUNS), "query")
    answer = ok(agent.delete(RUNS, params={"instance_id": "i-1"}))
    assert answer == {"deleted": 2, "episodes": 2, "complete": True}
    assert listed(agent, None) == [kept["id"]]
    assert ok(agent.delete(RUNS, params={"instance_id": "i-1"}))["deleted"] == 0


def test_a_started_run_that_was_deleted_is_not_started_again(agent: httpx.Client) -> None:
    def ask() -> httpx.Response:
        return agent.post(RUNS, json={"agent_type": "sdr"}, headers={"Idempotency-Key": "k"})

    assert agent.delete(f"{RUNS}/{ok(ask(), 201)['id']}").status_code == 204
    refused(ask(), 409, "RUN_CLOSED")


def test_each_deleted_episode_makes_room_for_one(
    service: Service, tenant: Tenant, agent: httpx.Client, clock: MovableClock, counted: Counted
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    run = start(agent)
    fill(service, tenant, MAX_EPISODES - 2)
    mine = [append(agent, run, number, key=str(number)) for number in range(2)]
    assert deliver(stream.read()) == []
    clock.advance(seconds=15)
    refused(try_append(agent, run["id"], 3), 429, "CAPACITY_EXCEEDED")
    path = f"{RUNS}/{run['id']}/episodes/{mine[0]['id']}"
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: agent.delete(path).status_code, range(4)))
    assert sorted(answers) == [204, 404, 404, 404]
    assert counted() == MAX_EPISODES - 1
    append(agent, run, 0, key="0")  # the same request again takes the freed place
    records = stream.read()
    for _ in range(2):
        assert deliver(records) == []
    assert counted() == MAX_EPISODES
    refused(try_append(agent, run["id"], 3), 429, "CAPACITY_EXCEEDED")
    assert agent.delete(f"{RUNS}/{run['id']}").status_code == 204
    assert counted() == MAX_EPISODES - 2


@pytest.mark.usefixtures("parallel")
def test_no_append_outlives_a_concurrent_deletion(
    service: Service, agent: httpx.Client, counted: Counted
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    run = start(agent)

    def act(number: int) -> int:
        if number == 12:
            return agent.delete(f"{RUNS}/{run['id']}").status_code
        return try_append(agent, run["id"], number).status_code

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(act, range(30)))
    assert set(answers) <= {201, 204, 404}
    assert stored_episodes(service) == recall(agent, agent_type="sdr") == []
    assert deliver(stream.read()) == []
    assert counted() == 0
