"""Append events to logs, each once and in order, and read them by position.

A log is a sequence of items without gaps, with some events in each. An append writes the item after
the last one, under the condition that nobody else has. So positions follow the order of commits,
and who has read up to one has missed nothing before it.

An item has the latest timestamp up to it. So the end of a log, read backwards until all is older
than an event, tells whether the log has the event.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from functions.event_log.items import (
    StoredEvent,
    build_events_write,
    build_part_keys,
    build_part_writes,
    build_published_write,
    decode_event,
    decode_item_events,
    encode_events,
)
from functions.event_log.model import Event, LogName, LogQuery
from functions.platform import entry_keys
from functions.platform.json_text import dumps, get_escaped_size
from functions.platform.limits import MAX_PAGE_BYTES
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Table

_END_PAGE = 4  # items; the last one is enough, unless it has others' newer events
_ATTEMPTS = 200  # of which many are needed only where many append to one log at once
_POSITIONS = 1_000  # of an item, which holds fewer events
_MAX_SCANNED = 2_000  # events that one read examines for those that match
_ENVELOPE_BYTES = 400  # of an event's document beside its data


class _LogEnd(NamedTuple):
    """The end of a log.

    Attributes:
        number: the number of the next item.
        newest: the latest timestamp, in epoch ms.
        ids: those of the last events.
    """

    number: int
    newest: int
    ids: set[str]


class EventLogStore:
    """The logs of all tenants, in the log table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def append(self, tenant: str, log: LogName, events: Iterable[Event]) -> list[Event]:
        """Append the events that a log doesn't have yet, in their order, and give these.

        An event is known by id and timestamp, so both have to be the same whenever it comes.

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
                self._write_events(partition, end, missing)
                return missing
            except ConditionFailed:
                backoff.wait()
                end = self._read_end(partition, since)

    def _prepare(self, partition: str, since: int, events: Sequence[Event]) -> _LogEnd:
        """Read a log's end, and at the same time store the parts of large events.

        Nothing refers to a part until its event is appended.
        """
        encoded = encode_events(events)
        parts = [write for each in encoded for write in build_part_writes(partition, each)]
        calls: list[Callable[[], Any]] = [partial(self._read_end, partition, since)]
        calls += [partial(self._table.put, part) for part in parts]
        end: _LogEnd = run_parallel(calls)[0]
        return end

    def _read_end(self, partition: str, since: int) -> _LogEnd:
        """Read a log's end, with the ids of all events of `since` (epoch ms) and later."""
        number, newest = 0, 0
        ids: set[str] = set()
        all_items = entry_keys.build_log_range(partition, 0)
        for item in self._table.query_from(*all_items, _END_PAGE, newest_first=True):
            number = max(number, entry_keys.parse_log_item(item["sk"]) + 1)
            newest = max(newest, item["newest"])
            if item["newest"] < since:
                break
            ids.update(item["ids"])
        return _LogEnd(number, newest, ids)

    def list_recent_ids(self, tenant: str, log: LogName, since: int) -> set[str]:
        """List the ids of a log's events of `since` (epoch ms) and later, and of some before."""
        partition = entry_keys.build_log_partition(tenant, log.kind, log.name)
        return self._read_end(partition, since).ids

    def _write_events(self, partition: str, end: _LogEnd, events: Sequence[Event]) -> None:
        newest = end.newest
        for number, encoded in enumerate(encode_events(events), end.number):
            newest = max(newest, encoded.newest)
            self._table.put(build_events_write(partition, number, encoded, newest))

    def read(self, tenant: str, log: LogName, query: LogQuery) -> tuple[list[Event], int]:
        """Read a page of events, of at most 5 MB, and the position to continue from."""
        partition = entry_keys.build_log_partition(tenant, log.kind, log.name)
        found: list[Event] = []
        position, free_bytes = query.after, MAX_PAGE_BYTES
        limit = _MAX_SCANNED if query.is_filtered else query.limit
        for at, stored in islice(self._read_stored(partition, query.after, limit), limit):
            if query.matches(stored.document["type"], stored.document["agent"]):
                event = decode_event(tenant, log, stored, self._read_parts(partition, stored))
                free_bytes -= get_escaped_size(dumps(event.data)) + _ENVELOPE_BYTES
                if found and free_bytes < 0:
                    break
                found.append(event)
            position = at
            if len(found) == query.limit:
                break
        return found, position

    def _read_stored(
        self, partition: str, after: int, limit: int
    ) -> Iterator[tuple[int, StoredEvent]]:
        """Read the next events with their positions, up to the first gap between items."""
        start = after // _POSITIONS
        items = self._table.query_from(*entry_keys.build_log_range(partition, start), limit + 1)
        for number, item in enumerate(items, start):
            if entry_keys.parse_log_item(item["sk"]) != number:
                return
            first = number * _POSITIONS + 1
            yield from (
                each for each in enumerate(decode_item_events(item), first) if each[0] > after
            )

    def _read_parts(self, partition: str, stored: StoredEvent) -> list[bytes]:
        keys = build_part_keys(partition, stored)
        parts = self._table.get_many(keys) if keys else {}
        return [parts[key]["data"] for key in keys]

    def select_unpublished(self, events: Iterable[Event]) -> list[Event]:
        """Select the events that aren't on the bus yet."""
        keys = {
            entry_keys.build_published_event_key(event.tenant, event.id): event for event in events
        }
        published = self._table.get_many(keys) if keys else {}
        return [event for key, event in keys.items() if key not in published]

    def mark_published(self, events: Iterable[Event]) -> None:
        """Mark events as published on the bus."""
        self._table.write_many([build_published_write(event) for event in events])
