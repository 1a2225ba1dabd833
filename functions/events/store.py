"""Append events to logs, each once and in order.

A log is a sequence of items without gaps, with some events in each. An append writes the item after
the last one, under the condition that it doesn't exist. So positions follow the order of commits: a
reader that has reached one has missed nothing before it.

Items expire after the deployment's retention. Then they are not read, and DynamoDB removes them
within days, in any order. Item 0 stays: it has the number of the log's first item, which is the
time of the log's beginning in epoch ms. A log whose items have all been removed starts again at the
present time, which is a higher number than any before.

An item has the latest timestamp up to it. So the end of a log, read backwards until all is older
than an event, shows whether the log has the event. It also has the lag of late events up to it, so
a reader finds the items of a period by a binary search.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from functions.events.items import (
    LogTime,
    build_events_write,
    build_log_partition,
    build_part_writes,
    encode_events,
    parse_log_item,
)
from functions.events.model import Event, LogName
from functions.platform.clock import Clock
from functions.platform.item_types import LOG_ITEM, PUBLISHED_EVENT
from functions.platform.items import Item
from functions.platform.limits import PUBLISHED_EVENT_LIFETIME
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table, TableWrites
from functions.platform.writes import Write, build_unchanged_condition, put

_END_PAGE = 4  # items; the last one is enough, unless it has others' newer events
_ATTEMPTS = 50
FIRST_WAIT, LONGEST_WAIT = 0.1, 1.0  # seconds: 40 appenders at once make 6 calls each
_DAY = 86_400_000  # ms


class EventLogStore:
    """The logs of all tenants, in the log table."""

    def __init__(self, table: Table, clock: Clock, retention_days: int) -> None:
        self._table = table
        self._clock = clock
        self._retention = retention_days * _DAY

    def append(
        self, tenant: str, log: LogName, events: Iterable[Event], *others: TableWrites
    ) -> list[Event]:
        """Append the events that a log doesn't have yet, in order, and return these.

        An event is recognized by id and timestamp, so both must be the same in each try.

        Args:
            events: at least one, if there are other writes.
            others: writes on other tables, in one transaction with the last item of the events.
        """
        partition = build_log_partition(tenant, log)
        missing = list({event.id: event for event in events}.values())
        if not missing:
            return []
        since = min(event.timestamp for event in missing)
        backoff = Backoff(
            "others are writing to this log",
            attempts=_ATTEMPTS,
            first_wait=FIRST_WAIT,
            longest_wait=LONGEST_WAIT,
        )
        while True:
            # A retry finds the events that an earlier try has appended among the last ones: an
            # append reads back to the oldest event that it brings.
            number, time, present = self._read_end(partition, since)
            missing = [event for event in missing if event.id not in present]
            try:
                self._write_events(partition, number, time, missing, others)
                return missing
            except ConditionFailed as failed:
                if not any(
                    key[0] == partition and LOG_ITEM.has_sort(key[1]) for key in failed.failed
                ):
                    raise
            backoff.wait()

    def _read_end(self, partition: str, since: int) -> tuple[int, LogTime, set[str]]:
        """Read a log's end.

        Returns:
            The number of its next item, the times of its events, and the ids of all events of
            `since` (epoch ms) and later.
        """
        last, ids, head = None, set[str](), None
        prefix = LOG_ITEM.sort_prefix
        for item in self._table.query(partition, prefix, None, _END_PAGE, newest_first=True):
            if "first_number" in item:
                head = item
                break
            last = last or item
            if item["newest"] < since:
                break
            ids.update(item["ids"])
        if last is None:
            return self._begin(partition, head), LogTime(), ids
        return parse_log_item(last["sk"]) + 1, LogTime(last["newest"], last.get("lag", 0)), ids

    def _begin(self, partition: str, head: Item | None) -> int:
        """Return the number of the first item of a log that has no items."""
        now = self._clock()
        begun: int | None = None if head is None else head["first_number"]
        if begun is not None and (not self._retention or begun + self._retention > now):
            return begun  # no item can have been removed since
        key = partition, LOG_ITEM.build_sort(number=0)
        condition, seen = build_unchanged_condition({"first_number": begun})
        try:
            self._table.put(put(key, {"first_number": now}, condition, **seen))
        except ConditionFailed as failed:
            return now if failed.item is None else int(failed.item["first_number"])
        return now

    def _write_events(
        self,
        partition: str,
        number: int,
        time: LogTime,
        events: Sequence[Event],
        others: Sequence[TableWrites],
    ) -> None:
        """Write events from a number on; parts are written before the event that refers to them."""
        expiry = self._clock() + self._retention if self._retention else None
        parts, writes = list[Write](), list[Write]()
        for each in encode_events(events):
            time = time.add(each)
            if each.parts:
                parts += build_part_writes(partition, each, expiry and expiry + _DAY)
            writes.append(build_events_write(partition, number + len(writes), each, time, expiry))
        run_parallel([partial(self._table.put, part) for part in parts])
        together = writes[-1:] if others else []
        for write in writes[: len(writes) - len(together)]:
            self._table.put(write)
        if others:
            self._table.transact(together, *others)

    def select_unpublished(self, events: Iterable[Event]) -> list[Event]:
        """Select the events that aren't on the bus yet."""
        keys = {PUBLISHED_EVENT.build_key(event.tenant, event=event.id): event for event in events}
        published = self._table.get_many(keys) if keys else {}
        return [event for key, event in keys.items() if key not in published]

    def mark_published(self, events: Iterable[Event]) -> None:
        """Mark events as published on the bus."""
        self._table.write_many(
            [
                put(
                    PUBLISHED_EVENT.build_key(event.tenant, event=event.id),
                    {TTL_ATTRIBUTE: (event.timestamp + PUBLISHED_EVENT_LIFETIME) // 1000},
                )
                for event in events
            ]
        )
