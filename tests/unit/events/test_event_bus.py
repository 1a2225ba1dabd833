"""The bus: CloudEvents in tens, and what it did not take comes again."""

import json
from itertools import chain
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from functions.events.event_bus import BusOnlyEvent, EventBus, parse_event_types
from functions.events.model import EVENT_TYPES, Event, LogName
from functions.identity.model import Actor
from functions.platform.errors import Unavailable
from functions.platform.settings import StreamSettings, WrongSetting


class Recorder:
    """An EventBridge client that refuses the events of some keys."""

    def __init__(self, *refused: str) -> None:
        self.calls: list[list[dict[str, Any]]] = []
        self._refused = refused

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.calls.append(Entries)
        keys = [json.loads(entry["Detail"])["data"]["key"] for entry in Entries]
        answers = [
            {"ErrorCode": "ThrottlingException"} if key in self._refused else {"EventId": "1"}
            for key in keys
        ]
        return {"FailedEntryCount": 0, "Entries": answers}


def event(key: str) -> Event:
    data = {"entry_id": f"mem_{key}", "key": key, "version": 1}
    log, actor = LogName("agent", "ada"), Actor("boss", "coordinator")
    return Event(f"evt_{key}", "memory.created", "acme", "ada", actor, None, "t", data, 1_500, log)


def test_an_event_is_a_cloud_event() -> None:
    client = Recorder()
    assert list(EventBus(client, "bus", EVENT_TYPES).publish([event("k")])) == [[event("k")]]
    ((entry,),) = client.calls
    assert (entry["EventBusName"], entry["Source"]) == ("bus", "agent-memory")
    assert entry["DetailType"] == "memory.created"
    assert json.loads(entry["Detail"]) == {
        "specversion": "1.0",
        "id": "evt_k",
        "source": "agent-memory",
        "type": "memory.created",
        "subject": "mem_k",
        "time": "1970-01-01T00:00:01.500Z",
        "datacontenttype": "application/json",
        "data": {
            "tenant": "acme",
            "agent_id": "ada",
            "actor": {"id": "boss", "kind": "coordinator"},
            "intent_id": None,
            "task_id": "t",
            "entry_id": "mem_k",
            "key": "k",
            "version": 1,
        },
    }


def test_they_go_in_tens_and_in_order() -> None:
    client = Recorder()
    events = [event(str(number)) for number in range(23)]
    assert list(chain.from_iterable(EventBus(client, "bus", EVENT_TYPES).publish(events))) == events
    assert [len(call) for call in client.calls] == [10, 10, 3]


def test_a_call_stays_below_the_limit_of_its_size() -> None:
    client = Recorder()
    list(
        EventBus(client, "bus", EVENT_TYPES).publish(
            [event(f"{number}{'x' * 60_000}") for number in range(7)]
        )
    )
    sizes = [sum(len(entry["Detail"]) for entry in call) for call in client.calls]
    assert max(sizes) < 256_000
    assert sum(map(len, client.calls)) == 7


def test_a_refused_event_is_not_among_the_accepted() -> None:
    taken = EventBus(Recorder("b"), "bus", EVENT_TYPES).publish(map(event, "abc"))
    assert list(taken) == [[event("a"), event("c")]]


def test_a_bus_that_cannot_be_reached_is_unavailable() -> None:
    class Gone:
        def put_events(self, **_: Any) -> None:
            raise EndpointConnectionError(endpoint_url="https://events")

    with pytest.raises(Unavailable):
        list(EventBus(Gone(), "bus", EVENT_TYPES).publish([event("k")]))


def test_the_bus_carries_the_types_that_are_named() -> None:
    default = StreamSettings(memory_table="m", log_table="l").event_bus_types
    assert parse_event_types(default) == {"memory.archived", "memory.evicted", "quota.warning"}
    assert parse_event_types("memory.created, memory.deleted") == {
        "memory.created",
        "memory.deleted",
    }
    assert parse_event_types("*") == EVENT_TYPES
    with pytest.raises(WrongSetting, match="EVENT_BUS_TYPES"):
        parse_event_types("memory.created,memory.gone")


def test_an_event_of_another_type_is_no_call() -> None:
    client = Recorder()
    bus = EventBus(client, "bus", ["memory.evicted"])
    assert not bus.carries("quota.warning")
    assert bus.publish_bus_only(BusOnlyEvent("evt_1", "quota.warning", "episodes", 1, {}))
    assert client.calls == []
