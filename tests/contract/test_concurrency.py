"""Test what holds for concurrent writes."""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    PRINCIPALS,
    TASKS,
    change_task,
    create,
    create_task,
    entry,
    query,
    read,
    semantic,
    sized,
    update,
    working,
)
from tests.contract.expect import ok
from tests.contract.service import Tenant, names

pytestmark = pytest.mark.usefixtures("parallel")

ROUNDS = range(5)
TIERS = [working(), entry(), semantic()]
Call = Callable[[int], httpx.Response]


def at_once(count: int, call: Call) -> list[httpx.Response]:
    """Start calls together, each from its own thread, and return their answers."""
    start = Barrier(count)

    def one(number: int) -> httpx.Response:
        start.wait()
        return call(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(one, range(count)))


def post(
    client: httpx.Client, bodies: list[dict[str, Any]], headers: dict[str, str], n: int
) -> httpx.Response:
    return client.post(MEMORY, json=bodies[n], headers=headers)


def statuses(answers: Iterable[httpx.Response]) -> dict[int, int]:
    return dict(Counter(answer.status_code for answer in answers))


def write(
    client: httpx.Client, made: dict[str, Any], changes: list[dict[str, Any]], n: int
) -> httpx.Response:
    return update(client, made["id"], 1, **changes[n])


@pytest.mark.parametrize("body", TIERS)
@pytest.mark.parametrize("change", ["value", "tags"])
def test_of_eight_writers_on_one_version_one_wins(
    tenant: Tenant, body: dict[str, Any], change: str
) -> None:
    alice = tenant.user("alice")
    new: dict[str, list[Any]] = {
        "value": [{"by": n} for n in range(8)],
        "tags": [[f"by {n}"] for n in range(8)],
    }
    for number in ROUNDS:
        made = create(alice, body | {"key": f"k{number}"})
        changes = [{change: new[change][n]} for n in range(8)]
        answers = at_once(8, partial(write, alice, made, changes))
        assert statuses(answers) == {200: 1, 409: 7}
        (winner,) = [answer.json() for answer in answers if answer.status_code == 200]
        assert ok(read(alice, made["id"])) == winner
        assert winner["version"] == 2


@pytest.mark.parametrize("body", TIERS)
def test_four_times_ten_increments_make_forty(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    made = create(alice, body | {"value": {"n": 0}})

    def increment() -> httpx.Response:
        while True:
            now = ok(read(alice, made["id"]))
            value = {"n": now["value"]["n"] + 1}
            answer = update(alice, made["id"], now["version"], value=value)
            if answer.status_code != 409:
                return answer

    at_once(4, lambda _: [increment() for _ in range(10)][-1])
    final = ok(read(alice, made["id"]))
    assert (final["value"], final["version"]) == ({"n": 40}, 41)


@pytest.mark.parametrize("body", TIERS)
def test_of_eight_creates_on_one_slot_one_wins(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    for number in ROUNDS:
        key = f"k{number}"
        bodies = [body | {"key": key, "value": {"by": n}} for n in range(8)]
        answers = at_once(8, partial(post, alice, bodies, {}))
        assert statuses(answers) == {201: 1, 409: 7}
        (winner,) = [answer.json() for answer in answers if answer.status_code == 201]
        assert query(alice, key=key) == [winner]


@pytest.mark.parametrize("body", TIERS)
def test_one_request_sent_eight_times_is_written_once(tenant: Tenant, body: dict[str, Any]) -> None:
    alice = tenant.user("alice")
    for number in ROUNDS:
        bodies, headers = [body | {"key": f"k{number}"}] * 8, {"Idempotency-Key": f"{number}"}
        answers = at_once(8, partial(post, alice, bodies, headers))
        assert statuses(answers) == {201: 8}
        assert len({answer.text for answer in answers}) == 1


@pytest.mark.parametrize("task", ["task_1", None])
def test_a_task_limited_to_ten_entries_takes_exactly_ten(tenant: Tenant, task: str | None) -> None:
    alice, room = tenant.agent("alice"), 10
    if task is not None:
        limits = {"max_entries": room}
        create_task(alice, id=task, assigned_agent="alice", memory_policy=limits)
    else:
        for start in (0, 45):
            bodies = [working(key=f"k{n}") for n in range(start, start + 45)]
            ok(alice.post(BATCH, json={"entries": bodies}))
    answers = at_once(24, lambda n: alice.post(MEMORY, json=working(task, key=f"new {n}")))
    assert statuses(answers) == {201: 10, 429: 14}
    assert len([each for each in names(query(alice)) if each.startswith("new")]) == 10


def test_growing_values_never_pass_the_limit(tenant: Tenant) -> None:
    alice = tenant.agent("alice")
    limits = {"max_total_size_kb": 12}
    create_task(alice, id="task_1", assigned_agent="alice", memory_policy=limits)
    made = [create(alice, working("task_1", key=f"k{n}")) for n in range(8)]
    answers = at_once(8, lambda n: update(alice, made[n]["id"], 1, value=sized(2048)))
    assert statuses(answers) == {200: 5, 429: 3}


def test_a_task_that_is_registered_by_many_writes_is_ones(tenant: Tenant) -> None:
    agents = tenant.agents(*(f"agent{n}" for n in range(8)))
    answers = at_once(8, lambda n: agents[n].post(MEMORY, json=working("task_new")))
    assert statuses(answers) == {201: 1, 403: 7}


def test_the_first_write_to_a_namespace_makes_one_curator(tenant: Tenant) -> None:
    users = [tenant.user(f"user{n}") for n in range(8)]
    answers = at_once(8, lambda n: users[n].post(MEMORY, json=semantic(key=f"k{n}")))
    assert statuses(answers) == {201: 1, 403: 7}


def test_batches_that_cross_are_all_or_nothing(tenant: Tenant) -> None:
    alice = tenant.user("alice")
    pair = [create(alice, entry(key=key, value={"by": None})) for key in "ab"]

    def batch(number: int) -> httpx.Response:
        order = pair if number % 2 else pair[::-1]
        changes = [{"id": e["id"], "version": 1, "value": {"by": number}} for e in order]
        return alice.post(BATCH, json={"entries": changes})

    assert statuses(at_once(8, batch)) == {200: 1, 409: 7}
    first, second = (ok(read(alice, each["id"])) for each in pair)
    assert first["value"] == second["value"]
    assert first["version"] == second["version"] == 2


def test_changes_of_a_principal_take_turns(tenant: Tenant) -> None:
    tenant.agent("pat")
    path = f"{PRINCIPALS}/pat"

    def call(number: int) -> httpx.Response:
        if number % 2:
            return tenant.admin.post(f"{path}/rotate")
        return tenant.admin.patch(path, json={"agent_type": f"t{number}"})

    assert statuses(at_once(16, call)) == {200: 16}
    assert statuses(at_once(4, lambda _: tenant.admin.delete(path))) == {204: 1, 404: 3}


def test_guardrails_and_changes_of_a_task_keep_its_room(tenant: Tenant) -> None:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    create_task(boss, id="t", assigned_agent="alice", memory_policy={"max_entries": 9})
    path = "/api/v1/coordinators/boss/guardrails"

    def limit(most: int | None) -> httpx.Response:
        body = {"guardrails": {"max_working_memory_per_task": most}}
        return tenant.admin.patch(path, json=body)

    def call(number: int) -> httpx.Response:
        if number % 2:
            return limit(number if number % 4 == 1 else None)
        return change_task(boss, ok(boss.get(f"{TASKS}/t")), memory_policy={"max_entries": number})

    assert set(statuses(at_once(12, call))) <= {200, 409}
    ok(limit(2))
    ok(change_task(boss, ok(boss.get(f"{TASKS}/t")), memory_policy={"max_entries": 9}))
    answers = [alice.post(MEMORY, json=working("t", key=f"k{n}")) for n in range(4)]
    assert statuses(answers) == {201: 2, 429: 2}


def test_creates_and_deletes_of_one_slot_keep_the_counters(tenant: Tenant) -> None:
    alice = tenant.agent("alice")

    def churn(_: int) -> httpx.Response:
        for _ in range(8):
            answer = alice.post(MEMORY, json=working("task_1"))
            if answer.status_code == 201:
                alice.delete(f"{MEMORY}/{answer.json()['id']}")
        return answer

    at_once(4, churn)
    left = query(alice, task_id="task_1")
    summary = ok(alice.get("/api/v1/agents/alice/memory/summary"))["working"]
    assert summary["entry_count"] == len(left) <= 1
