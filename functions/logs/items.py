"""How events look as items: their data is JSON text, or zlib bytes where that is smaller."""

import zlib
from dataclasses import dataclass

from functions.logs.model import Event, LogName
from functions.platform import log_keys
from functions.platform.items import Item
from functions.platform.jsontext import exact_text, exact_value
from functions.platform.keys import Key
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.writes import Write, put

MOST_INLINE = 350_000  # bytes; an item holds 400 KB
MARKED = 172_800_000  # ms; change streams are kept for half of it
_COMPRESS_FROM = 1024  # bytes
_ENVELOPE = 400  # bytes of an event's document around its data
_ABSENT = "attribute_not_exists(pk)"


@dataclass(frozen=True, slots=True)
class Packed:
    """An event with its data as it is stored."""

    event: Event
    data: str | bytes

    @property
    def parts(self) -> list[bytes]:
        """The data in pieces, if it doesn't fit the event's own item."""
        data = self.data if isinstance(self.data, bytes) else self.data.encode()
        if len(data) <= MOST_INLINE:
            return []
        return [data[start : start + MOST_INLINE] for start in range(0, len(data), MOST_INLINE)]

    @property
    def inline_bytes(self) -> int:
        """What the event's own item takes, about."""
        size = len(self.data if isinstance(self.data, bytes) else self.data.encode())
        return _ENVELOPE + (size if size <= MOST_INLINE else 0)


def pack(event: Event) -> Packed:
    """An event, ready to be written."""
    text = exact_text(event.data)
    if len(text) > _COMPRESS_FROM:
        packed = zlib.compress(text)
        if len(packed) < len(text):
            return Packed(event, packed)
    return Packed(event, text.decode())


def part_writes(partition: str, packed: Packed) -> list[Write]:
    """The parts of an event that is larger than an item."""
    return [
        put(log_keys.event_part(partition, packed.event.id, number), {"data": part})
        for number, part in enumerate(packed.parts)
    ]


def event_writes(partition: str, packed: Packed, number: int) -> list[Write]:
    """An event under its number, and the marker that lets it in once."""
    event, parts = packed.event, len(packed.parts)
    item: Item = {
        "id": event.id,
        "type": event.type,
        "agent_id": event.agent,
        "intent": event.intent,
        "task": event.task,
        "happened": event.timestamp,
        "data": None if parts else packed.data,
        "parts": parts or None,
    }
    return [
        put(log_keys.event_item(partition, number), item, _ABSENT),
        put(log_keys.event_marker(event.tenant, event.id), _marker(event), _ABSENT),
    ]


def _marker(event: Event) -> Item:
    return {"id": event.id, TTL_ATTRIBUTE: (event.timestamp + MARKED) // 1000}


def part_keys(partition: str, item: Item) -> list[Key]:
    """Where the parts of an event's data stand; none, if it is in the item."""
    parts = range(item.get("parts", 0))
    return [log_keys.event_part(partition, item["id"], number) for number in parts]


def unpacked(stored: str | bytes) -> bytes:
    """The JSON text of an event's data."""
    return stored.encode() if isinstance(stored, str) else zlib.decompress(stored)


def event_of(tenant: str, log: LogName, item: Item, data: bytes) -> Event:
    """An event from its item and the text of its data."""
    return Event(
        id=item["id"],
        type=item["type"],
        tenant=tenant,
        agent=item["agent_id"],
        intent=item.get("intent"),
        task=item.get("task"),
        data=exact_value(data),
        timestamp=item["happened"],
        log=log,
    )
