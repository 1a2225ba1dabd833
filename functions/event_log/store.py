"""Appends events, each once and in order, and reads them by position.

A log is a row of items without gaps, with some events in each. What is appended goes behind the
last one, if nobody else was there first. So positions follow the order of commits, and who has read
up to one has missed nothing before it.

An item says how new the newest event up to it is. So the end of a log, read back to where all is
older, tells whether the log has an event.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from functions.event_log.items import (
    Stored,
    event_of,
    events_write,
    pack,
    part_keys,
    part_writes,
    published_write,
    stored_in,
)
from functions.event_log.model import Event, EventType, LogName
from functions.platform import entry_keys
from functions.platform.json_text import dumps, get_escaped_size
from functions.platform.limits import MAX_PAGE_BYTES
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Table

_BACK_AT_ONCE = 4  # items; the last one is enough, unless it has others' newer events
_ATTEMPTS = 200  # of which many are needed only where many append to one log at once
_POSITIONS = 1_000  # of an item, which holds fewer events
_MOST_SCANNED = 2_000  # events that one read looks at for those of a type
_ENVELOPE = 400  # bytes of an event's document around its data


class _End(NamedTuple):
    """A log's end: the next item's number, the newest event's moment, the last events' ids."""

    number: int
    newest: int
    ids: set[str]


class LogStore:
    """The logs of all tenants, in the log table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def append(self, tenant: str, log: LogName, events: Iterable[Event]) -> list[Event]:
        """Appends the events that a log doesn't have yet, in their order, and gives these.

        Whether it has one goes by id and timestamp, so an event has the same whenever it comes.

        Raises:
            Throttled: others append to this log all the while.
        """
        partition = entry_keys.build_log_partition(tenant, log.kind, log.name)
        missing = list({event.id: event for event in events}.values())
        if not missing:
            return []
        since = min(event.timestamp for event in missing)
        end = self._prepare(partition, since, missing)
        backoff = Backoff("others are writing to this log", attempts=_ATTEMPTS, longest_wait=0.1)
        while True:
            missing = [event for event in missing if event.id not in end.ids]
            try:
                self._extend(partition, end, missing)
                return missing
            except ConditionFailed:
                backoff.wait()
                end = self._end(partition, since)

    def _prepare(self, partition: str, since: int, events: Sequence[Event]) -> _End:
        """Read a log's end, and beside it store the parts of large events.

        Nothing refers to a part until its event is appended.
        """
        parts = [write for packed in pack(events) for write in part_writes(partition, packed)]
        calls: list[Callable[[], Any]] = [partial(self._end, partition, since)]
        calls += [partial(self._table.put, part) for part in parts]
        end: _End = run_parallel(calls)[0]
        return end

    def _end(self, partition: str, since: int) -> _End:
        """A log's end, with the ids of all events that happened from `since` on."""
        number, newest = 0, 0
        ids: set[str] = set()
        place = entry_keys.build_log_range(partition, 0)
        for item in self._table.query_from(*place, _BACK_AT_ONCE, newest_first=True):
            number = max(number, entry_keys.parse_log_item(item["sk"]) + 1)
            newest = max(newest, item["newest"])
            if item["newest"] < since:
                break
            ids.update(item["ids"])
        return _End(number, newest, ids)

    def _extend(self, partition: str, end: _End, events: Sequence[Event]) -> None:
        newest = end.newest
        for number, packed in enumerate(pack(events), end.number):
            newest = max(newest, packed.newest)
            self._table.put(events_write(partition, number, packed, newest))

    def read(
        self, tenant: str, log: LogName, after: int, limit: int, kind: EventType | None = None
    ) -> tuple[list[Event], int]:
        """Up to `limit` events (of one type) after a position, and the position to go on from.

        A page is cut at 5 MB.
        """
        partition = entry_keys.build_log_partition(tenant, log.kind, log.name)
        found: list[Event] = []
        position, room = after, MAX_PAGE_BYTES
        most = limit if kind is None else _MOST_SCANNED
        for at, stored in islice(self._following(partition, after, most), most):
            if kind in (None, stored.document["type"]):
                event = event_of(tenant, log, stored, self._parts(partition, stored))
                room -= get_escaped_size(dumps(event.data)) + _ENVELOPE
                if found and room < 0:
                    break
                found.append(event)
            position = at
            if len(found) == limit:
                break
        return found, position

    def _following(self, partition: str, after: int, most: int) -> Iterator[tuple[int, Stored]]:
        """The next events with their positions; up to an item that was missed while reading."""
        start = after // _POSITIONS
        items = self._table.query_from(*entry_keys.build_log_range(partition, start), most + 1)
        for number, item in enumerate(items, start):
            if entry_keys.parse_log_item(item["sk"]) != number:
                return
            first = number * _POSITIONS + 1
            yield from (each for each in enumerate(stored_in(item), first) if each[0] > after)

    def _parts(self, partition: str, stored: Stored) -> list[bytes]:
        places = part_keys(partition, stored)
        parts = self._table.get_many(places) if places else {}
        return [parts[place]["data"] for place in places]

    def unpublished(self, events: Iterable[Event]) -> list[Event]:
        """The events that the bus hasn't taken yet."""
        marks = {
            entry_keys.build_published_event_key(event.tenant, event.id): event for event in events
        }
        published = self._table.get_many(marks) if marks else {}
        return [event for mark, event in marks.items() if mark not in published]

    def mark_published(self, events: Iterable[Event]) -> None:
        """Keeps events from being published again."""
        self._table.write_many([published_write(event) for event in events])
