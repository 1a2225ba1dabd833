"""Publish events on EventBridge: a CloudEvent 1.0 in the detail, never with a value.

The bus carries the types of events that the deployment names. Other events cost no call.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from functions.events.model import EVENT_TYPES, Event, EventType
from functions.platform.aws import translate_aws_errors
from functions.platform.clock import to_rfc3339
from functions.platform.json_text import dumps
from functions.platform.settings import WrongSetting
from functions.platform.writes import split_by_size

SOURCE = "agent-memory"
MAX_CALL_EVENTS = 10  # EventBridge's limit for one call
_MAX_BYTES = 240_000  # of one call, which holds 256 KB
_ENVELOPE_BYTES = 1_000  # of an entry beside its detail, at most


class BusOnlyEvent(NamedTuple):
    """An event for operators, which is in no log; `timestamp` is epoch ms."""

    id: str
    type: EventType
    subject: str
    timestamp: int
    data: Mapping[str, Any]


class EventBus:
    """One EventBridge bus."""

    def __init__(self, client: Any, name: str, types: Collection[EventType]) -> None:
        self._client = client
        self._name = name
        self._types = frozenset(types)

    def carries(self, event_type: EventType) -> bool:
        """Tell whether events of a type are published."""
        return event_type in self._types

    def publish(self, events: Iterable[Event]) -> Iterator[list[Event]]:
        """Publish events, ten in a call; yield those of each call that the bus accepted."""
        entries = ((event, self._to_entry(event)) for event in events)
        for batch in split_by_size(entries, _get_size, _MAX_BYTES, MAX_CALL_EVENTS):
            results = self._put_events([entry for _, entry in batch])
            both = zip(batch, results, strict=True)
            yield [event for (event, _), result in both if "ErrorCode" not in result]

    def publish_bus_only(self, event: BusOnlyEvent) -> bool:
        """Publish an event that is in no log; return False if the bus rejected it."""
        if not self.carries(event.type):
            return True
        (result,) = self._put_events([self._to_entry(event)])
        return "ErrorCode" not in result

    def _put_events(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        with translate_aws_errors("the event bus"):
            results: list[dict[str, Any]] = self._client.put_events(Entries=entries)["Entries"]
        return results

    def _to_entry(self, event: Event | BusOnlyEvent) -> dict[str, Any]:
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": event.type,
            "Time": event.timestamp / 1000,
            "Detail": dumps(to_cloud_event(event)).decode(),
        }


def to_cloud_event(event: Event | BusOnlyEvent) -> dict[str, Any]:
    """Convert an event to a CloudEvent; the subject of a log's event is its entry or task.

    `traceparent` is CloudEvents' extension for distributed tracing.
    """
    subject: str | None
    if isinstance(event, BusOnlyEvent):
        subject, data = event.subject, dict(event.data)
    else:
        subject = event.data.get("entry_id", event.task_id)
        data = {
            "tenant": event.tenant,
            "agent_id": event.agent_id,
            "actor": event.actor._asdict(),
            "intent_id": event.intent_id,
            "task_id": event.task_id,
            **event.data,
        }
    traceparent = event.traceparent if isinstance(event, Event) else None
    return {
        "specversion": "1.0",
        "id": event.id,
        "source": SOURCE,
        "type": event.type,
        "subject": subject,
        "time": to_rfc3339(event.timestamp),
        "datacontenttype": "application/json",
        **({"traceparent": traceparent} if traceparent else {}),
        "data": data,
    }


def parse_event_types(text: str) -> frozenset[EventType]:
    """Parse the types of events of a bus: separated by commas, or `*` for all."""
    names = {name.strip() for name in text.split(",")}
    if names == {"*"}:
        return EVENT_TYPES
    known = frozenset(each for each in EVENT_TYPES if each in names)
    if known != names:
        raise WrongSetting(f"EVENT_BUS_TYPES must be * or some of {', '.join(sorted(EVENT_TYPES))}")
    return known


def _get_size(entry: tuple[Event, dict[str, Any]]) -> int:
    return len(entry[1]["Detail"].encode()) + _ENVELOPE_BYTES
