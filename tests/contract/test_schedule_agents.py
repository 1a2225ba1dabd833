"""The scheduled function evicts to the capacity and reconciles counters."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from functions.entries.agent_store import RECONCILE_EVERY
from functions.platform import item_types
from functions.platform.items import Item, encode
from functions.platform.keys import get_due_shard
from tests.contract.bodies import create, create_task, entry, update, working
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

HOUR = 3600


def set_on(service: Service, key: tuple[str, str], **values: Any) -> None:
    """Sets attributes of an item as nothing in the service would."""
    service.engine.client.update_item(
        TableName=service.engine.memory,
        Key={"pk": {"S": key[0]}, "sk": {"S": key[1]}},
        UpdateExpression="SET " + ", ".join(f"{name} = :{name}" for name in values),
        ExpressionAttributeValues={f":{name}": encode(value) for name, value in values.items()},
    )


def lower(service: Service, tenant: Tenant, capacity: int) -> None:
    key = item_types.AGENT.build_key(tenant.id, agent="alice")
    count = sum(item["memory_type"] == "episodic" for item in items(service, "e#"))
    due = {"due": service.clock(), "due_index": get_due_shard(key[0])}
    set_on(
        service,
        key,
        episodic_capacity=capacity,
        episodic_room=capacity - count,
        **due,
    )


def remember(client: httpx.Client, clock: MovableClock, *names: str, **fields: Any) -> None:
    for name in names:
        create(client, entry(key=name, **fields))
        clock.advance(seconds=1)


def test_a_lowered_capacity_is_reached_in_the_order_of_eviction(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    remember(alice, clock, "pinned", pinned=True)
    remember(alice, clock, "high", priority="high")
    remember(alice, clock, "old", "new")
    remember(alice, clock, "low", priority="low")
    create(alice, working(key="working"))
    lower(service, tenant, 3)
    assert sweep(service)["evicted"] == 2
    assert stored_keys(service) == ["high", "new", "pinned", "working"]
    assert count_tombstones(service) == {"evicted": 2}
    assert counters_equal_items(service)
    assert sweep(service) == {"lag_ms": 0}


def test_expired_entries_are_removed_before_any_is_evicted(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    remember(alice, clock, "old", "older")
    remember(alice, clock, "expired 1", "expired 2", ttl="duration:PT10S", priority="high")
    clock.advance(seconds=20)
    lower(service, tenant, 2)
    sweep(service)
    assert stored_keys(service) == ["old", "older"]
    assert count_tombstones(service) == {"expired": 2}
    assert counters_equal_items(service)


@pytest.mark.usefixtures("volume")
def test_a_large_excess_is_evicted_exactly(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    names = [f"{number:03}" for number in range(100)]
    remember(alice, clock, *names)
    lower(service, tenant, 7)
    first = sweeper(service)(ShortTime(looks=3))
    assert 0 < first["evicted"] < 93
    assert sweep(service)["evicted"] == 93 - first["evicted"]
    assert stored_keys(service) == names[-7:]
    assert counters_equal_items(service)


@pytest.mark.usefixtures("parallel")
def test_two_sweeps_at_once_evict_no_entry_too_many(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    remember(alice, clock, *(f"{number:03}" for number in range(50)))
    lower(service, tenant, 20)
    sweeps = [sweeper(service) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda run: run(), sweeps))
    sweep(service)
    assert stored_keys(service) == [f"{number:03}" for number in range(30, 50)]
    assert count_tombstones(service) == {"evicted": 30}
    assert counters_equal_items(service)


def test_an_agent_with_only_pinned_entries_is_retried_an_hour_later(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    made = [create(alice, entry(key=f"k{number}", pinned=True)) for number in range(3)]
    lower(service, tenant, 2)
    assert "evicted" not in sweep(service)
    ok(update(alice, made[0]["id"], 1, pinned=False))
    clock.advance(seconds=HOUR)
    assert sweep(service)["evicted"] == 1
    assert stored_keys(service) == ["k1", "k2"]
    assert counters_equal_items(service)


@pytest.mark.usefixtures("volume")
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_next_sweep_completes_an_eviction_killed_at_any_write(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock, when: When
) -> None:
    remember(alice, clock, *(f"{number:03}" for number in range(45)))
    lower(service, tenant, 5)
    snapshot = service.stored()
    sweep(service)
    undisturbed = service.state()
    seen = after_each_kill(service, snapshot, when, service.state)
    # two transactions, and the mark
    assert seen == [undisturbed] * 3


SPOILT = {
    "episodic_room": 3,
    "episodic_bytes": 99,
    "episodic_pinned_count": 7,
    "working_room": 1,
    "working_room_bytes": 2,
}


def test_counters_are_reconciled_with_entries_once_a_day(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    create_task(alice, id="task_1", assigned_agent="alice")
    create(alice, working("task_1", key="in a task"))
    create(alice, working(key="loose"))
    create(alice, entry(key="pinned", pinned=True))
    right = service.state()
    set_on(service, item_types.AGENT.build_key(tenant.id, agent="alice"), **SPOILT)
    spoil_task(service, tenant)
    assert not counters_equal_items(service)
    clock.advance(ms=RECONCILE_EVERY)
    done = sweep(service)
    assert (done["reconciled"], done["repaired"]) == (1, 2)
    assert counters_equal_items(service)
    assert len(service.state()) == len(right)
    assert sweep(service) == {"lag_ms": 0}
    create(alice, entry(key="later"))
    clock.advance(ms=RECONCILE_EVERY)
    assert sweep(service) == {"lag_ms": 0, "reconciled": 1}


def spoil_task(service: Service, tenant: Tenant) -> None:
    """Has the task count two entries and five bytes more than there are."""
    key = item_types.TASK.build_key(tenant.id, task="task_1")
    task: Item = next(item for item in items(service, "t") if item["pk"] == key[0])
    wrong = {name: n + 2 for name, n in task.items() if name.startswith("n_")}
    wrong |= {name: n + 5 for name, n in task.items() if name.startswith("bytes_")}
    set_on(
        service,
        key,
        **wrong,
        free_entries=task["free_entries"] - 2,
        free_bytes=task["free_bytes"] - 5,
    )


def reads_entries(request: dict[str, Any]) -> bool:
    """Return whether a query reads the entries themselves, not an index."""
    return "IndexName" not in request and "e#" in str(request["ExpressionAttributeValues"])


def test_a_write_during_reconciliation_is_never_undone(
    service: Service, tenant: Tenant, alice: httpx.Client, clock: MovableClock
) -> None:
    remember(alice, clock, "a", "b")
    set_on(service, item_types.AGENT.build_key(tenant.id, agent="alice"), episodic_room=5)
    clock.advance(ms=RECONCILE_EVERY)
    with faulty() as client:
        client.interrupt("query", reads_entries, lambda: create(alice, entry(key="c")))
        done = sweep(service)
    assert "repaired" not in done
    clock.advance(seconds=HOUR)
    assert sweep(service)["repaired"] == 1
    assert counters_equal_items(service)
    assert stored_keys(service) == ["a", "b", "c"]


def test_an_unchanged_agent_is_not_reconciled_again(
    service: Service, alice: httpx.Client, clock: MovableClock
) -> None:
    remember(alice, clock, "a")
    clock.advance(ms=RECONCILE_EVERY)
    assert sweep(service)["reconciled"] == 1
    clock.advance(ms=10 * RECONCILE_EVERY)
    assert sweep(service) == {"lag_ms": 0}
