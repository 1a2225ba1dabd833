"""The event bus gets every event once, archived memory's too, and never a value."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.bodies import change_task, create, create_task, entry, working
from tests.contract.expect import ok
from tests.contract.service import Service, Tenant
from tests.contract.streaming import FakeEventBridge, Json, Stream, log, sequence, stream_function

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
Deliver = Callable[[list[Json]], list[str]]
HUSH = "hush-hush"


@pytest.fixture
def bus() -> FakeEventBridge:
    return FakeEventBridge()


@pytest.fixture
def deliver(service: Service, bus: FakeEventBridge) -> Deliver:
    return stream_function(service, bus, event_bus_types="*")


def secret(key: str) -> dict[str, Any]:
    """Return a create body with a secret value."""
    return entry(key=key, value={"secret": HUSH})


def test_a_replay_publishes_nothing_again(
    service: Service, tenant: Tenant, deliver: Deliver, bus: FakeEventBridge
) -> None:
    stream = Stream(service)
    for number in range(25):
        create(tenant.admin, secret(str(number)))
    records = stream.read()
    for _ in range(2):
        assert deliver(records) == []
    logged = log(tenant.admin, "agents/admin")
    assert [each["id"] for each in bus.accepted] == [each["id"] for each in logged]
    assert HUSH not in json.dumps(bus.accepted)


def test_an_event_that_the_bus_refuses_is_published_again(
    service: Service, tenant: Tenant, deliver: Deliver, bus: FakeEventBridge
) -> None:
    stream = Stream(service)
    for key in "abc":
        create(tenant.admin, secret(key))
    records = stream.read()
    entries = [each for each in records if each["dynamodb"]["Keys"]["sk"]["S"].startswith("e#")]
    bus.refused = {"b"}
    assert deliver(records) == [sequence(entries[1])]
    bus.refused = set()
    assert deliver(records[records.index(entries[1]) :]) == []
    assert [each["data"]["key"] for each in bus.accepted] == ["a", "c", "b"]
    assert len(log(tenant.admin, "agents/admin")) == 3


def test_archived_memory_is_announced_without_its_snapshot(
    service: Service, tenant: Tenant, deliver: Deliver, bus: FakeEventBridge
) -> None:
    stream = Stream(service)
    ada, boss = tenant.agent("ada"), tenant.coordinator("boss")
    task = create_task(boss, id="t", intent_id="i", assigned_agent="ada")
    for key in "ab":
        create(ada, working("t", key=key, value={"secret": HUSH}))
    ok(change_task(boss, task, status="completed"))
    records = stream.read()
    for _ in range(2):
        assert deliver(records) == []
    (archived,) = [each for each in bus.accepted if each["type"] == "memory.archived"]
    (logged,) = log(boss, "intents/i", type="memory.archived")
    assert (archived["id"], archived["subject"]) == (logged["id"], "t")
    assert archived["data"]["entries_archived"] == 2
    assert HUSH not in json.dumps(bus.accepted)
    assert HUSH in json.dumps(logged)
