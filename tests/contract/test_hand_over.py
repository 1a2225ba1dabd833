"""A hand-over is a fence."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.contract.bodies import (
    BATCH,
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    entry,
    grant,
    query,
    read,
    task,
    update,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.faults import Killed, faulty
from tests.contract.service import Service, Tenant, start
from tests.contract.sweeping import sweep

INHERIT = {"memory_policy": {"inherit_from_parent": True}}


def hand_over(boss: httpx.Client, to: str | None) -> dict[str, Any]:
    task = ok(boss.get(f"{TASKS}/task_1"))
    return ok(change_task(boss, task, assigned_agent=to))  # type: ignore[no-any-return]


@pytest.fixture
def alice(tenant: Tenant, boss: httpx.Client) -> httpx.Client:
    create_task(boss, id="task_1", assigned_agent="alice")
    return tenant.agent("alice")


def test_an_assignee_hands_over_to_a_delegate_with_a_note(
    tenant: Tenant, boss: httpx.Client
) -> None:
    made = create_task(boss, id="task_2", assigned_agent="ann", delegates=["ben"])
    ann, ben = tenant.agent("ann"), tenant.agent("ben")
    create(ann, working("task_2", key="progress", value={"done": 40}))
    invalid(change_task(ann, made, note="for nobody"), "body")
    invalid(change_task(ann, made, assigned_agent="ben", note="x" * 4097), "note")
    refused(change_task(ann, made, assigned_agent="carl"), 403, "ACCESS_DENIED")
    refused(change_task(ben, made, assigned_agent="ben"), 403, "ACCESS_DENIED")
    note = "Rows 1 to 40 are done; row 41 has a typo."
    handed = ok(change_task(ann, made, assigned_agent="ben", note=note))
    assert (handed["assigned_agent"], handed["hand_over_note"]) == ("ben", note)
    context = ok(ben.get(f"{TASKS}/task_2/context"))
    assert context["hand_over_note"] == note
    refused(change_task(ann, handed, status="completed"), 409, "TASK_REASSIGNED")
    again = ok(change_task(boss, handed, assigned_agent="ann"))
    assert again["hand_over_note"] is None
    noted = ok(change_task(boss, again, assigned_agent="ann", note="Begin with row 41."))
    assert noted["hand_over_note"] == "Begin with row 41."
    kept = ok(change_task(boss, noted, assigned_agent="ann"))
    assert kept["hand_over_note"] == "Begin with row 41."


def test_a_coordinator_names_nobody_else_as_coordinator(tenant: Tenant, boss: httpx.Client) -> None:
    tenant.coordinator("rival")
    body = task(id="task_3", coordinator="rival", assigned_agent="ann")
    refused(boss.post(TASKS, json=body), 403, "ACCESS_DENIED")
    ok(boss.post(TASKS, json=body | {"coordinator": "boss"}), 201)


def try_writes(client: httpx.Client, made: dict[str, Any]) -> list[httpx.Response]:
    """Try every way to write in task_1, with an entry that the client has there."""
    bare, grown = {"id": made["id"], "version": 1}, {"s": "x" * 3000}
    return [
        client.post(MEMORY, json=working("task_1", key="late")),
        client.post(BATCH, json={"entries": [working("task_1", key="late")]}),
        client.post(BATCH, json={"entries": [bare | {"value": {"n": 2}}]}),
        client.post(BATCH, json={"entries": [entry(key="other"), bare | {"tags": ["t"]}]}),
        update(client, made["id"], 1, value={"n": 2}),
        update(client, made["id"], 1, value=grown),
        update(client, made["id"], 1, tags=["t"]),
        update(client, made["id"], 1, ttl="duration:PT1H"),
        client.put(MEMORY, json=working("task_1", key="late")),
        client.put(MEMORY, json=working("task_1", value={"n": 2})),
        client.put(MEMORY, json=working("task_1", value=grown)),
        client.put(MEMORY, json=working(value={"n": 2})),
        client.put(MEMORY, json=working("task_2", value={"n": 2})),
        client.delete(f"{MEMORY}/{made['id']}"),
    ]


@pytest.mark.parametrize("successor", ["bob", None])
def test_the_former_assignees_writes_are_refused(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, successor: str | None
) -> None:
    made = create(alice, working("task_1"))
    task = hand_over(boss, successor)
    for answer in try_writes(alice, made):
        refused(answer, 409, "TASK_REASSIGNED")
    stale = {"If-Match": "7"}
    for answer in (
        update(alice, made["id"], 7, value={}),
        alice.delete(f"{MEMORY}/{made['id']}", headers=stale),
        alice.put(MEMORY, json=working("task_1"), headers=stale),
        alice.post(MEMORY, json=working("task_1")),
        change_task(alice, task, status="completed"),
        grant(alice, "task_1", "mallory", access="read"),
        alice.delete(f"{TASKS}/task_1/grants/mallory"),
    ):
        refused(answer, 409, "TASK_REASSIGNED")
    for item in (working("task_1"), {"id": made["id"], "version": 7, "value": {}}):
        answer = alice.post(BATCH, json={"entries": [entry(key="free"), item]})
        assert refused(answer, 409, "TASK_REASSIGNED")["index"] == 1
    scope = {"key": "k", "scope.task_id": "task_1"}
    assert ok(alice.delete(BATCH, params=scope)) == {"deleted": 0}
    assert query(alice, agent_id="alice") == [made]
    create(alice, entry(key="learned", scope={"task_id": "task_1"}))
    refused(tenant.agent("eve").post(MEMORY, json=working("task_1")), 403, "ACCESS_DENIED")


def test_the_successor_reads_all_and_who_comes_back_goes_on(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    made = create(alice, working("task_1"))
    bob = tenant.agent("bob")
    hand_over(boss, "bob")
    own = ok(bob.put(MEMORY, json=working("task_1", key="own")), 201)
    assert {each["key"] for each in query(bob, task_id="task_1")} == {"k", "own"}
    hand_over(boss, "alice")
    for version in (1, 2, 3):
        assert ok(update(alice, made["id"], version, value={"n": version}))
    refused(update(bob, own["id"], 1, value={}), 409, "TASK_REASSIGNED")
    assert query(alice, task_id="task_1", key="own") == [own]
    ok(change_task(alice, ok(alice.get(f"{TASKS}/task_1")), status="completed"))
    assert ok(tenant.admin.get("/api/v1/agents/bob/memory/summary"))["working"]["entry_count"] == 0


def test_access_ends_with_who_gave_it(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    mallory, guest, bob = tenant.agents("mallory", "guest", "bob")
    ok(grant(alice, "task_1", "alice", access="write"))
    ok(grant(alice, "task_1", "mallory", access="write"))
    ok(grant(boss, "task_1", "guest", access="write"))
    planted = create(mallory, working("task_1", key="planted"))
    kept = create(guest, working("task_1", key="kept"))
    create_task(alice, id="own", parent_task_id="task_1", **INHERIT)
    hand_over(boss, "bob")
    secret = create(bob, working("task_1", key="secret"))
    for former in (alice, mallory):
        refused(read(former, secret["id"]), 403, "ACCESS_DENIED")
        assert secret not in query(former, task_id="task_1")
    refused(mallory.post(MEMORY, json=working("task_1", key="more")), 403, "ACCESS_DENIED")
    refused(update(mallory, planted["id"], 1, value={}), 403, "ACCESS_DENIED")
    assert ok(read(guest, secret["id"])) == secret
    assert ok(update(guest, kept["id"], 1, value={"n": 2}))["version"] == 2
    listed = ok(bob.get(f"{TASKS}/task_1/grants"))
    assert [each["principal"] for each in listed["grants"]] == ["guest"]
    ok(grant(boss, "task_1", "alice", access="read"))
    assert ok(read(alice, secret["id"])) == secret


def test_what_a_coordinator_lets_inherit_outlasts_a_hand_over(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    made = create(alice, working("task_1"))
    create_task(boss, parent_task_id="task_1", assigned_agent="heir", **INHERIT)
    hand_over(boss, "bob")
    assert ok(read(tenant.agent("heir"), made["id"])) == made


def test_a_coordinator_passes_its_role_on(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client
) -> None:
    chief = tenant.coordinator("chief")
    own = create(boss, working("task_1", key="plan"))
    made = create(alice, working("task_1"))
    episode = create(alice, entry(key="episode"))
    task = ok(boss.get(f"{TASKS}/task_1"))
    refused(change_task(alice, task, coordinator="alice"), 403, "ACCESS_DENIED")
    for nobody in ("alice", "unknown"):
        assert change_task(boss, task, coordinator=nobody).status_code in (400, 403)
    invalid(change_task(boss, task, coordinator=None), "coordinator")
    passed = ok(change_task(boss, task, coordinator="chief"))
    assert passed["coordinator"] == "chief"
    assert {each["key"] for each in query(chief, task_id="task_1")} == {"k", "plan"}
    assert ok(read(chief, episode["id"])) == episode
    refused(read(boss, made["id"]), 403, "ACCESS_DENIED")
    refused(read(boss, episode["id"]), 403, "ACCESS_DENIED")
    refused(update(boss, own["id"], 1, value={}), 403, "ACCESS_DENIED")
    refused(change_task(boss, passed, status="running"), 403, "ACCESS_DENIED")
    assert ok(boss.get(f"{TASKS}/task_1")) == passed
    assert len(ok(chief.get("/api/v1/agents/alice/tasks"))) == 1
    ok(change_task(chief, passed, status="cancelled"))


@pytest.mark.parametrize("write", ["patch", "create", "batch"])
@pytest.mark.usefixtures("parallel")
def test_no_write_is_taken_after_the_hand_over_is_answered(
    boss: httpx.Client, alice: httpx.Client, write: str
) -> None:
    entries = [create(alice, working("task_1", key=f"k{n}")) for n in range(4)]
    answered, late = threading.Event(), list[httpx.Response]()

    def write_on(made: dict[str, Any]) -> None:
        version, done = 1, False
        while not done:
            done = answered.is_set()
            if write == "patch":
                answer = update(alice, made["id"], version, value={"n": version % 10})
            else:
                body = working("task_1", key=f"{made['key']}-{version}")
                path, json = (MEMORY, body) if write == "create" else (BATCH, {"entries": [body]})
                answer = alice.post(path, json=json)
            version += 1
            if done or not answer.is_success:
                late.append(answer)
                return

    with ThreadPoolExecutor(len(entries)) as pool:
        writers = [pool.submit(write_on, made) for made in entries]
        hand_over(boss, "bob")
        answered.set()
    for writer in writers:
        writer.result()
    assert len(late) == len(entries)
    for answer in late:
        refused(answer, 409, "TASK_REASSIGNED")


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("finish", ["the schedule", "a retry"])
def test_a_hand_over_killed_at_any_write_is_finished(
    service: Service, tenant: Tenant, finish: str
) -> None:
    key = tenant.principal("coordinator", "boss")["api_key"]
    boss, alice = service.client(key), tenant.agent("alice")
    change, retry = {"assigned_agent": "bob"}, {"If-Match": "1", "Idempotency-Key": "once"}
    deaths = 0
    for nth in range(1, 9):
        path = f"{TASKS}/task_{nth}"
        create_task(boss, id=f"task_{nth}", assigned_agent="alice")
        made = [create(alice, working(f"task_{nth}", key=f"k{nth}{n}")) for n in range(2)]
        with faulty(nth, "after"):
            mortal = start(service.engine, service.clock, service.key_file, 0)
            try:
                mortal.client(key).patch(path, json=change, headers=retry)
            except Killed:
                deaths += 1
        if finish == "a retry":
            assert ok(boss.patch(path, json=change, headers=retry))["assigned_agent"] == "bob"
        else:
            service.clock.advance(seconds=61)
            sweep(service)
        for each in made:
            refused(update(alice, each["id"], 1, value={"n": 2}), 409, "TASK_REASSIGNED")
    assert deaths > 2
    service.clock.advance(seconds=61)
    assert sweep(service) == {"lag_ms": 0}


def test_an_assignee_registers_so_many_sub_tasks_and_its_coordinator_more(
    tenant: Tenant, boss: httpx.Client, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("lifecycle_store", "rules"):
        monkeypatch.setattr(f"functions.tasks.{module}.MAX_SUB_TASKS", 2)
    sub_task = task(parent_task_id="task_1")
    for _ in range(2):
        ok(alice.post(TASKS, json=sub_task), 201)
    problem = refused(alice.post(TASKS, json=sub_task), 429, "CAPACITY_EXCEEDED")
    assert (problem["limit"], problem["max_capacity"]) == ("sub_tasks", 2)
    ok(boss.post(TASKS, json=sub_task), 201)
    hand_over(boss, "bob")
    ok(tenant.agent("bob").post(TASKS, json=sub_task), 201)
