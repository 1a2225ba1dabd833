"""A task's end: its memory is archived, one event an agent, then removed (RFC-0015 §2.1, §9.2)."""

import itertools
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    entry,
    grant,
    query,
    read,
    sized,
    task,
    update,
    working,
)
from tests.contract.expect import ok
from tests.contract.faults import Killed, When, faulty
from tests.contract.service import Service, Tenant, start
from tests.contract.sweeping import counters_equal_items, items, sweep

BIG = 123456789012345678901234567890


def archived(client: httpx.Client, intent: str = "intent_1") -> dict[str, Any]:
    """The data of each agent's one archival event in an intent's log."""
    page = ok(client.get(f"/api/v1/intents/{intent}/events", params={"type": "memory.archived"}))
    found = {event["agent_id"]: event["data"] for event in page["events"]}
    assert len(found) == len(page["events"])
    return found


def given(tenant: Tenant) -> tuple[httpx.Client, httpx.Client, dict[str, Any]]:
    boss, alice = tenant.coordinator("boss"), tenant.agent("alice")
    return boss, alice, create_task(boss, id="task_1", assigned_agent="alice")


def end(boss: httpx.Client, at: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    ended: dict[str, Any] = ok(change_task(boss, at, status=status))
    return ended


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_every_agents_memory_is_archived_once_and_removed(tenant: Tenant, status: str) -> None:
    boss, alice, at = given(tenant)
    bob = tenant.agent("bob")
    ok(grant(boss, "task_1", "bob", access="write"))
    kept = create(alice, entry(key="learned"))
    first = create(alice, working("task_1", key="w", value={"n": BIG}, tags=["x", "y"]))
    ok(update(alice, first["id"], 1, value={"n": BIG + 1}))
    create(bob, working("task_1", key="w", value={"of": "bob"}))

    assert end(boss, at, status)["completed_at"] is not None

    snapshots = archived(boss)
    assert {agent: data["entries_archived"] for agent, data in snapshots.items()} == {
        "alice": 1,
        "bob": 1,
    }
    (line,) = snapshots["alice"]["snapshot"]
    assert line["value"] == {"n": BIG + 1}
    assert (line["namespace"], line["key"], line["tags"]) == ("notes", "w", ["x", "y"])
    assert read(alice, first["id"]).status_code == 404
    assert query(alice, agent_id="alice") == [kept]
    assert items(tenant.service, "s#") == []
    assert counters_equal_items(tenant.service)
    summary = ok(alice.get("/api/v1/agents/alice/memory/summary"))
    assert summary["working"] == {"entry_count": 0, "total_size_kb": 0, "tasks_with_memory": []}


def test_sensitive_values_are_not_archived(tenant: Tenant) -> None:
    boss, alice, at = given(tenant)
    create(alice, working("task_1", key="s", value={"s": "hidden-value"}, sensitivity="restricted"))
    end(boss, at)
    (line,) = archived(boss)["alice"]["snapshot"]
    assert "value" not in line
    assert (line["key"], line["sensitivity"]) == ("s", "restricted")
    assert not any("hidden-value" in str(item) for item in tenant.service.stored())


def test_a_policy_may_remove_memory_without_archiving_it(tenant: Tenant) -> None:
    boss, alice, _ = given(tenant)
    fleeting = {"archive_on_completion": False}
    at = create_task(boss, id="task_2", assigned_agent="alice", memory_policy=fleeting)
    create(alice, working("task_2"))
    end(boss, at)
    assert archived(boss) == {}
    assert query(alice, agent_id="alice") == []
    assert counters_equal_items(tenant.service)


def test_entries_with_the_tasks_lifetime_expire_with_it(tenant: Tenant) -> None:
    boss, alice, at = given(tenant)
    create(
        alice, entry(key="e", ttl="task_lifetime", scope={"task_id": "task_1"}, tags=["fleeting"])
    )
    end(boss, at)
    assert query(alice, agent_id="alice") == []
    assert counters_equal_items(tenant.service)


def test_a_snapshot_may_be_larger_than_an_item(tenant: Tenant) -> None:
    boss, alice, _ = given(tenant)
    policy = {"max_entries": 200, "max_total_size_kb": 2_000}
    at = create_task(boss, id="task_2", assigned_agent="alice", memory_policy=policy)
    for number in range(25):
        create(alice, working("task_2", key=f"k{number}", value=sized(65_000)))
    end(boss, at)
    page = ok(boss.get("/api/v1/intents/intent_1/events", params={"type": "memory.archived"}))
    lines = [line for event in page["events"] for line in event["data"]["snapshot"]]
    while page["events"]:
        after = {"type": "memory.archived", "after": page["next"]}
        page = ok(boss.get("/api/v1/intents/intent_1/events", params=after))
        lines += [line for event in page["events"] for line in event["data"]["snapshot"]]
    assert sorted(line["key"] for line in lines) == sorted(f"k{number}" for number in range(25))
    assert all(line["value"] == sized(65_000) for line in lines)


def interrupted(service: Service, key: str, at: dict[str, Any], nth: int, when: When) -> bool:
    """Ends the task with a function that dies at its n-th write; whether it did."""
    with faulty(nth, when) as client:
        mortal = start(service.engine, service.clock, service.key_file, 0)
        try:
            change_task(mortal.client(key), at, status="completed")
        except Killed:
            return True
    assert client.writes < nth
    return False


def end_with_write_before(
    service: Service, key: str, at: dict[str, Any], nth: int, meanwhile: Callable[[], object]
) -> None:
    """Ends the task; right before its n-th transaction, another request is served."""
    transactions = itertools.count(1)
    with faulty() as client:
        client.interrupt("transact_write_items", lambda _: next(transactions) == nth, meanwhile)
        ending = start(service.engine, service.clock, service.key_file, 0)
        ok(change_task(ending.client(key), at, status="completed"))


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("before", ["the end", "the move"])
@pytest.mark.parametrize("race", ["create", "update", "delete"])
def test_a_write_that_races_with_the_end_is_archived_or_refused(
    service: Service, before: str, race: str
) -> None:
    tenant = service.tenant()
    boss_key = tenant.principal("coordinator", "boss")["api_key"]
    boss, alice = service.client(boss_key), tenant.agent("alice")
    at = ok(boss.post(TASKS, json=task(id="task_1", assigned_agent="alice")), 201)
    made = create(alice, working("task_1", key="a", value={"n": 1}))
    create(alice, working("task_1", key="b", value={"n": 1}))
    answers: list[httpx.Response] = []

    def meanwhile() -> None:
        answers.append(
            {
                "create": lambda: alice.post(MEMORY, json=working("task_1", key="c")),
                "update": lambda: update(alice, made["id"], 1, value={"n": 2}),
                "delete": lambda: alice.delete(f"{MEMORY}/{made['id']}"),
            }[race]()
        )

    nth = {"the end": 1, "the move": 2}[before]
    end_with_write_before(service, boss_key, at, nth, meanwhile)
    (answer,) = answers
    refused_too_late = race == "create" and before == "the move"
    assert answer.is_success != refused_too_late
    lines = archived(boss)["alice"]["snapshot"]
    kept = {line["key"]: line["value"]["n"] for line in lines}
    expected = {
        "create": {"a": 1, "b": 1} | ({} if refused_too_late else {"c": 1}),
        "update": {"a": 2, "b": 1},
        "delete": {"b": 1},
    }[race]
    assert kept == expected
    assert items(service, "e#") == items(service, "s#") == []
    assert counters_equal_items(service)


@pytest.mark.usefixtures("volume")
def test_a_task_ends_while_its_entries_are_written(service: Service) -> None:
    tenant = service.tenant()
    boss_key = tenant.principal("coordinator", "boss")["api_key"]
    boss, alice = service.client(boss_key), tenant.agent("alice")
    at = ok(boss.post(TASKS, json=task(id="task_1", assigned_agent="alice")), 201)
    written: list[str] = []

    def write() -> None:
        key = f"k{len(written)}"
        if alice.post(MEMORY, json=working("task_1", key=key)).is_success:
            written.append(key)
            client.interrupt("transact_write_items", lambda _: True, write)

    with faulty() as client:
        client.interrupt("transact_write_items", lambda _: True, write)
        ending = start(service.engine, service.clock, service.key_file, 0)
        ok(change_task(ending.client(boss_key), at, status="completed"))
    lines = archived(boss)["alice"]["snapshot"]
    assert sorted(line["key"] for line in lines) == sorted(written)
    assert items(service, "e#") == items(service, "s#") == []
    assert counters_equal_items(service)


@pytest.mark.usefixtures("volume")
def test_an_entry_that_takes_the_slot_of_a_tasks_entry_is_not_archived(service: Service) -> None:
    tenant = service.tenant()
    boss_key = tenant.principal("coordinator", "boss")["api_key"]
    boss, alice = service.client(boss_key), tenant.agent("alice")
    at = ok(boss.post(TASKS, json=task(id="task_1", assigned_agent="alice")), 201)
    made = create(alice, working("task_1", key="a"))
    later: list[dict[str, Any]] = []

    def replace() -> None:
        assert alice.delete(f"{MEMORY}/{made['id']}").status_code == 204
        later.append(create(alice, working(key="a")))

    with faulty() as client:
        client.interrupt("batch_get_item", lambda get: "e#" in str(get), replace)
        ending = start(service.engine, service.clock, service.key_file, 0)
        ok(change_task(ending.client(boss_key), at, status="completed"))
    assert archived(boss) == {}
    assert query(alice, agent_id="alice") == later
    assert counters_equal_items(service)


def test_the_response_shows_the_requests_own_version(service: Service) -> None:
    tenant = service.tenant()
    boss_key = tenant.principal("coordinator", "boss")["api_key"]
    boss = service.client(boss_key)
    at = ok(boss.post(TASKS, json=task(id="task_1")), 201)
    with faulty() as client:
        changing = start(service.engine, service.clock, service.key_file, 0).client(boss_key)
        changing.get(f"{TASKS}/task_1")  # it remembers the key

        def again() -> None:
            ok(change_task(boss, at | {"version": 2}, name="second"))

        client.interrupt("get_item", lambda _: client.writes > 0, again)
        first = ok(change_task(changing, at, name="first"))
    assert (first["name"], first["version"]) == ("first", 2)


def outcome(tenant: Tenant, boss: httpx.Client) -> Any:
    """Return what is left when all is done, as far as a user can see it."""
    assert counters_equal_items(tenant.service)
    assert items(tenant.service, "s#") == []
    snapshots = archived(boss)
    for data in snapshots.values():
        for line in data["snapshot"]:
            del line["entry_id"]
        data["snapshot"].sort(key=lambda line: str(line["key"]))
    ended = ok(boss.get(f"{TASKS}/task_1"))
    left = [item["key"] for item in items(tenant.service, "e#")]
    return snapshots, ended["status"], left


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_end_killed_at_any_write_is_completed(service: Service, when: When) -> None:
    outcomes = []
    for nth in range(1, 100):
        tenant = service.tenant()
        boss_key = tenant.principal("coordinator", "boss")["api_key"]
        boss, alice, bob = service.client(boss_key), tenant.agent("alice"), tenant.agent("bob")
        at = ok(boss.post(TASKS, json=task(id="task_1", assigned_agent="alice")), 201)
        ok(grant(boss, "task_1", "bob", access="write"))
        for number in range(3):
            create(alice, working("task_1", key=f"k{number}", value={"n": number}))
        create(bob, working("task_1", key="b"))
        died = interrupted(service, boss_key, at, nth, when)
        if ok(boss.get(f"{TASKS}/task_1"))["status"] != "completed":
            ok(change_task(boss, at, status="completed"))
        service.clock.advance(seconds=61)
        sweep(service)
        outcomes.append(outcome(tenant, boss))
        if not died:
            break
    assert len(outcomes) > 5
    assert all(each == outcomes[-1] for each in outcomes)
