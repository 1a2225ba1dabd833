"""Intents: who owns them, uses them and reads their logs."""

from concurrent.futures import ThreadPoolExecutor
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
    semantic,
    task,
    working,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, log, stream_function, summarize
from tests.contract.transport import MovableClock

INTENT = "/api/v1/intents/intent_1"
ACL, OWNER = f"{INTENT}/acl", f"{INTENT}/owner"
SCOPE = {"intent_id": "intent_1"}
INHERIT = {"memory_policy": {"inherit_from_parent": True}}


def acl(**access: str) -> dict[str, Any]:
    return {"entries": [{"principal": who, "access": level} for who, level in access.items()]}


@pytest.mark.parametrize("body", [entry(), working()])
def test_taking_part_in_a_task_opens_its_intent(
    tenant: Tenant, boss: httpx.Client, body: dict[str, object]
) -> None:
    alice = tenant.agent("alice")
    create_task(boss, assigned_agent="alice")
    assert (
        create(alice, body | {"scope": {"intent_id": "intent_1"}})["scope"]["intent_id"]
        == "intent_1"
    )


def test_an_acl_opens_an_intent(tenant: Tenant, boss: httpx.Client) -> None:
    create_task(boss)
    reader, writer = tenant.coordinator("reader"), tenant.coordinator("writer")
    entries = [
        {"principal": "reader", "access": "read"},
        {"principal": "writer", "access": "write"},
    ]
    assert ok(boss.put(ACL, json={"entries": entries}))["entries"] == entries
    assert ok(boss.get(ACL))["entries"] == entries
    refused(reader.post(TASKS, json=task()), 403, "ACCESS_DENIED")
    create_task(writer)
    assert len(ok(reader.get("/api/v1/intents/intent_1/tasks"))) == 2
    ok(boss.put(ACL, json={"entries": []}))
    assert ok(reader.get("/api/v1/intents/intent_1/tasks")) == []


def test_an_acl_opens_no_memory(tenant: Tenant, boss: httpx.Client) -> None:
    alice, pat = tenant.agent("alice"), tenant.coordinator("pat")
    create_task(boss, id="t", assigned_agent="alice")
    made = create(alice, working("t"))
    ok(boss.put(ACL, json=acl(pat="write")))
    create_task(pat, assigned_agent="pat")
    for answer in (
        read(pat, made["id"]),
        grant(pat, "t", "pat", access="read"),
        pat.post(TASKS, json=task(parent_task_id="t", assigned_agent="pat", **INHERIT)),
    ):
        refused(answer, 403, "ACCESS_DENIED")
    assert query(pat, intent_id="intent_1") == []


@pytest.mark.parametrize(
    "squat",
    [
        lambda agent: agent.post(TASKS, json=task(id="x1")),
        lambda agent: agent.post(MEMORY, json=entry(scope=SCOPE)),
        lambda agent: agent.post(MEMORY, json=working("x1", scope={"task_id": "x1"} | SCOPE)),
    ],
)
def test_an_agent_that_names_an_intent_first_gains_nothing(
    tenant: Tenant, boss: httpx.Client, squat: Any
) -> None:
    mallory = tenant.agent("mallory")
    ok(squat(mallory), 201)
    refused(mallory.put(ACL, json=acl(boss="write")), 403, "ACCESS_DENIED")
    refused(mallory.get(ACL), 403, "ACCESS_DENIED")
    create_task(boss, id="pay1", assigned_agent="alice")
    assert ok(boss.get(ACL))["owner"] == "boss"
    refused(mallory.get(f"{INTENT}/events"), 403, "ACCESS_DENIED")
    refused(mallory.post(MEMORY, json=entry(key="x", scope=SCOPE)), 403, "ACCESS_DENIED")
    refused(mallory.post(TASKS, json=task(id="x2")), 403, "ACCESS_DENIED")


@pytest.mark.in_process
def test_an_agent_sees_its_own_events_in_an_intent_without_owner(
    tenant: Tenant, service: Service, boss: httpx.Client
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    alice, bob = tenant.agents("alice", "bob")
    create(alice, entry(key="hers", scope=SCOPE))
    create(bob, entry(key="his", scope=SCOPE))
    assert deliver(stream.read()) == []
    assert summarize(log(alice, "intents/intent_1")) == ["created hers 1"]
    assert ok(tenant.agent("eve").get(f"{INTENT}/events"))["events"] == []
    refused(boss.get(f"{INTENT}/events"), 403, "ACCESS_DENIED")
    assert len(log(tenant.admin, "intents/intent_1")) == 2
    create_task(boss)
    assert len(log(boss, "intents/intent_1")) == 2


def test_a_coordinator_follows_an_agents_first_write(tenant: Tenant, boss: httpx.Client) -> None:
    alice = tenant.agent("alice")
    made = create(alice, working("task_47", scope={"task_id": "task_47"} | SCOPE))
    adopted = create_task(boss, id="task_47", assigned_agent="alice")
    assert ok(boss.get(f"{MEMORY}/{made['id']}")) == made
    ended = ok(change_task(boss, adopted, status="completed"))
    (event,) = log(boss, "intents/intent_1", type="memory.archived")
    assert [line["value"] for line in event["data"]["snapshot"]] == [made["value"]]
    assert ended["status"] == "completed"


@pytest.mark.parametrize(
    "name",
    [
        lambda who: who.put(ACL, json=acl(alice="write")),
        lambda who: who.post(MEMORY, json=entry(scope=SCOPE)),
        lambda who: who.post(MEMORY, json=semantic(scope=SCOPE)),
    ],
)
def test_a_coordinator_owns_what_it_names_first(
    tenant: Tenant, boss: httpx.Client, name: Any
) -> None:
    assert name(boss).status_code in (200, 201)
    assert ok(boss.get(ACL))["owner"] == "boss"
    refused(tenant.coordinator("rival").put(ACL, json=acl()), 403, "ACCESS_DENIED")


def test_an_administrator_puts_the_owner_in_place(tenant: Tenant, boss: httpx.Client) -> None:
    rival = tenant.coordinator("rival")
    create_task(rival)
    refused(boss.put(OWNER, json={"principal": "boss"}), 403, "ACCESS_DENIED")
    tenant.agent("alice")
    for nobody in ("alice", "unknown"):
        invalid(tenant.admin.put(OWNER, json={"principal": nobody}), "principal")
    moved = ok(tenant.admin.put(OWNER, json={"principal": "boss"}))
    assert (moved["intent_id"], moved["owner"]) == ("intent_1", "boss")
    assert ok(boss.put(ACL, json=acl(alice="read")))["owner"] == "boss"
    refused(rival.put(ACL, json=acl()), 403, "ACCESS_DENIED")
    early = "/api/v1/intents/intent_2"
    ok(tenant.admin.put(f"{early}/owner", json={"principal": "boss"}))
    refused(rival.post(TASKS, json=task(intent_id="intent_2")), 403, "ACCESS_DENIED")


def test_a_snapshots_values_are_for_owner_access_list_and_the_agent(
    tenant: Tenant, boss: httpx.Client
) -> None:
    alice, bob, reader = tenant.agents("alice", "bob", "reader")
    made = create_task(boss, id="t", assigned_agent="alice")
    create_task(boss, id="other", assigned_agent="bob")
    create(alice, working("t", value={"salary": 1}))
    ok(boss.put(ACL, json=acl(reader="read")))
    ok(change_task(boss, made, status="completed"))

    def shown(who: httpx.Client) -> list[Any]:
        (event,) = log(who, "intents/intent_1", type="memory.archived")
        return [line.get("value") for line in event["data"]["snapshot"]]

    for who in (boss, alice, reader):
        assert shown(who) == [{"salary": 1}]
    for who in (bob, tenant.admin):
        assert shown(who) == [None]


def test_intents_are_listed_for_those_who_may_read_them(
    tenant: Tenant, boss: httpx.Client, clock: MovableClock
) -> None:
    alice, reader = tenant.agents("alice", "reader")
    path = "/api/v1/intents"
    create(alice, entry(scope={"intent_id": "agents"}))
    clock.advance(seconds=1)
    create_task(boss, assigned_agent="alice")
    clock.advance(seconds=1)
    ok(boss.put(f"{path}/listed/acl", json=acl(reader="read")))

    def listed(who: httpx.Client) -> list[tuple[str, str | None]]:
        page = ok(who.get(path))
        assert page["total"] == len(page["intents"])
        return [(each["intent_id"], each["owner"]) for each in page["intents"]]

    assert listed(tenant.admin) == [("listed", "boss"), ("intent_1", "boss"), ("agents", None)]
    assert listed(boss) == [("listed", "boss"), ("intent_1", "boss")]
    assert listed(alice) == [("intent_1", "boss")]
    assert listed(reader) == [("listed", "boss")]
    assert listed(tenant.coordinator("rival")) == []
    first = ok(boss.get(path, params={"limit": 1}))
    rest = ok(boss.get(path, params={"limit": 1, "after": first["next"]}))
    assert [each["intent_id"] for each in rest["intents"]] == ["intent_1"]


@pytest.mark.usefixtures("parallel")
def test_of_many_coordinators_one_owns_the_intent(tenant: Tenant) -> None:
    rivals = [tenant.coordinator(f"c{number}") for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda who: who.post(TASKS, json=task()), rivals))
    assert sorted(each.status_code for each in answers) == [201, *[403] * 5]
    (won,) = (who for who, each in zip(rivals, answers, strict=True) if each.is_success)
    assert ok(won.get(ACL))["owner"] == ok(won.get(f"{INTENT}/tasks"))[0]["coordinator"]
