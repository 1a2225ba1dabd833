"""ADR-043 Tier 2: episodes, appended in one write and recalled by one query."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import pytest

from functions.local.background_tasks import remove_expired_items
from tests.contract.expect import invalid, ok, refused
from tests.contract.run_calls import (
    DAY,
    EPISODES,
    RUNS,
    append,
    end,
    recall,
    start,
    stored_episodes,
    try_append,
)
from tests.contract.service import Service, Tenant
from tests.contract.transport import MovableClock

CONTENTS: list[Any] = [None, True, 0, 2**70, -1.5e300, "Grüße\u0000", [], [1, [2]], {"a": None}]


def test_any_content_is_given_back_in_its_order(agent: httpx.Client, clock: MovableClock) -> None:
    run = start(agent)
    for content in CONTENTS:
        append(agent, run, content)
        clock.advance(ms=1)
    for found in (recall(agent, run_id=run["id"]), recall(agent, agent_type="sdr")):
        assert [(each, type(each)) for each in found] == [(c, type(c)) for c in CONTENTS[::-1]]


@pytest.mark.in_process
def test_an_episode_shows_all_that_was_given(agent: httpx.Client, clock: MovableClock) -> None:
    run = start(agent)
    more = {"role": "tool", "kind": "observation", "turn": 3, "metadata": {"ms": 12}}
    made = append(agent, run, "seen", **more)
    assert made["id"].startswith("epi_")
    known = {"run_id": run["id"], "created_at": clock.time(), "created_by": "worker"}
    assert made == made | known | more | {"content": "seen"}
    assert made["expires_at"] == clock.time(seconds=90 * DAY)
    (found,) = ok(agent.get(EPISODES, params={"agent_type": "sdr"}))["episodes"]
    assert found == made | {"agent_type": "sdr"}


def test_the_last_ten_of_an_agent_type_are_the_next_runs_input(
    agent: httpx.Client, clock: MovableClock
) -> None:
    """The seed's acceptance: context recall at turn start, kept in the run's input."""
    for number in range(4):
        run = start(agent)
        for turn in range(4):
            append(agent, run, {"run": number, "turn": turn}, turn=turn)
            append(agent, start(agent, "other"), "not asked for")
            clock.advance(ms=1)
        ok(end(agent, run, output=number))
    context = ok(agent.get(EPISODES, params={"agent_type": "sdr"}))["episodes"]
    told = [(each["content"]["run"], each["content"]["turn"]) for each in context]
    assert told == [(n, t) for n in (3, 2, 1) for t in (3, 2, 1, 0)][:10]
    following = start(agent, input={"context": context})
    assert ok(agent.get(f"{RUNS}/{following['id']}"))["input"] == {"context": context}


@pytest.mark.parametrize("by", ["agent_type", "run_id"])
def test_the_next_page_begins_where_the_last_one_ended(
    agent: httpx.Client, clock: MovableClock, by: str
) -> None:
    run = start(agent)
    for number in range(7):
        append(agent, run, number)
        clock.advance(ms=number % 2)  # some of them within one millisecond
    whose = {by: run[by] if by == "agent_type" else run["id"]}
    found: list[int] = []
    page: dict[str, Any] = {"next": None}
    while "next" in page:
        before = {"after": page["next"]} if page["next"] else {}
        page = ok(agent.get(EPISODES, params=whose | before | {"limit": 3}))
        assert page["limit"] == 3
        found += [each["content"] for each in page["episodes"]]
        clock.advance(ms=1)
        append(agent, run, "meanwhile")
    assert sorted(found) == list(range(7))
    assert found[0] == 6


def test_a_large_page_is_cut_and_loses_nothing(agent: httpx.Client, clock: MovableClock) -> None:
    run = start(agent)
    for number in range(80):
        append(agent, run, [number, "\u0001" * 10_900])
        clock.advance(ms=1)
    page = ok(agent.get(EPISODES, params={"agent_type": "sdr", "limit": 100}))
    assert 0 < len(page["episodes"]) < 80
    invalid(agent.get(EPISODES, params={"run_id": run["id"], "after": page["next"]}), "after")
    invalid(agent.get(EPISODES, params={"agent_type": "a", "before": page["next"]}), "before")
    rest = recall(agent, agent_type="sdr", limit=100, before=page["next"])
    numbers = [each["content"][0] for each in page["episodes"]] + [each[0] for each in rest]
    assert numbers == list(range(79, -1, -1))


def test_a_retried_append_appends_once(
    service: Service, agent: httpx.Client, clock: MovableClock
) -> None:
    run, other = start(agent), start(agent)
    first = append(agent, run, "a", key="k")
    clock.advance(seconds=60)
    assert append(agent, run, "a", key="k") == first
    refused(try_append(agent, run["id"], "b", key="k"), 409, "IDEMPOTENCY_CONFLICT")
    assert append(agent, other, "a", key="k")["id"] != first["id"]
    assert len(stored_episodes(service)) == 2


def test_one_principals_key_is_not_anothers(tenant: Tenant, agent: httpx.Client) -> None:
    run = start(agent)
    append(agent, run, "mine", key="k")
    append(tenant.agent("other"), run, "theirs", key="k")
    assert sorted(recall(agent, run_id=run["id"])) == ["mine", "theirs"]


@pytest.mark.usefixtures("parallel")
def test_concurrent_appends_lose_and_double_nothing(service: Service, agent: httpx.Client) -> None:
    run = start(agent)

    def send(number: int) -> str:
        return str(append(agent, run, number // 3, key=f"k{number // 3}")["id"])

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(send, range(60)))
    assert len(set(ids)) == len(stored_episodes(service)) == 20
    assert sorted(recall(agent, run_id=run["id"], limit=100)) == list(range(20))


def test_an_episode_may_come_after_the_end(agent: httpx.Client) -> None:
    run = start(agent)
    ok(end(agent, run, output=1))
    append(agent, run, "late")
    assert recall(agent, run_id=run["id"]) == ["late"]


def test_content_has_a_maximum_size(agent: httpx.Client) -> None:
    run = start(agent)
    append(agent, run, "x" * 262_142, metadata={"m": "y" * 65_528})
    problem = refused(try_append(agent, run["id"], "x" * 262_143), 413, "VALUE_TOO_LARGE")
    assert (problem["max"], problem["actual"]) == (262_144, 262_145)
    refused(try_append(agent, run["id"], 1, metadata={"m": "y" * 262_144}), 413, "VALUE_TOO_LARGE")


def test_a_malformed_recall_is_refused(agent: httpx.Client) -> None:
    queries: list[tuple[dict[str, Any], str]] = [
        ({}, "agent_type"),
        ({"agent_type": "a", "run_id": "run_x"}, "agent_type"),
        ({"agent_type": ""}, "agent_type"),
        ({"agent_type": "a", "limit": 0}, "limit"),
        ({"agent_type": "a", "limit": 1001}, "limit"),
        ({"agent_type": "a", "before": "epi_x"}, "before"),
        ({"agent_type": "a", "offset": 1}, "offset"),
    ]
    for query, field in queries:
        invalid(agent.get(EPISODES, params=query), field)


def test_after_90_days_an_episode_is_removed(
    service: Service, agent: httpx.Client, clock: MovableClock
) -> None:
    old = start(agent)
    append(agent, old, "old")
    clock.advance(seconds=DAY)
    append(agent, start(agent), "younger")
    clock.advance(seconds=89 * DAY - 0.001)
    assert recall(agent, agent_type="sdr") == ["younger", "old"]
    clock.advance(ms=1)
    assert recall(agent, agent_type="sdr") == ["younger"]
    clock.advance(seconds=1)  # DynamoDB counts in whole seconds
    client, table = service.engine.client, service.engine.memory
    assert remove_expired_items(client, table, clock, Event()) == 2  # the run and its episode
    assert len(stored_episodes(service)) == 1
    clock.advance(seconds=DAY)
    remove_expired_items(client, table, clock, Event())
    assert stored_episodes(service) == []
