"""RFC-0015 §6.5 and §9.4: how much working memory there may be."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    change_task,
    create,
    create_task,
    query,
    sized,
    update,
    working,
)
from tests.contract.expect import assert_no_content, ok, refused
from tests.contract.service import Tenant


def full(answer: httpx.Response, limit: str, current: int, most: int) -> None:
    """The answer must say that this limit is reached."""
    problem = refused(answer, 429, "CAPACITY_EXCEEDED")
    assert limit in problem["limit"]
    assert (problem["current_count"], problem["max_capacity"]) == (current, most)


def fill(client: httpx.Client, count: int, task: str | None) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for start in range(0, count, 50):
        bodies = [working(task, key=f"k{n}") for n in range(start, min(start + 50, count))]
        made += ok(client.post(BATCH, json={"entries": bodies}))["entries"]
    return made


@pytest.mark.parametrize("task", ["task_1", None])
def test_a_hundred_entries_by_default_and_not_one_more(
    alice: httpx.Client, task: str | None
) -> None:
    made = fill(alice, 100, task)
    one_more = working(task, key="one more")
    full(alice.post(MEMORY, json=one_more), "entries", 100, 100)
    full(alice.post(BATCH, json={"entries": [one_more]}), "entries", 100, 100)
    ok(update(alice, made[0]["id"], 1, value={"n": 2}))
    assert_no_content(alice.delete(f"{MEMORY}/{made[7]['id']}"))
    create(alice, one_more)
    full(alice.post(MEMORY, json=working(task, key="two more")), "entries", 100, 100)


@pytest.mark.parametrize("task", ["task_1", None])
def test_a_megabyte_by_default_and_not_one_byte_more(alice: httpx.Client, task: str | None) -> None:
    bodies = [working(task, key=f"k{n}", value=sized(65_536)) for n in range(16)]
    ok(alice.post(BATCH, json={"entries": bodies}))
    small = working(task, key="small", value={})
    full(alice.post(MEMORY, json=small), "total_size_kb", 1024, 1024)
    made = query(alice, key="k0", agent_id="alice")[0]
    ok(update(alice, made["id"], 1, value=sized(65_534)))
    create(alice, small)
    full(alice.post(MEMORY, json=small | {"key": "x"}), "total_size_kb", 1024, 1024)


def policy(client: httpx.Client, **limits: int) -> dict[str, Any]:
    return create_task(client, id="task_1", assigned_agent="alice", memory_policy=limits)


@pytest.mark.parametrize("most", [0, 2])
def test_a_task_may_have_its_own_number_of_entries(alice: httpx.Client, most: int) -> None:
    policy(alice, max_entries=most)
    for number in range(most):
        create(alice, working("task_1", key=f"k{number}"))
    full(alice.post(MEMORY, json=working("task_1", key="x")), "entries", most, most)
    create(alice, working(key="taskless"))
    create(alice, working("task_2", key="other task"))


def test_a_growing_value_meets_the_limit_too(alice: httpx.Client) -> None:
    policy(alice, max_total_size_kb=3)
    made = create(alice, working("task_1", value=sized(1500)))
    create(alice, working("task_1", key="other"))
    within = ok(update(alice, made["id"], 1, value=sized(3065)))
    full(update(alice, made["id"], 2, value=sized(3066)), "total_size_kb", 3, 3)
    assert query(alice, key="k") == [within]
    ok(update(alice, made["id"], 2, value=sized(10)))
    create(alice, working("task_1", key="room again"))
    full(update(alice, made["id"], 3, value=sized(3059)), "total_size_kb", 1, 3)


def test_a_batch_meets_the_limit_as_a_whole(alice: httpx.Client) -> None:
    policy(alice, max_entries=3)
    create(alice, working("task_1", key="standing"))
    bodies = [working("task_1", key=f"k{number}") for number in range(3)]
    refused(alice.post(BATCH, json={"entries": bodies}), 429, "CAPACITY_EXCEEDED")
    assert [each["key"] for each in query(alice)] == ["standing"]
    ok(alice.post(BATCH, json={"entries": bodies[:2]}))
    full(alice.post(MEMORY, json=bodies[2]), "entries", 3, 3)


def test_a_task_counts_all_its_writers(tenant: Tenant, alice: httpx.Client) -> None:
    boss = tenant.coordinator("boss")
    limits = {"max_entries": 2}
    create_task(boss, id="task_1", assigned_agent="alice", memory_policy=limits)
    create(alice, working("task_1"))
    create(boss, working("task_1"))
    for client in (alice, boss):
        full(client.post(MEMORY, json=working("task_1", key="x")), "entries", 2, 2)


def test_a_changed_policy_holds_at_once(tenant: Tenant, alice: httpx.Client) -> None:
    boss = tenant.coordinator("boss")
    task = create_task(boss, id="task_1", assigned_agent="alice", memory_policy={"max_entries": 1})
    first = create(alice, working("task_1", key="k1"))
    task = ok(change_task(boss, task, memory_policy={"max_entries": 3}))
    for key in ("k2", "k3"):
        create(alice, working("task_1", key=key))
    ok(change_task(boss, task, memory_policy={"max_entries": 1}))
    full(alice.post(MEMORY, json=working("task_1", key="x")), "entries", 3, 1)
    ok(update(alice, first["id"], 1, value={"n": 2}))
    assert len(query(alice, task_id="task_1")) == 3


def test_a_batch_delete_frees_the_capacity(alice: httpx.Client) -> None:
    policy(alice, max_entries=20)
    fill(alice, 20, "task_1")
    assert ok(alice.delete(BATCH, params={"scope.task_id": "task_1"})) == {"deleted": 20}
    fill(alice, 20, "task_1")
    refused(alice.post(MEMORY, json=working("task_1", key="x")), 429, "CAPACITY_EXCEEDED")


def test_replacing_an_expired_entry_frees_its_capacity(tenant: Tenant, alice: httpx.Client) -> None:
    policy(alice, max_entries=2, max_total_size_kb=6)
    create(alice, working("task_1", key="a", ttl="duration:PT1S", value=sized(5000)))
    tenant.service.clock.advance(seconds=1)
    create(alice, working("task_1", key="a", value=sized(6140)))
    refused(alice.post(MEMORY, json=working("task_1", key="b")), 429, "CAPACITY_EXCEEDED")
