"""Records of the change stream, and a batch of them with its failures."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

from functions.deletions.deleted_owners import DeletedOwners
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.platform.aws import is_service_failure
from functions.platform.item_types import ANNOUNCEMENT, PRIVATE_ENTRY, SEMANTIC_ENTRY, ItemType
from functions.platform.items import Item, TypedItem, decode_item
from functions.platform.keys import Key, get_tenant
from functions.platform.observability import log_unexpected, report_count
from functions.platform.parallel import WorkerPool

T = TypeVar("T")


class StreamRecord(NamedTuple):
    """One change of an item.

    Attributes:
        sequence: the record's sequence number, which identifies it in the stream.
        event_name: INSERT, MODIFY or REMOVE.
        old: the item before, in typed form; None if there was none.
    """

    sequence: str
    key: Key
    event_name: str = "MODIFY"
    old: TypedItem | None = None
    new: TypedItem | None = None

    @property
    def number(self) -> int:
        """The sequence number, by which the records of an item are ordered."""
        return int(self.sequence)

    @property
    def tenant(self) -> str:
        return get_tenant(self.key[0])

    @property
    def trace_id(self) -> str | None:
        """The trace of the request that wrote the item."""
        traceparent: str | None = (self.new or {}).get("traceparent", {}).get("S")
        return None if traceparent is None else traceparent.split("-")[1]


def parse_record(record: Mapping[str, Any]) -> StreamRecord:
    """Parse a record of a Lambda event."""
    change = record["dynamodb"]
    return StreamRecord(
        sequence=change["SequenceNumber"],
        key=(change["Keys"]["pk"]["S"], change["Keys"]["sk"]["S"]),
        event_name=record["eventName"],
        old=change.get("OldImage"),
        new=change.get("NewImage"),
    )


def _is_deleted(record: StreamRecord, deleted_owners: DeletedOwners) -> bool:
    image = record.new or record.old
    if image is None or "created_at" not in image or not PRIVATE_ENTRY.has_sort(record.key[1]):
        return False
    agent, created = record.key[0].rpartition("#")[2], int(image["created_at"]["N"])
    return deleted_owners.is_agent_deleted(record.tenant, agent, created)


class Subscription(NamedTuple):
    """The records that a consumer takes: changes of items of one type."""

    item_type: ItemType
    inserts_only: bool = False

    def matches(self, record: StreamRecord) -> bool:
        """Tell whether the consumer takes a record."""
        is_wanted = record.event_name == "INSERT" or not self.inserts_only
        return is_wanted and self.item_type.has_sort(record.key[1])


ENTRIES = (Subscription(PRIVATE_ENTRY), Subscription(SEMANTIC_ENTRY))
ANNOUNCEMENTS = Subscription(ANNOUNCEMENT, inserts_only=True)
_MAPPER = EntryMapper(None)  # without a cipher: no consumer needs a sensitive value


class Change(NamedTuple):
    """A change of an entry, or an announcement that a task's memory was archived.

    Attributes:
        old: the entry before; None if there was none.
        new: the entry after; None if it was removed.
    """

    record: StreamRecord
    old: Entry | None = None
    new: Entry | None = None
    announcement: Item | None = None

    @property
    def removed(self) -> Entry | None:
        """The entry that was removed and not replaced."""
        return self.old if self.new is None else None


def _decode_change(record: StreamRecord) -> Change:
    if ANNOUNCEMENTS.matches(record):
        return Change(record, announcement=decode_item(record.new) if record.new else None)
    return Change(record, _decode_entry(record.old), _decode_entry(record.new))


def _decode_entry(image: TypedItem | None) -> Entry | None:
    return _MAPPER.find_entry(decode_item(image)) if image else None


class StreamBatch:
    """The records of one invocation, and those that must be delivered again.

    If a record of an item fails, the item's later records are blocked: they fail, too, so that the
    changes of an item are processed in order. A batch is for one thread; jobs have forks.

    Attributes:
        records: in the order of the stream, without records of agents and tenants that were deleted
            since, so late or repeated records restore nothing.
        delivered: these, and records of deleted agents.
        blocked_from: the number of the first failed record of each item that has one.
    """

    def __init__(
        self, records: Iterable[Mapping[str, Any]], deleted_owners: DeletedOwners | None = None
    ) -> None:
        self.records = self.delivered = list(map(parse_record, records))
        if deleted_owners is not None:
            is_gone = deleted_owners.is_tenant_deleted
            self.delivered = [each for each in self.records if not is_gone(each.tenant)]
            self.records = [
                each for each in self.delivered if not _is_deleted(each, deleted_owners)
            ]
        self.blocked_from: dict[Key, int] = {}

    @property
    def failed(self) -> list[str]:
        """The sequence numbers of the records that failed, in the order of the batch."""
        return [each.sequence for each in self.records if not self.may_process(each)]

    @property
    def first_failed(self) -> int | None:
        """The lowest number of a failed record, from which Lambda delivers again."""
        return min(self.blocked_from.values(), default=None)

    def fail(self, record: StreamRecord, error: BaseException | None = None) -> None:
        """Fail a record and the item's later ones, to be delivered again, if a service failed.

        Any other error would be repeated by each delivery, and delay later records. So the consumer
        skips the record: it is logged with its key, and counted.
        """
        if error is not None:
            where = {"sequence": record.sequence, "item_key": " ".join(record.key)}
            log_unexpected(error, **where, trace_id=record.trace_id)
        if error is not None and not is_service_failure(error):
            report_count("StreamSkippedRecords", item_key=" ".join(record.key))
            return
        first = self.blocked_from.get(record.key, record.number)
        self.blocked_from[record.key] = min(record.number, first)

    @contextmanager
    def guard(self, records: Iterable[StreamRecord]) -> Iterator[None]:
        """Fail these records if the block raises an error; other records continue."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the others continue
            for record in records:
                self.fail(record, error)

    def may_process(self, record: StreamRecord) -> bool:
        """Tell whether no record of the item has failed up to this one."""
        first = self.blocked_from.get(record.key)
        return first is None or record.number < first

    def run(self, pool: WorkerPool, jobs: Iterable[Callable[["StreamBatch"], T]]) -> list[T]:
        """Run jobs in parallel, each with a fork, and merge their failures."""
        calls = [(job, self._fork()) for job in jobs]
        results = pool.run([partial(job, fork) for job, fork in calls])
        for _, fork in calls:
            for key, first in fork.blocked_from.items():
                self.blocked_from[key] = min(first, self.blocked_from.get(key, first))
        return results

    def _fork(self) -> "StreamBatch":
        """Create a batch of the same records for another thread, with separate failures."""
        fork = StreamBatch(())
        fork.records, fork.changes = self.records, self.changes
        fork.blocked_from = dict(self.blocked_from)
        return fork

    @cached_property
    def changes(self) -> list[Change]:
        """The changes of entries and archival announcements; others are skipped."""
        changes = []
        for record in self.records:
            is_change = any(each.matches(record) for each in (*ENTRIES, ANNOUNCEMENTS))
            if not is_change or not self.may_process(record):
                continue
            with self.guard([record]):
                changes.append(_decode_change(record))
        return changes


def order_by_turns(items: Iterable[T], get_tenant: Callable[[T], str]) -> list[T]:
    """Order items so that tenants take turns: the first item of each, then the second, and so on.

    A busy tenant thus does not delay others.
    """
    turns: Counter[str] = Counter()
    ordered: list[tuple[int, T]] = []
    for item in items:
        tenant = get_tenant(item)
        ordered.append((turns[tenant], item))
        turns[tenant] += 1
    return [item for _, item in sorted(ordered, key=lambda each: each[0])]
