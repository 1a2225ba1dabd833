"""Test that a slow, hot or failing record delays no other of its batch (RFC-0015 §5)."""

from collections.abc import Callable
from threading import Event
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from botocore.exceptions import EndpointConnectionError

from functions.platform import item_types
from functions.platform.aws import create_client
from tests.contract.bodies import MEMORY, create, entry
from tests.contract.expect import ok
from tests.contract.service import Service, Tenant
from tests.contract.streaming import (
    FakeEventBridge,
    Json,
    Stream,
    log,
    sequence,
    stream_function,
    summarize,
)
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
Deliver = Callable[[list[Json]], list[str]]
_TIMEOUT = 10  # seconds; only a defect takes as long


class WatchedClient:
    """A client of DynamoDB that notes its calls, and has some wait for others.

    Attributes:
        calls: operation and partition of each call, in the order in which they begin.
        waits: what the calls whose operation and partition it is true of wait for.
        signals: what the calls set when they have ended.
    """

    def __init__(self) -> None:
        self._client = create_client("dynamodb")
        self.calls: list[tuple[str, str]] = []
        self.waits: list[tuple[Callable[[str, str], bool], Event]] = []
        self.signals: list[tuple[Callable[[str, str], bool], Event]] = []

    def __getattr__(self, operation: str) -> Any:
        """The client's own call, watched."""

        def call(**request: Any) -> Any:
            name = operation, _partition_of(request)
            self.calls.append(name)
            for is_it, event in self.waits:
                assert not is_it(*name) or event.wait(_TIMEOUT)
            response = getattr(self._client, operation)(**request)
            for is_it, event in self.signals:
                if is_it(*name):
                    event.set()
            return response

        return call


def _partition_of(request: Json) -> str:
    if "Item" in request:
        return str(request["Item"]["pk"]["S"])
    return str(request.get("ExpressionAttributeValues", {}).get(":pk", {}).get("S", ""))


@pytest.fixture
def client(service: Service) -> WatchedClient:  # noqa: ARG001 - sets the endpoint
    return WatchedClient()


def deliver_by(service: Service, client: WatchedClient, **settings: Any) -> Deliver:
    """The stream function, with a client that is watched."""
    with patch("functions.container.create_client", return_value=client):
        return stream_function(service, **settings)


def test_a_log_gets_one_append_for_a_whole_batch(
    service: Service, tenant: Tenant, client: WatchedClient
) -> None:
    ada, stream = tenant.agent("ada"), Stream(service)
    deliver = deliver_by(service, client, stream_consumers="events")
    create(ada, entry(key="first"))
    assert deliver(stream.read()) == []
    client.calls.clear()
    for number in range(100):
        create(ada, entry(key=str(number)))
    assert deliver(stream.read()) == []
    assert [operation for operation, _ in client.calls] == ["query", "put_item"]
    expected = [f"created {key} 1" for key in ("first", *map(str, range(100)))]
    assert summarize(log(ada, "agents/ada", limit=200)) == expected


def test_a_slow_log_holds_up_no_other_log(
    service: Service, tenant: Tenant, client: WatchedClient
) -> None:
    ada, eve = tenant.agents("ada", "eve")
    stream, is_eve_done = Stream(service), Event()
    for each in (ada, eve):
        create(each, entry())
    slow, other = (
        item_types.AGENT.build_partition(tenant.id, agent=name) for name in ("ada", "eve")
    )
    client.waits = [(lambda operation, pk: (operation, pk) == ("query", slow), is_eve_done)]
    client.signals = [(lambda operation, pk: (operation, pk) == ("put_item", other), is_eve_done)]
    assert deliver_by(service, client, stream_consumers="events")(stream.read()) == []
    assert len(log(ada, "agents/ada")) == len(log(eve, "agents/eve")) == 1


def test_a_slow_consumer_holds_up_no_other(
    service: Service, tenant: Tenant, client: WatchedClient
) -> None:
    ada, stream, is_logged = tenant.agent("ada"), Stream(service), Event()
    create(ada, entry())
    of_log = item_types.AGENT.build_partition(tenant.id, agent="ada")
    client.waits = [(lambda _, pk: pk.startswith(f"{tenant.id}#va#"), is_logged)]
    client.signals = [(lambda operation, pk: (operation, pk) == ("put_item", of_log), is_logged)]
    assert deliver_by(service, client)(stream.read()) == []
    is_embedded = Event()
    ok(ada.patch(f"{MEMORY}/{_only_id(ada)}", json={"value": {"n": 9}}, headers={"If-Match": "1"}))
    client.waits = [(lambda operation, pk: (operation, pk) == ("put_item", of_log), is_embedded)]
    client.signals = [(lambda _, pk: pk.startswith(f"{tenant.id}#va#"), is_embedded)]
    assert deliver_by(service, client)(stream.read()) == []
    assert summarize(log(ada, "agents/ada")) == ["created k 1", "updated k 2"]


def _only_id(client: httpx.Client) -> str:
    (found,) = ok(client.get(MEMORY, params={"memory_type": "episodic"}))["entries"]
    return str(found["id"])


def test_a_tenant_with_ten_times_the_events_is_served_by_turns(
    service: Service, client: WatchedClient
) -> None:
    """All logs of the one wait until those of the other are written, which no thread is left to
    do if the one comes first."""
    hog, other = service.tenant(), service.tenant()
    stream, is_other_done = Stream(service), Event()
    for tenant, count in ((hog, 40), (other, 4)):
        for number in range(count):
            create(tenant.admin, entry(key=str(number), scope={"intent_id": f"i{number}"}))

    def ends_the_others(operation: str, pk: str) -> bool:
        puts = [each for each in client.calls if each[0] == "put_item" and _is_of(other, each[1])]
        return operation == "put_item" and _is_of(other, pk) and len(puts) == 2 * 4

    client.waits = [(lambda operation, pk: operation == "query" and _is_of(hog, pk), is_other_done)]
    client.signals = [(ends_the_others, is_other_done)]
    assert deliver_by(service, client, stream_consumers="events")(stream.read()) == []
    assert len(log(other.admin, "intents/i3")) == len(log(hog.admin, "intents/i39")) == 1


def _is_of(tenant: Tenant, partition: str) -> bool:
    return partition.startswith(f"{tenant.id}#")


def test_a_bus_out_of_reach_holds_up_no_log(service: Service, tenant: Tenant) -> None:
    stream = Stream(service)
    made = [create(tenant.admin, entry(key=key)) for key in "ab"]
    records = stream.read()
    entries = [each for each in records if each["dynamodb"]["Keys"]["sk"]["S"].startswith("e#")]
    failed = stream_function(service, UnreachableEventBridge(), event_bus_types="*")(records)
    assert failed == [sequence(each) for each in entries]
    assert len(log(tenant.admin, "agents/admin")) == len(made)
    bus = FakeEventBridge()
    assert stream_function(service, bus, event_bus_types="*")(records) == []
    assert len(bus.accepted) == len(log(tenant.admin, "agents/admin")) == len(made)


class UnreachableEventBridge(FakeEventBridge):
    """An EventBridge client that gets no connection."""

    def put_events(self, **_: Any) -> Json:
        """Fail, as boto3's client does."""
        raise EndpointConnectionError(endpoint_url="https://events.invalid")


def test_the_bus_carries_what_somebody_subscribes_to(
    service: Service, tenant: Tenant, clock: MovableClock, client: WatchedClient
) -> None:
    ok(tenant.admin.patch("/api/v1/agents/ada/memory/config", json={"episodic": {"capacity": 1}}))
    ada, stream, bus = tenant.agent("ada"), Stream(service), FakeEventBridge()
    for key in "ab":
        create(ada, entry(key=key))
        clock.advance(seconds=1)
    records = stream.read()
    deliver = deliver_by(service, client, event_bridge=bus, stream_consumers="events")
    assert deliver(records) == deliver(records) == []
    assert [each["type"] for each in bus.accepted] == ["memory.evicted"]
    marks = [pk for operation, pk in client.calls if operation == "batch_write_item"]
    assert len(marks) == 1
    assert len(log(ada, "agents/ada")) == 3
