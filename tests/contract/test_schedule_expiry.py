"""RFC-0015 §9.3: the scheduled function removes expired entries."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from benchmarks.capacity import Call, recorded
from functions.platform.keys import DUE_SHARDS
from tests.contract.bodies import BATCH, MEMORY, create, create_task, entry, semantic, working
from tests.contract.expect import ok
from tests.contract.faults import When, faulty
from tests.contract.service import Service, Tenant
from tests.contract.sweeping import (
    ShortTime,
    after_each_kill,
    count_tombstones,
    counters_equal_items,
    items,
    stored_keys,
    sweep,
    sweeper,
)
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.in_process

SOON = {"ttl": "duration:PT10S"}


@pytest.fixture
def alice(tenant: Tenant) -> httpx.Client:
    return tenant.user("alice")


def fill(client: httpx.Client, count: int, body: dict[str, Any], name: str = "k") -> None:
    """Create this number of entries."""
    for first in range(0, count, 20):
        numbers = range(first, min(first + 20, count))
        bodies = [body | {"key": f"{name}{number}"} for number in numbers]
        ok(client.post(BATCH, json={"entries": bodies}))


def test_expired_entries_are_removed_and_others_stay(
    service: Service, alice: httpx.Client, clock: MovableClock
) -> None:
    create_task(alice, id="task_1", assigned_agent="alice")
    for number, body in enumerate((working(), working("task_1"), entry(), entry(pinned=True))):
        create(alice, body | {"key": f"gone {number}"} | SOON)
        create(alice, body | {"key": f"kept {number}"})
    create(alice, semantic(key="gone 4", tags=["a", "b"]) | SOON)
    create(alice, semantic(key="kept 4", tags=["a"]))
    clock.advance(seconds=10, ms=-1)
    assert sweep(service) == {"lag_ms": 0}
    clock.advance(seconds=1)
    done = sweep(service)
    assert (done["expired"], done["lag_ms"]) == (5, 999)
    assert stored_keys(service) == [f"kept {number}" for number in range(5)]
    assert len(items(service, "x#")) == 2
    assert count_tombstones(service) == {"expired": 5}
    assert counters_equal_items(service)
    assert sweep(service) == {"lag_ms": 0}


def test_sensitive_and_large_entries_are_removed_likewise(
    service: Service, alice: httpx.Client, clock: MovableClock
) -> None:
    large = {"text": "long " * 10_000}
    create(alice, entry(key="sealed", sensitivity="restricted") | SOON)
    create(alice, entry(key="large", value=large) | SOON)
    create(alice, semantic(key="many tags", tags=[f"tag {n}" for n in range(50)]) | SOON)
    create(alice, semantic(key="as many tags", tags=[f"tag {n}" for n in range(50)]) | SOON)
    clock.advance(seconds=10)
    assert sweep(service)["expired"] == 4
    assert stored_keys(service) == [item["sk"] for item in items(service, "x#")] == []


def test_an_entry_whose_expiry_was_extended_stays(
    service: Service, alice: httpx.Client, clock: MovableClock
) -> None:
    made = create(alice, entry() | SOON)
    change = {"ttl": "duration:PT1H"}
    ok(alice.patch(f"{MEMORY}/{made['id']}", json=change, headers={"If-Match": "1"}))
    clock.advance(seconds=10)
    sweep(service)
    assert stored_keys(service) == ["k"]


@pytest.mark.usefixtures("volume")
def test_the_cost_follows_what_is_due_and_not_what_is_stored(
    service: Service, clock: MovableClock
) -> None:
    alice = service.tenant().user("alice")
    few = cost_of_ten_due(service, alice, clock, stored=100)
    many = cost_of_ten_due(service, alice, clock, stored=500)
    assert few == many
    # the shards, the ten, their removal; once, what embeds
    assert few["calls"] <= len(DUE_SHARDS) + 1 + 1 + 1


def cost_of_ten_due(
    service: Service, client: httpx.Client, clock: MovableClock, stored: int
) -> dict[str, float]:
    """Calls and capacity units of a sweep that finds ten entries due."""
    have = len(stored_keys(service))
    fill(client, stored - have, semantic(), name=f"{stored} ")
    fill(client, 10, entry() | SOON, name="due ")
    clock.advance(seconds=10)
    with faulty() as counted, recorded(counted) as calls:
        assert sweep(service)["expired"] == 10
    return spent(calls)


def spent(calls: list[Call]) -> dict[str, float]:
    return {
        "calls": len(calls),
        "write": sum(call.write + call.index_write for call in calls),
        "read": sum(call.read + call.index_read for call in calls),
    }


@pytest.mark.usefixtures("parallel")
def test_two_sweeps_at_once_do_what_one_does(
    service: Service, alice: httpx.Client, tenant: Tenant, clock: MovableClock
) -> None:
    bob = tenant.agent("bob")
    for client in (alice, bob):
        fill(client, 60, entry() | SOON)
        fill(client, 40, working() | SOON, name="w")
    fill(alice, 40, semantic(tags=["a"]) | SOON)
    clock.advance(seconds=10)
    sweeps = [sweeper(service, threads=8) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda run: run(), sweeps))
    assert sum(each.get("expired", 0) for each in done) == 240
    assert not any(each.get("failed") for each in done)
    assert stored_keys(service) == []
    assert count_tombstones(service) == {"expired": 240}
    assert counters_equal_items(service)


def test_the_next_sweep_resumes_one_that_ran_out_of_time(
    service: Service, alice: httpx.Client, tenant: Tenant, clock: MovableClock
) -> None:
    agents = [alice, *tenant.agents("bob", "carol", "dave")]
    for agent in agents:
        fill(agent, 20, entry() | SOON)
    clock.advance(seconds=10)
    first = sweeper(service)(ShortTime(looks=1))
    assert first["stopped"] > 0
    assert 0 < first["expired"] < 80
    assert len(stored_keys(service)) == 80 - first["expired"]
    assert sweep(service)["expired"] == 80 - first["expired"]
    assert stored_keys(service) == []
    assert counters_equal_items(service)


def test_one_tenants_flood_delays_no_other_tenant(
    service: Service, alice: httpx.Client, clock: MovableClock
) -> None:
    for number in range(6):
        fill(alice, 40, semantic(namespace=f"n{number}") | SOON)
    clock.advance(seconds=1)
    other = service.tenant()
    create(other.user("bob"), entry(key="bob's") | SOON)
    clock.advance(seconds=10)
    swept = sweeper(service)(ShortTime(looks=8))
    assert "stopped" in swept
    left = stored_keys(service)
    assert left
    assert "bob's" not in left


def test_parts_together_sweep_all(
    service: Service, alice: httpx.Client, tenant: Tenant, clock: MovableClock
) -> None:
    for agent in [alice, *tenant.agents("bob", "carol", "dave")]:
        fill(agent, 5, entry() | SOON)
    clock.advance(seconds=10)
    run = sweeper(service)
    done = [run(event={"part": part, "parts": 3}) for part in range(3)]
    assert sum(each.get("expired", 0) for each in done) == 20
    assert stored_keys(service) == []


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_next_sweep_completes_one_that_was_killed_at_any_write(
    service: Service, alice: httpx.Client, tenant: Tenant, clock: MovableClock, when: When
) -> None:
    create_task(alice, id="task_1", assigned_agent="alice")
    bob = tenant.agent("bob")
    for client in (alice, bob):
        fill(client, 3, entry() | SOON)
        fill(client, 2, working() | SOON, name="w")
    fill(alice, 2, working("task_1") | SOON, name="t")
    fill(alice, 3, semantic(tags=["a"]) | SOON)
    clock.advance(seconds=10)
    snapshot = service.stored()
    sweep(service)
    undisturbed = service.state()
    seen = after_each_kill(service, snapshot, when, service.state)
    assert seen == [undisturbed] * 2  # one transaction of what a task counts, one of the rest


def test_an_unreadable_entry_does_not_stop_the_others(
    service: Service, alice: httpx.Client, clock: MovableClock
) -> None:
    fill(alice, 5, entry() | SOON)
    broken = items(service, "e#")[2]
    service.engine.client.update_item(
        TableName=service.engine.memory,
        Key={"pk": {"S": broken["pk"]}, "sk": {"S": broken["sk"]}},
        UpdateExpression="REMOVE value_bytes",
    )
    clock.advance(seconds=10)
    done = sweep(service)
    assert (done["expired"], done["failed"]) == (4, 1)
    assert stored_keys(service) == [broken["key"]]


@pytest.mark.usefixtures("volume")
def test_many_short_lives(service: Service, tenant: Tenant, clock: MovableClock) -> None:
    """Many entries of every kind come and go; counters equal items at every check."""
    agents = [tenant.user(f"agent-{number}") for number in range(2)]
    for number, agent in enumerate(agents):
        task = {"id": f"task_{number}", "intent_id": f"intent_{number}"}
        create_task(agent, **task, assigned_agent=f"agent-{number}")
    swept, run = 0, sweeper(service)
    for minute in range(24):
        for number, agent in enumerate(agents):
            ok(agent.post(BATCH, json={"entries": short_lives(minute, number)}))
        clock.advance(seconds=60)
        swept += run().get("expired", 0)
        if minute % 12 == 11:
            assert counters_equal_items(service)
    clock.advance(seconds=600)
    assert swept + run()["expired"] == 24 * 2 * 4 * 2
    assert stored_keys(service) == []
    assert counters_equal_items(service)


def short_lives(minute: int, number: int) -> list[dict[str, Any]]:
    """Two entries of each kind that live for some minutes."""
    ttl = f"duration:PT{1 + (minute * 7 + number) % 9}M"
    shared = semantic(namespace=f"facts {number}", tags=["t"])
    kinds = entry(), working(), working(f"task_{number}"), shared
    return [
        body | {"ttl": ttl, "key": f"{minute} {kind} {n}"}
        for kind, body in enumerate(kinds)
        for n in range(2)
    ]
