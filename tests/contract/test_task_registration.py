"""Test who registers tasks for whom, and what an adoption trusts."""

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from functions.tasks import lifecycle_store
from tests.contract.bodies import (
    MEMORY,
    TASKS,
    change_task,
    create,
    create_task,
    grant,
    query,
    read,
    task,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.faults import Killed, faulty
from tests.contract.service import Service, Tenant, start
from tests.contract.transport import MovableClock

INHERIT = {"memory_policy": {"inherit_from_parent": True}}


def queue(agent: httpx.Client, name: str) -> list[str]:
    """The ids of the open tasks that are assigned to an agent."""
    return [each["id"] for each in ok(agent.get(f"/api/v1/agents/{name}/tasks"))]


def test_an_assignee_registers_sub_tasks_for_those_whom_the_coordinator_names(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice, bob = tenant.agents("alice", "bob")
    made = create_task(boss, id="t", assigned_agent="alice")
    assert made["delegates"] == []
    part = {"parent_task_id": "t", "assigned_agent": "bob"}
    refused(alice.post(TASKS, json=task(**part)), 403, "ACCESS_DENIED")
    refused(change_task(alice, made, delegates=["bob"]), 403, "ACCESS_DENIED")
    opened = ok(change_task(boss, made, delegates=["bob"]))
    assert opened["delegates"] == ["bob"]
    sub = create_task(alice, **part)
    assert (sub["coordinator"], sub["delegates"]) == ("boss", [])
    assert queue(bob, "bob") == [sub["id"]]
    refused(alice.post(TASKS, json=task(**part | {"assigned_agent": "carl"})), 403, "ACCESS_DENIED")
    opened = ok(change_task(boss, opened, delegates=["*"]))
    create_task(alice, **part | {"assigned_agent": "carl"})
    ok(change_task(boss, opened, delegates=[]))
    refused(alice.post(TASKS, json=task(**part)), 403, "ACCESS_DENIED")


def test_a_task_is_registered_by_the_specifications_name_of_its_id(boss: httpx.Client) -> None:
    printed = {"task_id": "task_01HXYZ", "memory_policy": {"max_entries": 100}}
    made = ok(boss.post(TASKS, json=printed | {"intent_id": "i"}), 201)
    assert made["id"] == "task_01HXYZ"


def test_only_a_sub_task_inherits(tenant: Tenant, boss: httpx.Client) -> None:
    field = "memory_policy.inherit_from_parent"
    invalid(boss.post(TASKS, json=task(**INHERIT)), field)
    invalid(change_task(boss, create_task(boss), **INHERIT), field)
    rival = tenant.coordinator("rival")
    create_task(boss, id="t")
    stolen = task(intent_id="i2", parent_task_id="t", **INHERIT)
    refused(rival.post(TASKS, json=stolen), 403, "ACCESS_DENIED")
    plain = create_task(rival, intent_id="i2", parent_task_id="t")
    refused(change_task(rival, plain, **INHERIT), 403, "ACCESS_DENIED")


def test_an_adoption_ends_the_grants_that_the_agent_made(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice, mallory = tenant.agents("alice", "mallory")
    made = create(alice, working("t"))
    ok(grant(alice, "t", "mallory", access="write"))
    ok(read(mallory, made["id"]))
    create_task(boss, id="t", assigned_agent="alice")
    refused(read(mallory, made["id"]), 403, "ACCESS_DENIED")
    refused(mallory.post(MEMORY, json=working("t", key="m")), 403, "ACCESS_DENIED")
    create(alice, working("t", key="more"))


def test_an_adoption_takes_no_field_and_no_end_from_the_agent(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice = tenant.agent("alice")
    own = create_task(
        alice,
        id="t",
        intent_id="other",
        description="from the agent",
        memory_policy={"archive_on_completion": False, "max_entries": 7},
    )
    create(alice, working("t", key="before"))
    ok(change_task(alice, own, status="completed", output="made up"))
    adopted = create_task(boss, id="t", assigned_agent="alice")
    assert (adopted["status"], adopted["intent_id"]) == ("pending", "intent_1")
    assert adopted["memory_policy"]["archive_on_completion"]
    assert adopted["completed_at"] is None
    assert not {"description", "output"} & adopted.keys()
    assert queue(alice, "alice") == ["t"]
    made = create(alice, working("t", key="after"))
    assert query(boss, task_id="t") == [made]
    assert ok(alice.get("/api/v1/intents/other/tasks")) == []
    ended = ok(change_task(alice, adopted, status="completed"))
    assert ended["status"] == "completed"
    assert query(boss, task_id="t") == []


def adopt_meanwhile(
    service: Service, boss: httpx.Client, meanwhile: Callable[[], object]
) -> httpx.Response:
    """Adopts a task of alice's; something happens right before the adoption changes it."""
    done = []

    def changes_task(request: dict[str, Any]) -> bool:
        changed = (
            write["Update"]["Key"] for write in request["TransactItems"] if "Update" in write
        )
        return any("#t#" in key["pk"]["S"] and key["sk"]["S"] == "t" for key in changed)

    with faulty() as dynamodb:
        instance = start(service.engine, service.clock, service.key_file, 0)
        dynamodb.interrupt("transact_write_items", changes_task, lambda: done.append(meanwhile()))
        late = instance.client(boss.headers["X-API-Key"])
        answer = late.post(TASKS, json=task(id="t", assigned_agent="alice"))
    assert done
    return answer


def test_an_adoption_counts_though_the_agent_ends_the_task_meanwhile(
    service: Service, tenant: Tenant, boss: httpx.Client
) -> None:
    alice = tenant.agent("alice")
    own = create_task(alice, id="t")
    end = partial(change_task, alice, own, status="completed")
    adopted = ok(adopt_meanwhile(service, boss, end), 201)
    assert (adopted["status"], adopted["coordinator"]) == ("pending", "boss")
    assert ok(boss.get(f"{TASKS}/t")) == adopted


def test_of_two_that_adopt_an_ended_task_one_coordinates_it(
    service: Service, tenant: Tenant, boss: httpx.Client
) -> None:
    alice, rival = tenant.agent("alice"), tenant.coordinator("rival")
    own = create_task(alice, id="t")
    create(alice, working("t"))
    with faulty(2) as dynamodb:
        instance = start(service.engine, service.clock, service.key_file, 0)
        with pytest.raises(Killed):
            change_task(instance.client(alice.headers["X-API-Key"]), own, status="completed")
    assert dynamodb.writes == 2
    body = {"id": "t", "intent_id": "intent_2", "assigned_agent": "alice"}
    answer = adopt_meanwhile(service, boss, lambda: ok(rival.post(TASKS, json=task(**body)), 201))
    refused(answer, 409, "ENTRY_EXISTS")
    assert ok(rival.get(f"{TASKS}/t"))["coordinator"] == "rival"
    assert query(rival, task_id="t") == []


@pytest.mark.parametrize("assigned", [{"assigned_agent": "bob"}, {}])
@pytest.mark.parametrize("status", ["pending", "completed", "cancelled"])
def test_a_coordinator_takes_over_an_id_that_an_agent_has_taken(
    tenant: Tenant, boss: httpx.Client, clock: MovableClock, assigned: dict[str, str], status: str
) -> None:
    mallory, unarchived = tenant.agent("mallory"), {"archive_on_completion": False}
    squatted = create_task(mallory, id="t", intent_id="mi", memory_policy=unarchived)
    create(mallory, working("t", key="hers", value={"n": 7}))
    if status != "pending":
        ok(change_task(mallory, squatted, status=status))
    clock.advance(seconds=1)
    headers = {"Idempotency-Key": "once"}
    body = task(id="t", description="ours", **assigned)
    taken = ok(boss.post(TASKS, json=body, headers=headers), 201)
    assert ok(boss.post(TASKS, json=body, headers=headers), 201) == taken
    expected = {"status": "pending", "coordinator": "boss", "created_at": clock.time()}
    assert expected.items() <= taken.items()
    assert taken["assigned_agent"] == assigned.get("assigned_agent")
    assert taken["memory_policy"]["archive_on_completion"]
    assert query(boss, task_id="t") == []
    refused(mallory.get(f"{TASKS}/t"), 403, "ACCESS_DENIED")
    refused(mallory.post(MEMORY, json=working("t")), 403, "ACCESS_DENIED")
    again = mallory.post(TASKS, json=task(id="t", intent_id="mi"))
    refused(again, 409, "ENTRY_EXISTS")
    events = ok(mallory.get("/api/v1/agents/mallory/events"))["events"]
    archived = [each["data"] for each in events if each["type"] == "memory.archived"]
    assert [each["snapshot"][0]["value"] for each in archived] == (
        [{"n": 7}] if status == "pending" else []
    )
    if assigned:
        bob = tenant.agent("bob")
        create(bob, working("t"))
        assert queue(bob, "bob") == ["t"]
    assert queue(mallory, "mallory") == []


@pytest.mark.parametrize("to", ["mallory", "bob"])
@pytest.mark.parametrize("fields", [{}, INHERIT])
def test_a_sub_task_of_an_assignee_blocks_no_id_of_its_coordinator(
    tenant: Tenant, boss: httpx.Client, to: str, fields: dict[str, Any]
) -> None:
    mallory, bob = tenant.agents("mallory", "bob")
    create_task(boss, id="first", assigned_agent="mallory")
    body = task(id="next", parent_task_id="first", assigned_agent="mallory", **fields)
    ok(mallory.post(TASKS, json=body), 201)
    create(mallory, working("next", value={"v": 1}))
    made = ok(boss.post(TASKS, json=task(id="next", assigned_agent=to)), 201)
    assert (made["assigned_agent"], made["coordinator"]) == (to, "boss")
    assert made["parent_task_id"] is None
    assert ("next" in queue(mallory, "mallory")) == (to == "mallory")
    assert ("next" in queue(bob, "bob")) == (to == "bob")
    kept = query(boss, **{"scope.task_id": "next"})
    assert len(kept) == (to == "mallory")


@pytest.mark.parametrize("by", ["boss", "rival", "user"])
@pytest.mark.parametrize("holder", ["mallory", "bob"])
@pytest.mark.parametrize("is_same", [True, False])
@pytest.mark.parametrize("status", ["pending", "completed"])
def test_a_sub_task_of_an_agent_blocks_no_id(
    tenant: Tenant, boss: httpx.Client, by: str, holder: str, is_same: bool, status: str
) -> None:
    agents = {each: tenant.agent(each) for each in ("mallory", "bob", "carl")}
    others = {"boss": boss, "rival": tenant.coordinator("rival"), "user": tenant.user("user")}
    create_task(boss, id="first", assigned_agent="mallory", delegates=["bob"])
    body = task(id="next", parent_task_id="first", assigned_agent=holder)
    sub = ok(agents["mallory"].post(TASKS, json=body), 201)
    create(agents[holder], working("next", value={"secret": 1}))
    if status != "pending":
        ok(change_task(agents[holder], sub, status=status))
    to = holder if is_same else "carl"
    made = ok(others[by].post(TASKS, json=task(id="next", intent_id="i", assigned_agent=to)), 201)
    expected = {"coordinator": by, "assigned_agent": to, "status": "pending"}
    assert expected.items() <= made.items()
    assert queue(agents[to], to) == (["next"] if to != "mallory" else ["next", "first"])
    is_kept = by == "boss" and is_same and status == "pending"
    assert len(query(others[by], **{"scope.task_id": "next"})) == is_kept
    create(agents[to], working("next", key="new"))
    if by != "boss":
        refused(boss.get(f"{TASKS}/next"), 403, "ACCESS_DENIED")
    for name, each in {**others, "mallory": agents["mallory"]}.items():
        own = task(id="next", intent_id=f"of {name}")
        refused(each.post(TASKS, json=own), 409, "ENTRY_EXISTS")


@pytest.mark.parametrize("change", [{"name": "ours"}, {"assigned_agent": "bob"}])
def test_a_sub_task_that_its_coordinator_has_changed_is_the_coordinators(
    tenant: Tenant, boss: httpx.Client, change: dict[str, str]
) -> None:
    mallory, rival = tenant.agent("mallory"), tenant.coordinator("rival")
    create_task(boss, id="first", assigned_agent="mallory")
    sub = create_task(mallory, id="next", parent_task_id="first")
    changed = ok(change_task(boss, sub, **change))
    for name, each in {"rival": rival, "boss": boss}.items():
        own = task(id="next", intent_id=f"of {name}")
        refused(each.post(TASKS, json=own), 409, "ENTRY_EXISTS")
    assert ok(boss.get(f"{TASKS}/next")) == changed


def test_an_id_that_a_coordinator_registered_is_a_conflict(
    tenant: Tenant, boss: httpx.Client
) -> None:
    made, rival = create_task(boss, id="t"), tenant.coordinator("rival")
    for each in (rival, tenant.agent("ada")):
        refused(each.post(TASKS, json=task(id="t", intent_id="own")), 409, "ENTRY_EXISTS")
    assert ok(boss.get(f"{TASKS}/t")) == made


def test_an_administrator_repairs_any_task(tenant: Tenant, boss: httpx.Client) -> None:
    mallory, alice = tenant.agents("mallory", "alice")
    unarchived = {"archive_on_completion": False}
    squatted = create_task(mallory, id="t", memory_policy=unarchived, description="hers")
    made = create(mallory, working("t", key="hers"))
    ok(grant(mallory, "t", "puppet", access="write"))
    for refusal in ({"memory_policy": {"max_entries": 1}}, {"status": "completed"}):
        refused(change_task(tenant.admin, squatted, **refusal), 403, "ACCESS_DENIED")
    repaired = ok(change_task(tenant.admin, squatted, coordinator="boss", assigned_agent="alice"))
    assert (repaired["coordinator"], repaired["assigned_agent"]) == ("boss", "alice")
    assert repaired["memory_policy"]["archive_on_completion"]
    assert "description" not in repaired
    assert queue(alice, "alice") == ["t"]
    assert ok(boss.get(f"{MEMORY}/{made['id']}")) == made
    puppet = tenant.agent("puppet")
    refused(puppet.post(MEMORY, json=working("t", key="p")), 403, "ACCESS_DENIED")
    cancelled = ok(change_task(tenant.admin, repaired, status="cancelled"))
    assert cancelled["status"] == "cancelled"


def test_an_agents_own_tasks_have_a_limit_until_they_end_or_are_adopted(
    tenant: Tenant, boss: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle_store, "MAX_OWN_TASKS", 3)
    alice = tenant.agent("alice")
    create(alice, working("written"))
    made = [create_task(alice, id=f"t{number}") for number in range(2)]
    for full in (
        alice.post(TASKS, json=task(id="t2")),
        alice.post(MEMORY, json=working("t2", key="x")),
    ):
        problem = refused(full, 429, "CAPACITY_EXCEEDED")
        assert problem["limit"] == "own_tasks"
        assert (problem["current_count"], problem["max_capacity"]) == (3, 3)
    create(alice, working("written", key="more"))
    ok(change_task(alice, made[0], status="completed"))
    create_task(alice, id="t2")
    refused(alice.post(TASKS, json=task(id="t3")), 429, "CAPACITY_EXCEEDED")
    create_task(boss, id="t2", assigned_agent="alice")
    create_task(alice, id="t3", intent_id="another")
    create_task(boss, id="given", assigned_agent="alice")
    assert len(queue(alice, "alice")) == 5


def test_entries_of_own_tasks_count_against_the_agents_limits(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice = tenant.agent("alice")
    limits = {"working": {"max_entries": 4}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=limits))
    first = create(alice, working("own_1", key="a"))
    create(alice, working("own_2", key="b"))
    create_task(alice, id="own_3")
    create(alice, working("own_3", key="c"))
    create(alice, working(key="d"))
    summary = "/api/v1/agents/alice/memory/summary"
    assert ok(alice.get(summary))["working"]["entry_count"] == 4
    for full in (working("own_1", key="e"), working(key="e"), working("own_4", key="e")):
        problem = refused(alice.post(MEMORY, json=full), 429, "CAPACITY_EXCEEDED")
        assert (problem["limit"], problem["current_count"]) == ("max_entries", 4)
    create_task(boss, id="given", assigned_agent="alice")
    create(alice, working("given", key="e"))
    assert alice.delete(f"{MEMORY}/{first['id']}").is_success
    create(alice, working(key="a"))
    own = ok(alice.get(f"{TASKS}/own_2"))
    ok(change_task(alice, own, status="completed"))
    create(alice, working("own_3", key="f"))
    assert ok(alice.get(summary))["working"]["entry_count"] == 5


def test_what_an_adopted_task_takes_from_then_on_is_the_tasks(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice = tenant.agent("alice")
    limits = {"working": {"max_entries": 1}}
    ok(tenant.admin.patch("/api/v1/agents/alice/memory/config", json=limits))
    create(alice, working("t", key="a"))
    refused(alice.post(MEMORY, json=working("t", key="b")), 429, "CAPACITY_EXCEEDED")
    adopted = create_task(boss, id="t", assigned_agent="alice")
    for key in "bc":
        create(alice, working("t", key=key))
    ok(change_task(boss, adopted, status="completed"))
    create(alice, working(key="after"))
