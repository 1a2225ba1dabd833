"""Events on the EventBridge bus, as CloudEvents 1.0 in the detail; values never."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from functions.event_log.model import Event
from functions.platform.clock import to_rfc3339
from functions.platform.errors import Unavailable
from functions.platform.json_text import dumps

SOURCE = "agent-memory"
_AT_ONCE = 10  # EventBridge's limit for one call
_MOST_BYTES = 240_000  # of one call, which holds 256 KB
_ENVELOPE = 1_000  # bytes of an entry beside its detail, at most


@dataclass(frozen=True, slots=True)
class Notice:
    """Something for the operator that is in no log; `timestamp` is epoch ms."""

    id: str
    type: str
    subject: str
    timestamp: int
    data: Mapping[str, Any]


class Bus:
    """One event bus."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name

    def publish(self, events: Iterable[Event]) -> Iterator[list[Event]]:
        """Publishes events, some at a time; gives those that the bus took.

        Raises:
            Unavailable: the bus can't be reached; what came back before, it took.
        """
        for chunk in _chunks(
            (event, self._entry(event.type, event.timestamp, detail(event))) for event in events
        ):
            answers = self._put([entry for _, entry in chunk])
            both = zip(chunk, answers, strict=True)
            yield [event for (event, _), answer in both if "ErrorCode" not in answer]

    def tell(self, notice: Notice) -> bool:
        """Publishes a notice; whether the bus took it.

        Raises:
            Unavailable: the bus can't be reached.
        """
        entry = self._entry(notice.type, notice.timestamp, notice_detail(notice))
        (answer,) = self._put([entry])
        return "ErrorCode" not in answer

    def _put(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        try:
            answers: list[dict[str, Any]] = self._client.put_events(Entries=entries)["Entries"]
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("the event bus did not answer") from error
        return answers

    def _entry(self, kind: str, timestamp: int, detail: dict[str, Any]) -> dict[str, Any]:
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": kind,
            "Time": timestamp / 1000,
            "Detail": dumps(detail).decode(),
        }


def detail(event: Event) -> dict[str, Any]:
    """An event as a CloudEvent; its subject is the entry, or the task whose memory it is."""
    where = {
        "tenant": event.tenant,
        "agent_id": event.agent,
        "intent_id": event.intent,
        "task_id": event.task,
    }
    subject = event.data.get("entry_id", event.task)
    return _cloud_event(event.id, event.type, subject, event.timestamp, where | event.data)


def notice_detail(notice: Notice) -> dict[str, Any]:
    """A notice as a CloudEvent."""
    return _cloud_event(notice.id, notice.type, notice.subject, notice.timestamp, dict(notice.data))


def _cloud_event(
    id: str, kind: str, subject: str | None, timestamp: int, data: dict[str, Any]
) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": id,
        "source": SOURCE,
        "type": kind,
        "subject": subject,
        "time": to_rfc3339(timestamp),
        "datacontenttype": "application/json",
        "data": data,
    }


_Entries = list[tuple[Event, dict[str, Any]]]


def _chunks(entries: Iterable[tuple[Event, dict[str, Any]]]) -> Iterator[_Entries]:
    chunk: _Entries = []
    room = _MOST_BYTES
    for event, entry in entries:
        size = len(entry["Detail"].encode()) + _ENVELOPE
        if chunk and (len(chunk) == _AT_ONCE or size > room):
            yield chunk
            chunk, room = [], _MOST_BYTES
        chunk.append((event, entry))
        room -= size
    if chunk:
        yield chunk
