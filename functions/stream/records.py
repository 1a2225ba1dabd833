"""Records of the change stream, and one batch of them with what has failed so far."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.platform.item_types import ANNOUNCEMENT, PRIVATE_ENTRY, SEMANTIC_ENTRY, ItemType
from functions.platform.items import Item, TypedItem, decode_item
from functions.platform.keys import Key, get_tenant
from functions.platform.observability import log_unexpected


class StreamRecord(NamedTuple):
    """One change of an item.

    Attributes:
        sequence: the record's sequence number, which is its name in the stream.
        key: the key of the item.
        event_name: INSERT, MODIFY or REMOVE.
        old: the item before, in typed form; None if there was none.
        new: the item after.
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
_MAPPER = EntryMapper(None)  # without a cipher: nothing here needs a sensitive value


class Change(NamedTuple):
    """A change of an entry, or an announcement that a task's memory was archived.

    Attributes:
        record: the record that it was decoded from.
        old: the entry before; None if there was none.
        new: the entry after; None if it was removed.
        announcement: the item of an announcement.
    """

    record: StreamRecord
    old: Entry | None = None
    new: Entry | None = None
    announcement: Item | None = None

    @property
    def removed(self) -> Entry | None:
        """The entry that was removed and not replaced."""
        return self.old if self.new is None else None


def decode_change(record: StreamRecord) -> Change:
    """Decode a record that `ENTRIES` or `ANNOUNCEMENTS` matches.

    Raises:
        Exception: the record has no image of an entry.
    """
    if ANNOUNCEMENTS.matches(record):
        return Change(record, announcement=decode_item(record.new) if record.new else None)
    return Change(record, _decode_entry(record.old), _decode_entry(record.new))


def _decode_entry(image: TypedItem | None) -> Entry | None:
    return _MAPPER.to_entry(decode_item(image)) if image else None


class StreamBatch:
    """The records of one invocation, and which of them are to be delivered again.

    Once a record of an item has failed, the item's later records are blocked: they fail, too, so
    that the changes of an item are processed in order.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        self.records = [parse_record(record) for record in records]
        self._failed: dict[str, None] = {}  # sequence numbers, in the order of failure
        self._blocked_from: dict[Key, int] = {}  # the number of an item's first failed record

    @property
    def failed(self) -> list[str]:
        """The sequence numbers of the records that failed."""
        return list(self._failed)

    @property
    def first_failed(self) -> int | None:
        """The lowest number of a failed record: Lambda delivers again from there on."""
        return min(map(int, self._failed), default=None)

    def fail(self, record: StreamRecord, error: BaseException | None = None) -> None:
        """Have a record, and the later ones of its item, delivered again."""
        self._failed[record.sequence] = None
        first = self._blocked_from.get(record.key, record.number)
        self._blocked_from[record.key] = min(record.number, first)
        if error is not None:
            log_unexpected(error, sequence=record.sequence)

    def may_process(self, record: StreamRecord) -> bool:
        """Tell whether a record may be processed; a blocked one fails."""
        first = self._blocked_from.get(record.key)
        if first is None or record.number < first:
            return True
        self.fail(record)
        return False

    @cached_property
    def changes(self) -> list[Change]:
        """The changes of entries and archival announcements; what can't be decoded fails."""
        changes = []
        for record in self.records:
            is_change = any(each.matches(record) for each in (*ENTRIES, ANNOUNCEMENTS))
            if not is_change or not self.may_process(record):
                continue
            try:
                changes.append(decode_change(record))
            except Exception as error:  # noqa: BLE001 - a poison record holds up its own item only
                self.fail(record, error)
        return changes
