"""Appends events, each once and in an order without gaps, and reads them by position.

A log's head counts its events; an event gets its number in the transaction that writes it, under
the condition that the head is still where it was seen. So numbers follow the order of commits, and
who has read up to one has missed nothing before it.
"""

import random
import time
from collections.abc import Iterable, Iterator
from itertools import islice

from functions.logs.items import (
    Packed,
    event_of,
    event_writes,
    pack,
    part_keys,
    part_writes,
    unpacked,
)
from functions.logs.model import Event, EventType, LogName
from functions.platform import log_keys
from functions.platform.errors import Throttled
from functions.platform.items import Item
from functions.platform.jsontext import payload_size
from functions.platform.keys import Key
from functions.platform.table import Refused, Table
from functions.platform.writes import Write, update

_AT_ONCE = 49  # events of one transaction: an item and a marker each, and the head
_MOST_BYTES = 3_000_000  # of one transaction, which holds 4 MB
_ATTEMPTS = 200  # of which many are needed only where many append to one log at once
_MOST_PAGE_BYTES = 5_000_000  # a Lambda answer holds 6 MB
_MOST_SCANNED = 2_000  # events that one read looks at for those of a type
_ENVELOPE = 400  # bytes of an event's document around its data


class LogStore:
    """The logs of all tenants, in the log table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def append(self, tenant: str, log: LogName, events: Iterable[Event]) -> int:
        """Appends the events that no log has yet, in their order; how many those were.

        Raises:
            Throttled: others append to this log all the while.
        """
        partition = log_keys.log_partition(tenant, log.kind, log.name)
        fresh = {event.id: pack(event) for event in events}
        for packed in fresh.values():
            for write in part_writes(partition, packed):
                self._table.put(write)
        chunks = _chunks(fresh.values())
        return sum(self._append(tenant, log, partition, chunk) for chunk in chunks)

    def _append(self, tenant: str, log: LogName, partition: str, chunk: list[Packed]) -> int:
        head = log_keys.log_head(partition)
        waiting = {log_keys.event_marker(tenant, each.event.id): each for each in chunk}
        last = _last(self._table.get(head))
        for attempt in range(_ATTEMPTS):
            if not waiting:
                return 0
            try:
                self._table.transact(_writes(log, partition, last, list(waiting.values())))
                return len(waiting)
            except Refused as refused:
                waiting = {k: each for k, each in waiting.items() if k not in refused.failed}
                if head in refused.failed:
                    last = _last(refused.failed[head])
                    _pause(attempt)
        raise Throttled("others are writing to this log; try again in a second")

    def read(
        self, tenant: str, log: LogName, after: int, limit: int, kind: EventType | None = None
    ) -> tuple[list[Event], int]:
        """Up to `limit` events (of one type) after a position, and the position to go on from.

        A page is cut at 5 MB, and where a transaction is seen by halves: what it adds before what
        is seen already would be missed.
        """
        partition = log_keys.log_partition(tenant, log.kind, log.name)
        found: list[Event] = []
        position, room = after, _MOST_PAGE_BYTES
        for item in self._following(partition, after, limit if kind is None else _MOST_SCANNED):
            if log_keys.number_of(item["sk"]) != position + 1:
                break
            if kind in (None, item["type"]):
                data = unpacked(self._data(partition, item))
                room -= payload_size(data if isinstance(data, bytes) else data.encode()) + _ENVELOPE
                if found and room < 0:
                    break
                found.append(event_of(tenant, log, item, data))
            position += 1
            if len(found) == limit:
                break
        return found, position

    def _following(self, partition: str, after: int, most: int) -> Iterator[Item]:
        first = log_keys.event_item(partition, after + 1)[1]
        last = log_keys.event_item(partition, log_keys.LAST_EVENT)[1]
        items = self._table.query_from(partition, first, last, most)
        return islice(items, most)

    def _data(self, partition: str, item: Item) -> str | bytes:
        places = part_keys(partition, item)
        if not places:
            stored: str | bytes = item["data"]
            return stored
        parts = self._table.get_many(places)
        return b"".join(parts[place]["data"] for place in places)

    def unpublished(self, events: Iterable[Event]) -> list[Event]:
        """The events, all of them in a log, that the bus hasn't taken yet."""
        marked = {log_keys.event_marker(event.tenant, event.id): event for event in events}
        markers = self._table.get_many(marked)
        return [event for key, event in marked.items() if "sent" not in markers.get(key, {})]

    def mark_published(self, event: Event) -> None:
        """Keeps an event from being published again."""
        key = log_keys.event_marker(event.tenant, event.id)
        self._table.update(update(key, "SET sent = :sent", sent=True))


def _last(head: Item | None) -> int:
    number: int = 0 if head is None else head["seq"]
    return number


def _writes(log: LogName, partition: str, last: int, chunk: list[Packed]) -> list[Write]:
    writes = [_advance(log_keys.log_head(partition), log, last, len(chunk))]
    for number, packed in enumerate(chunk, last + 1):
        writes += event_writes(partition, packed, number)
    return writes


def _advance(head: Key, log: LogName, last: int, more: int) -> Write:
    return update(
        head,
        "SET seq = :next, log_kind = :kind, log_name = :name",
        "seq = :last" if last else "attribute_not_exists(seq)",
        next=last + more,
        kind=log.kind,
        name=log.name,
        **({"last": last} if last else {}),
    )


def _chunks(events: Iterable[Packed]) -> Iterator[list[Packed]]:
    chunk: list[Packed] = []
    size = 0
    for each in events:
        if chunk and (len(chunk) == _AT_ONCE or size + each.inline_bytes > _MOST_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(each)
        size += each.inline_bytes
    if chunk:
        yield chunk


def _pause(attempt: int) -> None:
    time.sleep(random.uniform(0, min(0.002 * (attempt + 1), 0.1)))  # noqa: S311 - jitter
