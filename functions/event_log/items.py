"""How events look as items: those of one append together, as JSON text, or as zlib bytes where
that is smaller."""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from functions.event_log.model import Event, LogName
from functions.platform import entry_keys
from functions.platform.items import Item
from functions.platform.json_text import dumps, loads
from functions.platform.keys import Key
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.values import compress as pack_text
from functions.platform.values import decompress
from functions.platform.writes import Write, put

MOST_INLINE = 3_500  # bytes: who appends reads the last item, and a read unit is 4 KB
MOST_PART = 350_000  # bytes; an item holds 400 KB
_PUBLISHED_KEPT = 172_800_000  # ms; change streams are kept for half of it
_COMPRESS_FROM = 700  # bytes; with names and keys that is a write unit
_ABSENT = "attribute_not_exists(pk)"


class Packed(NamedTuple):
    """Events of one item; the data of one that is larger than that stands in parts."""

    events: Sequence[Event]
    text: str | bytes
    parts: Sequence[bytes] = ()

    @property
    def newest(self) -> int:
        """When the last one of them happened."""
        return max(event.timestamp for event in self.events)


class Stored(NamedTuple):
    """An event as it is stored, without the data that stands in parts."""

    id: str
    document: dict[str, Any]
    parts: int


def pack(events: Sequence[Event]) -> Iterator[Packed]:
    """Events in their order, as many together as an item shall hold."""
    if not events:
        return
    text = _text([_envelope(event) | {"data": event.data} for event in events])
    if len(text) + sum(len(event.id) for event in events) <= MOST_INLINE:
        yield Packed(events, text)
    elif len(events) == 1:
        yield _in_parts(events[0])
    else:
        half = len(events) // 2
        yield from pack(events[:half])
        yield from pack(events[half:])


def _in_parts(event: Event) -> Packed:
    data = zlib.compress(dumps(event.data))
    parts = [data[start : start + MOST_PART] for start in range(0, len(data), MOST_PART)]
    return Packed([event], _text([_envelope(event)]), parts)


def _text(documents: list[dict[str, Any]]) -> str | bytes:
    return pack_text(dumps(documents), _COMPRESS_FROM)


def _envelope(event: Event) -> dict[str, Any]:
    return {
        "type": event.type,
        "agent": event.agent,
        "intent": event.intent,
        "task": event.task,
        "happened": event.timestamp,
    }


def part_writes(partition: str, packed: Packed) -> list[Write]:
    """The parts of an event that is larger than an item."""
    return [
        put(entry_keys.build_event_part_key(partition, packed.events[0].id, number), {"data": part})
        for number, part in enumerate(packed.parts)
    ]


def events_write(partition: str, number: int, packed: Packed, newest: int) -> Write:
    """Events as the item of this number, if nobody has written it; `newest`: up to here, ms."""
    item: Item = {
        "ids": [event.id for event in packed.events],
        "events": packed.text,
        "parts": len(packed.parts) or None,
        "newest": newest,
    }
    return put(entry_keys.build_log_item_key(partition, number), item, _ABSENT)


def stored_in(item: Item) -> Iterator[Stored]:
    """The events of an item."""
    for id, document in zip(item["ids"], loads(decompress(item["events"])), strict=True):
        yield Stored(id, document, item.get("parts", 0))


def part_keys(partition: str, stored: Stored) -> list[Key]:
    """Where the parts of an event's data stand; none, if it is in the item."""
    return [
        entry_keys.build_event_part_key(partition, stored.id, number)
        for number in range(stored.parts)
    ]


def event_of(tenant: str, log: LogName, stored: Stored, parts: Sequence[bytes]) -> Event:
    """An event as it was; `parts` are those of its data."""
    document = stored.document
    return Event(
        id=stored.id,
        type=document["type"],
        tenant=tenant,
        agent=document["agent"],
        intent=document["intent"],
        task=document["task"],
        data=loads(zlib.decompress(b"".join(parts))) if parts else document["data"],
        timestamp=document["happened"],
        log=log,
    )


def published_write(event: Event) -> Write:
    """What says that the bus has an event."""
    key = entry_keys.build_published_event_key(event.tenant, event.id)
    return put(key, {TTL_ATTRIBUTE: (event.timestamp + _PUBLISHED_KEPT) // 1000})
