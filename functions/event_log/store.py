"""Append events to logs, each once and in order.

A log is a sequence of items without gaps, with some events in each. An append writes the item after
the last one, under the condition that it doesn't exist. So positions follow the order of commits,
and who has read up to one has missed nothing before it.

Items are kept as long as the deployment says. Then they are not read, and DynamoDB removes them
within days, in any order. Item 0 stays: it says the number of the log's first item, which is the
time of the log's beginning in epoch ms. A log whose items have all been removed starts again at the
present time, which is a higher number than any before.

An item has the latest timestamp up to it. So the end of a log, read backwards until all is older
than an event, shows whether the log has the event. It has as well by how much events came late, up
to it: so a reader finds the items of a period by their numbers.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

from functions.event_log.items import (
    EncodedEvents,
    LogTime,
    build_events_write,
    build_head_write,
    build_log_partition,
    build_log_range,
    build_part_writes,
    build_published_write,
    encode_events,
    get_first_number,
    is_head,
    parse_log_item,
)
from functions.event_log.model import Event, LogName
from functions.platform import item_types
from functions.platform.clock import Clock
from functions.platform.item_types import LOG_ITEM
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Table, TableWrites
from functions.platform.writes import Write

_END_PAGE = 4  # items; the last one is enough, unless it has others' newer events
_ATTEMPTS = 50
FIRST_WAIT, LONGEST_WAIT = 0.1, 1.0  # seconds: 40 appenders at once make 6 calls each
_DAY = 86_400_000  # ms


class _LogEnd(NamedTuple):
    """The end of a log.

    Attributes:
        time: how the times of its events go.
        ids: those of the last events.
    """

    number: int
    time: LogTime
    ids: set[str]


def _build_end(items: Sequence[Item], since: int) -> _LogEnd:
    """Build the end of a log from its last items, newest first."""
    number = parse_log_item(items[0]["sk"]) + 1
    recent = (item["ids"] for item in items if item["newest"] >= since)
    time = LogTime(items[0]["newest"], items[0].get("lag", 0))
    return _LogEnd(number, time, set(chain.from_iterable(recent)))


def _has_gap(items: Sequence[Item], since: int) -> bool:
    """Tell whether a log's last items, newest first, may leave out events of `since` and later.

    They don't where their numbers go back one by one to an older item, or to the log's first.
    """
    if is_head(items[0]) or not _is_far_enough(items[-1], since):
        return True
    numbers = [
        get_first_number(item) - 1 if is_head(item) else parse_log_item(item["sk"])
        for item in items
    ]
    # Example: 9, 8, 6. A read that is eventually consistent has not seen item 7 yet.
    return any(one != other + 1 for one, other in pairwise(numbers))


def _is_far_enough(item: Item, since: int) -> bool:
    """Tell whether no item before this one has events of `since` (epoch ms) or later."""
    return is_head(item) or item["newest"] < since


def _is_log_item(key: Key, partition: str) -> bool:
    return key[0] == partition and LOG_ITEM.has_sort(key[1])


class EventLogStore:
    """The logs of all tenants, in the log table.

    Args:
        retention_days: how long an event is kept; 0 is for good.
    """

    def __init__(self, table: Table, clock: Clock, retention_days: int) -> None:
        self._table = table
        self._clock = clock
        self._retention = retention_days * _DAY

    def append(
        self, tenant: str, log: LogName, events: Iterable[Event], *others: TableWrites
    ) -> list[Event]:
        """Append the events that a log doesn't have yet, in their order, and give these.

        An event is known by id and timestamp, so both have to be the same whenever it comes.

        Args:
            events: at least one, if there are other writes.
            others: writes on other tables, in one transaction with the last item of the events.
        """
        partition = build_log_partition(tenant, log.kind, log.name)
        missing = list({event.id: event for event in events}.values())
        if not missing:
            return []
        since = min(event.timestamp for event in missing)
        encoded = list(encode_events(missing))
        end = self._prepare(partition, since, encoded)
        backoff = Backoff(
            "others are writing to this log",
            attempts=_ATTEMPTS,
            first_wait=FIRST_WAIT,
            longest_wait=LONGEST_WAIT,
        )
        while True:
            # A retry finds the events that an earlier try has appended among the last ones: an
            # append reads back to the oldest event that it brings.
            if any(event.id in end.ids for event in missing):
                missing = [event for event in missing if event.id not in end.ids]
                encoded = list(encode_events(missing))
            try:
                self._write_events(partition, end, encoded, others)
                return missing
            except ConditionFailed as failed:
                if not any(_is_log_item(key, partition) for key in failed.failed):
                    raise
                backoff.wait()
                end = self._read_end(partition, since)

    def _prepare(self, partition: str, since: int, encoded: Sequence[EncodedEvents]) -> _LogEnd:
        """Read a log's end, and at the same time store the parts of large events.

        Nothing refers to a part until its event is appended.
        """
        parts = [
            write
            for each in encoded
            for write in build_part_writes(partition, each, self._get_expiry(_DAY))
        ]
        calls: list[Callable[[], Any]] = [partial(self._find_end, partition, since)]
        calls += [partial(self._table.put, part) for part in parts]
        end: _LogEnd = run_parallel(calls)[0]
        return end

    def _find_end(self, partition: str, since: int) -> _LogEnd:
        """Find a log's end at half the price of reading it.

        It may be behind: then an item is where the append wants to put one, and the append fails.
        """
        items = self._list_back(partition, since, is_consistent=False)
        if not items:
            return _LogEnd(self._begin(partition, None), LogTime(), set())
        if _has_gap(items, since):
            return self._read_end(partition, since)
        return _build_end([item for item in items if not is_head(item)], since)

    def _read_end(self, partition: str, since: int) -> _LogEnd:
        """Read a log's end, with the ids of all events of `since` (epoch ms) and later."""
        items = self._list_back(partition, since, is_consistent=True)
        head = items.pop() if items and is_head(items[-1]) else None
        if items:
            return _build_end(items, since)
        return _LogEnd(self._begin(partition, head), LogTime(), set())

    def _list_back(self, partition: str, since: int, *, is_consistent: bool) -> list[Item]:
        """List a log's items, newest first, up to item 0 or to one that is older than `since`."""
        listed: list[Item] = []
        all_items = build_log_range(partition, 0)
        for item in self._table.query_from(
            *all_items, _END_PAGE, newest_first=True, is_consistent=is_consistent
        ):
            listed.append(item)
            if _is_far_enough(item, since):
                break
        return listed

    def _begin(self, partition: str, head: Item | None) -> int:
        """Return the number of the first item of a log that has none (any more)."""
        now = self._clock()
        begun = None if head is None else get_first_number(head)
        if begun is not None and (not self._retention or begun + self._retention > now):
            return begun  # no item can have been removed since
        try:
            self._table.put(build_head_write(partition, now, head))
        except ConditionFailed as failed:
            return now if failed.item is None else get_first_number(failed.item)
        return now

    def _get_expiry(self, more: int = 0) -> int | None:
        """Return until when (epoch ms) what is written now is kept; None is for good."""
        return self._clock() + self._retention + more if self._retention else None

    def _write_events(
        self,
        partition: str,
        end: _LogEnd,
        encoded: Sequence[EncodedEvents],
        others: Sequence[TableWrites],
    ) -> None:
        time, writes = end.time, list[Write]()
        for number, each in enumerate(encoded, end.number):
            time = time.add(each)
            writes.append(build_events_write(partition, number, each, time, self._get_expiry()))
        together = writes[-1:] if others else []
        for write in writes[: len(writes) - len(together)]:
            self._table.put(write)
        if others:
            self._table.transact(together, *others)

    def select_unpublished(self, events: Iterable[Event]) -> list[Event]:
        """Select the events that aren't on the bus yet."""
        keys = {
            item_types.PUBLISHED_EVENT.build_key(event.tenant, event=event.id): event
            for event in events
        }
        published = self._table.get_many(keys) if keys else {}
        return [event for key, event in keys.items() if key not in published]

    def mark_published(self, events: Iterable[Event]) -> None:
        """Mark events as published on the bus."""
        self._table.write_many([build_published_write(event) for event in events])
