"""Encode events as items: those of one append together, as JSON text, or zlib if smaller."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from functions.events.model import Event, LogName
from functions.identity.model import Actor
from functions.platform import item_types
from functions.platform.clock import to_ttl_seconds
from functions.platform.items import Item
from functions.platform.json_text import compress, decompress, dumps, loads
from functions.platform.keys import Key
from functions.platform.limits import MAX_EVENT_DATA_BYTES
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.writes import Write, put, put_new

MAX_EVENT_BYTES = 3_500  # of one event in an item: a read unit is 4 KB
MAX_ITEM_BYTES = 64_000  # of all events in an item: those of a batch, some 100 bytes each
MAX_ITEM_EVENTS = 900  # a position has three digits for the event's place in its item
MAX_PART_BYTES = 350_000  # an item holds 400 KB
_Rendered = tuple[bytes, Event]  # an event's JSON, and the event
_MIN_COMPRESSED_BYTES = 200  # smaller JSON does not compress; rows are stored for a year


class EncodedEvents(NamedTuple):
    """The events of one item.

    Attributes:
        text: their JSON, which may be compressed.
        parts: the data of a single event that is larger than an item.
    """

    events: Sequence[Event]
    text: str | bytes
    parts: Sequence[bytes] = ()


class LogTime(NamedTuple):
    """The times of a log's events, up to an item; neither figure ever decreases.

    Attributes:
        newest: the latest timestamp, in epoch ms.
        lag: the largest time (ms) by which an event was older than `newest` before its item.
    """

    newest: int = 0
    lag: int = 0

    def add(self, encoded: EncodedEvents) -> "LogTime":
        """Add the events of the next item."""
        # Example: after an event of 12:00, one of 11:58 is late by two minutes. A reader who wants
        # all since 11:59 begins at the first item whose `newest` is 11:59, and reads up to the one
        # whose `newest` is `lag` after the end of the period.
        times = [event.timestamp for event in encoded.events]
        return LogTime(max(self.newest, *times), max(self.lag, self.newest - min(times)))


class StoredEvent(NamedTuple):
    """An event of an item; data in parts is not decoded yet."""

    id: str
    document: dict[str, Any]
    part_count: int


def encode_events(events: Iterable[Event]) -> Iterator[EncodedEvents]:
    """Encode events in order, as many in one item as fit; a large event has its own item."""
    together: list[_Rendered] = []
    for event in events:
        document: dict[str, Any] = {
            "type": event.type,
            "agent_id": event.agent_id,
            "actor": list(event.actor),
            "intent_id": event.intent_id,
            "task_id": event.task_id,
            "timestamp": event.timestamp,
        }
        text = dumps(document | {"data": event.data})
        if len(text) > MAX_EVENT_BYTES and len(zlib.compress(text)) > MAX_EVENT_BYTES:
            yield from _encode_together(together)
            yield _encode_in_parts(event, document)
            together = []
        else:
            together.append((text, event))
    yield from _encode_together(together)


def _encode_together(rendered: Sequence[_Rendered]) -> Iterator[EncodedEvents]:
    if not rendered:
        return
    texts, events = zip(*rendered, strict=True)
    text = compress(b"[%s]" % b",".join(texts), _MIN_COMPRESSED_BYTES)
    size = len(text) + sum(len(event.id) for event in events)
    if len(events) == 1 or (size <= MAX_ITEM_BYTES and len(events) <= MAX_ITEM_EVENTS):
        yield EncodedEvents(events, text)
    else:
        half = len(events) // 2
        yield from _encode_together(rendered[:half])
        yield from _encode_together(rendered[half:])


def _encode_in_parts(event: Event, document: dict[str, Any]) -> EncodedEvents:
    data = zlib.compress(dumps(event.data))
    starts = range(0, len(data), MAX_PART_BYTES)
    parts = [data[start : start + MAX_PART_BYTES] for start in starts]
    return EncodedEvents([event], _encode_text([document]), parts)


def build_removed_part_keys(old: Item, new: Item) -> list[Key]:
    """Build the keys of the parts that an item no longer refers to."""
    if "parts" not in old or "parts" in new:
        return []
    (id,) = old["ids"]
    return build_part_keys(old["pk"], id, old["parts"])


def _encode_text(documents: Sequence[dict[str, Any] | None]) -> str | bytes:
    return compress(dumps(documents), _MIN_COMPRESSED_BYTES)


def build_part_writes(partition: str, encoded: EncodedEvents, expiry: int | None) -> list[Write]:
    """Build the writes of the parts of an event that is larger than an item."""
    keys = build_part_keys(partition, encoded.events[0].id, len(encoded.parts))
    ttl = {TTL_ATTRIBUTE: to_ttl_seconds(expiry)}
    return [put(key, {"data": part, **ttl}) for key, part in zip(keys, encoded.parts, strict=True)]


def build_events_write(
    partition: str, number: int, encoded: EncodedEvents, time: LogTime, expiry: int | None
) -> Write:
    """Build the write of a log's item with a number, under the condition that there is none.

    Args:
        expiry: until when (epoch ms) it is kept; None is for good.
    """
    item: Item = {
        "ids": [event.id for event in encoded.events],
        "events": encoded.text,
        "parts": len(encoded.parts) or None,
        "newest": time.newest,
        "lag": time.lag or None,
        TTL_ATTRIBUTE: to_ttl_seconds(expiry),
    }
    return put_new((partition, item_types.LOG_ITEM.build_sort(number=number)), item)


def decode_item_events(item: Item) -> Iterator[StoredEvent | None]:
    """Decode the events of an item; a deleted event is None."""
    for id, document in zip(item["ids"], loads(decompress(item["events"])), strict=True):
        yield None if document is None else StoredEvent(id, document, item.get("parts", 0))


def remove_events(item: Item, agent: str) -> Item | None:
    """Return an item of a log without an agent's events; None if it has no such event.

    Other events keep their positions. The ids stay, so that no event is logged twice.
    """
    documents = loads(decompress(item["events"]))
    kept = [each if each and each["agent_id"] != agent else None for each in documents]
    if kept == documents:
        return None
    rest = {name: value for name, value in item.items() if name != "parts" or any(kept)}
    return rest | {"events": _encode_text(kept)}


def build_part_keys(partition: str, event: str, count: int) -> list[Key]:
    """Build the keys of the parts of an event's data; none if the item holds it."""
    build = item_types.EVENT_PART.build_key_in
    return [build(partition, event=event, number=number) for number in range(count)]


def decode_event(tenant: str, log: LogName, stored: StoredEvent, parts: Sequence[bytes]) -> Event:
    """Decode an event, with the parts of its data if it has any."""
    document = stored.document
    return Event(
        id=stored.id,
        type=document["type"],
        tenant=tenant,
        agent_id=document["agent_id"],
        actor=Actor(*document["actor"]),
        intent_id=document["intent_id"],
        task_id=document["task_id"],
        data=loads(decompress(b"".join(parts), MAX_EVENT_DATA_BYTES))
        if parts
        else document["data"],
        timestamp=document["timestamp"],
        log=log,
    )


_OWNERS = {
    "intent": item_types.INTENT,
    "agent": item_types.AGENT,
    "namespace": item_types.SEMANTIC_ENTRY,
}


def build_log_partition(tenant: str, log: LogName) -> str:
    """Build the partition of a log: the same as its owner's in the memory table."""
    return _OWNERS[log.kind].build_partition(tenant, **{log.kind: log.name})


def parse_log_item(sort: str) -> int:
    return int(sort.removeprefix(item_types.LOG_ITEM.sort_prefix))
