"""Read logs by position, in either order, and by the time of events.

A position is an item's number and the event's place in the item. One read examines a bounded number
of events. If few match, it may return none, and the position to continue from.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from functions.events.items import (
    StoredEvent,
    build_log_partition,
    build_part_keys,
    decode_event,
    decode_item_events,
    parse_log_item,
)
from functions.events.model import Event, LogName, LogQuery
from functions.platform.clock import has_ended
from functions.platform.item_types import LOG_ITEM
from functions.platform.items import Item
from functions.platform.json_text import dumps, get_escaped_size
from functions.platform.limits import MAX_EXAMINED, MAX_PAGE_BYTES
from functions.platform.table import TimedStore

_POSITIONS = 1_000  # of an item; no item holds as many events
_LAST_ITEM = 10**16 - 1
_EXAMINED_BY_PART = 100  # a part is as large as the items of some hundred events
_MAX_CALL_ITEMS = 250  # a call reads at most a megabyte
_TAIL_PAGE, _MAX_TAIL_ITEMS = 25, 100  # items; 35 KB if each has one event
_ENVELOPE_BYTES = 400  # of an event's document beside its data


class _Examined(NamedTuple):
    """An event of a log at its position; None if it is expired or deleted."""

    position: int
    stored: StoredEvent | None


class EventLogReader(TimedStore):
    """Reads the logs of all tenants from the log table."""

    def read(self, tenant: str, log: LogName, query: LogQuery) -> tuple[list[Event], int | None]:
        """Read a page of events, of at most 5 MB, and the position to continue from.

        Returns:
            the events, and the position; None at the end of a list that is newest first.
        """
        partition = build_log_partition(tenant, log)
        found: list[Event] = []
        position, free_bytes, work = query.after or 0, MAX_PAGE_BYTES, MAX_EXAMINED
        for at, stored in self._examine(partition, query):
            work -= 1
            if stored is not None and query.matches(stored.document):
                work -= _EXAMINED_BY_PART * stored.part_count
                event = decode_event(tenant, log, stored, self._read_parts(partition, stored))
                if query.matches_data(event.data):
                    free_bytes -= get_escaped_size(dumps(event.data)) + _ENVELOPE_BYTES
                    if found and free_bytes < 0:
                        return found, position
                    found.append(event)
            position = at
            if len(found) == query.limit or work <= 0:
                return found, position
        return found, None if query.newest_first else position

    def select_missing(self, tenant: str, log: LogName, events: dict[str, int]) -> dict[str, int]:
        """Select the events, times (epoch ms) by ids, that a log doesn't have.

        The log is read backwards. Beyond 100 items, it is searched by time.
        """
        partition = build_log_partition(tenant, log)
        missing, since = dict(events), min(events.values(), default=0)
        items = self._read_items(partition, 1, None, _TAIL_PAGE, newest_first=True)
        for item in islice(items if events else (), _MAX_TAIL_ITEMS):
            missing = {id: time for id, time in missing.items() if id not in item["ids"]}
            if not missing or item["newest"] < since:
                return missing
        return {
            id: time for id, time in missing.items() if not self._has_event(partition, id, time)
        }

    def _has_event(self, partition: str, id: str, time: int) -> bool:
        """Tell whether a log has an event that happened at a moment (epoch ms)."""
        first, last = self._find(partition, time), self._find(partition, time, is_end=True)
        if first is None or last is None:
            return False
        items = self._read_items(partition, first, last, _TAIL_PAGE)
        return any(id in item.get("ids", ()) for item in items)

    def _examine(self, partition: str, query: LogQuery) -> Iterator[_Examined]:
        """Read the events after a position and of a period, in the requested order."""
        last = None
        if query.until is not None:
            last = self._find(partition, query.until, is_end=True)
        if query.newest_first:
            return self._examine_backwards(partition, query, last)
        return self._examine_forwards(partition, query, last)

    def _examine_forwards(
        self, partition: str, query: LogQuery, last: int | None
    ) -> Iterator[_Examined]:
        after, now = query.after or 0, self._clock()
        expected = after // _POSITIONS
        if query.since is not None:
            expected = max(expected, self._find(partition, query.since) or 0)
        if last is not None and last < expected:
            return
        items = self._query(partition, expected, last, query)
        for item in items:
            if "first_number" in item:
                expected = item["first_number"]
                continue
            number = parse_log_item(item["sk"])
            # Item 5 follows item 3: either 4 was removed at the end of its retention, or this read
            # has missed it. In the second case the page ends here, and the next one begins with 4.
            if number != expected and any(self._read_items(partition, number - 1, number - 1)):
                return
            expected = number + 1
            yield from (each for each in _decode(item, number, now) if each.position > after)

    def _examine_backwards(
        self, partition: str, query: LogQuery, last: int | None
    ) -> Iterator[_Examined]:
        now = self._clock()
        if query.after is not None:
            before = query.after // _POSITIONS
            last = before if last is None else min(last, before)
        if last is not None and last < 1:
            return
        for item in self._query(partition, 1, last, query):
            if query.since is not None and item["newest"] < query.since:
                return
            number = parse_log_item(item["sk"])
            for each in reversed(_decode(item, number, now)):
                if query.after is None or each.position < query.after:
                    yield each

    def _query(
        self, partition: str, first: int, last: int | None, query: LogQuery
    ) -> Iterator[Item]:
        """Query items; in most logs an item holds several events, in some only one."""
        page_size = _MAX_CALL_ITEMS if query.is_filtered else query.limit // 4 + 2
        newest_first = query.newest_first
        return self._read_items(partition, first, last, page_size, newest_first=newest_first)

    def _read_items(
        self,
        partition: str,
        first: int,
        last: int | None = None,
        page_size: int = 1,
        *,
        newest_first: bool = False,
    ) -> Iterator[Item]:
        """Read the items with numbers from `first` to `last`; None is the end of the log."""
        begin = LOG_ITEM.build_sort(number=first)
        end = LOG_ITEM.build_sort(number=_LAST_ITEM if last is None else last)
        return self._table.query(partition, begin, end, page_size, newest_first=newest_first)

    def _find(self, partition: str, moment: int, *, is_end: bool = False) -> int | None:
        """Find the first item up to which a log has an event of a moment (epoch ms) or later.

        A binary search: a call for each step.

        Args:
            is_end: whether events up to the moment are wanted. Then no later item has one of them,
                since no event is older than the events before it by more than the log's lag.

        Returns:
            The item's number; the number after the last item if none has it; None for an empty log.
        """
        end = next(self._read_items(partition, 1, newest_first=True), None)
        if end is None:
            return None
        if is_end:
            moment += end.get("lag", 0) + 1
        last = parse_log_item(end["sk"])
        if end["newest"] < moment:
            return last + 1
        head = next(self._read_items(partition, 0, 0), None)
        first = 1 if head is None else head["first_number"]
        while first < last:
            middle = (first + last) // 2
            if next(self._read_items(partition, middle), end)["newest"] >= moment:
                last = middle
            else:
                first = middle + 1
        return last

    def _read_parts(self, partition: str, stored: StoredEvent) -> list[bytes]:
        keys = build_part_keys(partition, stored.id, stored.part_count)
        parts = self._table.get_many(keys) if keys else {}
        return [parts[key]["data"] for key in keys]


def _decode(item: Item, number: int, now: int) -> Sequence[_Examined]:
    """Decode the events of an item, with their positions; an expired item has none."""
    if has_ended(item, now):
        return [_Examined(number * _POSITIONS + 1, None)]
    events = enumerate(decode_item_events(item), number * _POSITIONS + 1)
    return [_Examined(position, stored) for position, stored in events]
