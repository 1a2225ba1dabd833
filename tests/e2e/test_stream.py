"""Test that the stream reports each write in the log and on the bus, in order and once."""

import json

from tests.contract.bodies import MEMORY, change_task, create, create_task, entry, update, working
from tests.contract.expect import assert_no_content, ok
from tests.contract.search_calls import search
from tests.contract.service import Tenant
from tests.contract.streaming import log, summarize
from tests.e2e.bus import listening
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E
from tests.e2e.waiting import awaited

pytestmark = E2E
HUSH = "hush-hush"


def test_the_events_of_an_entry_are_in_the_log_and_on_the_bus(
    deployment: Deployment, tenant: Tenant
) -> None:
    """The bus carries the types that somebody subscribes to: evictions, by default."""
    ada = tenant.agent("ada")
    ok(tenant.admin.patch("/api/v1/agents/ada/memory/config", json={"episodic": {"capacity": 1}}))
    with listening(deployment, tenant.id) as bus:
        made = create(ada, entry(key="k", value={"secret": HUSH}))
        ok(update(ada, made["id"], 1, value={"secret": HUSH, "n": 2}))
        create(ada, entry(key="l", value={"secret": HUSH}))
        logged = awaited(lambda: told_all(log(ada, "agents/ada"), 4), "the log's fourth event")
        heard = awaited(lambda: told_all(bus.hear(), 1), "the bus's event")
    assert summarize(logged)[:2] == ["created k 1", "updated k 2"]
    assert sorted(summarize(logged)[2:]) == ["created l 1", "evicted k 2"]
    (evicted,) = [each for each in logged if each["type"] == "memory.evicted"]
    assert [each["id"] for each in heard] == [evicted["id"]]
    assert HUSH not in json.dumps([logged, heard])


def told_all(events: list[dict[str, object]], count: int) -> list[dict[str, object]]:
    """Return the events once there are `count` of them, and none before."""
    return events if len(events) >= count else []


def test_what_is_written_is_found_by_meaning_and_what_is_deleted_is_not(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    made = create(ada, entry(key="tea", value={"text": "likes a cup of green tea"}))
    create(ada, entry(key="car", value={"text": "drives a red sports car"}))
    found = awaited(
        lambda: each if len(each := search(ada, "a hot drink")) == 2 else [], "the second vector"
    )
    assert [each["entry"]["key"] for each in found] == ["tea", "car"]
    assert_no_content(ada.delete(f"{MEMORY}/{made['id']}"))
    assert [each["entry"]["key"] for each in search(ada, "a hot drink")] == ["car"]


def test_a_tasks_memory_is_archived_in_the_log_and_announced_on_the_bus(
    deployment: Deployment, tenant: Tenant
) -> None:
    ada, boss = tenant.agent("ada"), tenant.coordinator("boss")
    task = create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    create(ada, working("t", key="kept", value={"secret": HUSH}))
    with listening(deployment, tenant.id) as bus:
        ok(change_task(boss, task, status="completed"))
        (logged,) = log(boss, "intents/i", type="memory.archived")
        announced = awaited(
            lambda: [each for each in bus.hear() if each["type"] == "memory.archived"],
            "the announcement",
        )
    (archived,) = announced
    assert (archived["id"], archived["subject"]) == (logged["id"], "t")
    assert HUSH in json.dumps(logged)
    assert HUSH not in json.dumps(announced)


def test_many_concurrent_writes_have_one_event_each(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    keys = [f"k{number}" for number in range(40)]
    entries = [entry(key=key) for key in keys]
    ok(ada.post(f"{MEMORY}/batch", json={"entries": entries}))
    logged = awaited(lambda: told_all(log(ada, "agents/ada"), len(keys)), "the last event")
    assert sorted(summarize(logged)) == sorted(f"created {key} 1" for key in keys)
