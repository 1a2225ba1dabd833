"""Entries of memories: items, tag rows, deletions and the markers of idempotent puts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from functions.openwop.model import EntryListQuery, MemoryEntry, MemoryRun
from functions.openwop.rules import (
    CLOCK_SKEW,
    SETTLING_TIME,
    is_visible,
    run_closed,
    run_not_found,
)
from functions.openwop.run_store import check_run_open, decode_run, delete_units
from functions.openwop.sequence_store import SequenceNumbers, advance_for_delete, advance_for_put
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import DELETION, MEMORY_ENTRY
from functions.platform.items import Item
from functions.platform.keys import get_due_shard
from functions.platform.limits import MAX_GET_ITEMS, OPENWOP_RUN_LIFETIME
from functions.platform.openwop_keys import (
    build_deletion_key,
    build_memory_entry_id,
    build_memory_entry_key,
    build_memory_run_key,
    build_put_request_key,
    build_tag_prefix,
    build_tag_row_key,
    get_timestamp_of_sequence,
    parse_sequence,
)
from functions.platform.retry import Backoff
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.ttl import to_ttl_seconds
from functions.platform.values import compress, decompress
from functions.platform.writes import Write, delete, put, update

_LAST = "~"  # sorts after every sequence number
_HOUR = 3_600_000  # ms


@dataclass(frozen=True, slots=True)
class MemoryEntryDraft:
    """An entry to be put, redacted.

    Attributes:
        run: the run that puts it, which must be open.
        token: of the Idempotency-Key, if the request has one.
        replaces: the number of an entry that the same request put, and that no longer exists.
    """

    partition: str
    suffix: str
    content: str
    tags: tuple[str, ...]
    expires: int | None
    run: str | None
    now: int
    token: RequestToken | None
    replaces: int | None = None

    def to_entry(self, number: int) -> MemoryEntry:
        """Make the entry with a sequence number."""
        return MemoryEntry(
            sequence=number,
            suffix=self.suffix,
            content=self.content,
            tags=self.tags,
            id=build_memory_entry_id(number, self.suffix),
            created=get_timestamp_of_sequence(number),
            expires=self.expires,
            request=None if self.token is None else self.token.key,
        )

    def build_writes(self, number: int) -> list[Write]:
        """Build all writes of the put with a sequence number."""
        key, ttl = (
            build_memory_entry_key(self.partition, number),
            {TTL_ATTRIBUTE: to_ttl_seconds(self.expires)},
        )
        return [
            advance_for_put(key, number),
            put(key, _encode(self.to_entry(number), self.partition) | ttl),
            *(put(build_tag_row_key(self.partition, tag, number), dict(ttl)) for tag in self.tags),
            *([self._put_marker(self.token, number, ttl)] if self.token else []),
            *([check_run_open(self.partition, self.run, self.now)] if self.run else []),
        ]

    def _put_marker(self, token: RequestToken, number: int, ttl: Item) -> Write:
        key = build_put_request_key(self.partition, token.key)
        marker = {"seq": number, "request": token.stored} | ttl
        if self.replaces is None:
            return put(key, marker, "attribute_not_exists(pk)")
        return put(key, marker, "seq = :replaced", replaced=self.replaces)


@dataclass(frozen=True, slots=True)
class Deletion:
    """The row of a deleted entry: the sequence numbers of its write and of its deletion."""

    partition: str
    written: int
    deleted: int


class MemoryEntryStore:
    """Reads and writes entries; all reads are strongly consistent."""

    def __init__(self, table: Table, numbers: SequenceNumbers) -> None:
        self._table = table
        self._numbers = numbers

    def get(self, partition: str, number: int) -> MemoryEntry | None:
        """Read the entry with a sequence number: one read."""
        item = self._table.get(build_memory_entry_key(partition, number))
        return None if item is None else _decode(item)

    def get_with_run(
        self, partition: str, number: int, run: str
    ) -> tuple[MemoryEntry | None, MemoryRun | None]:
        """Read the entry with a sequence number, and a run: one call."""
        keys = build_memory_entry_key(partition, number), build_memory_run_key(partition, run)
        items = self._table.get_many(keys)
        entry = _decode(items[keys[0]]) if keys[0] in items else None
        return entry, decode_run(run, items.get(keys[1]))

    def list_entries(
        self, partition: str, query: EntryListQuery, snapshot: int | None
    ) -> Iterator[MemoryEntry]:
        """Read the entries before a snapshot, newest first, page by page as they are taken.

        With a tag, its rows are read, and then the entries that they name.
        """
        ends = [number for number in (snapshot, query.before) if number is not None]
        if query.tag is not None:
            return self._list_tagged(partition, query.tag, query.page_size, ends)
        last = (
            build_memory_entry_key(partition, min(ends) - 1)[1]
            if ends
            else MEMORY_ENTRY.sort_prefix + _LAST
        )
        items = self._table.query_from(
            partition, MEMORY_ENTRY.sort_prefix, last, query.page_size, newest_first=True
        )
        return map(_decode, items)

    def _list_tagged(
        self, partition: str, tag: str, page_size: int, ends: Sequence[int]
    ) -> Iterator[MemoryEntry]:
        first = build_tag_prefix(tag)
        last = build_tag_row_key(partition, tag, min(ends) - 1)[1] if ends else first + _LAST
        rows = self._table.query_from(partition, first, last, page_size, newest_first=True)
        while page := list(islice(rows, min(page_size, MAX_GET_ITEMS))):
            keys = [build_memory_entry_key(partition, parse_sequence(row["sk"])) for row in page]
            items = self._table.get_many(keys)
            yield from (_decode(items[key]) for key in keys if key in items)

    def put(self, new: MemoryEntryDraft) -> MemoryEntry:
        """Put an entry, unless an earlier try of the same request did: one call.

        Raises:
            NotFound: the run does not exist.
            RunEnded: the run is closed.
            IdempotencyConflict: the Idempotency-Key came with another body.
        """
        backoff = Backoff("this put is being repeated by others")
        while True:
            try:
                return new.to_entry(self._numbers.commit(new.partition, new.build_writes))
            except TransactionConditionFailed as refused:
                earlier = self._find_marker(new, refused)
            replaces = None
            if earlier is not None:
                replaces = earlier["seq"]
                entry = self.get(new.partition, replaces)
                if entry is not None and is_visible(entry, None, new.now):
                    return entry
            new = replace(new, replaces=replaces)
            backoff.wait()

    def _find_marker(
        self, new: MemoryEntryDraft, refused: TransactionConditionFailed
    ) -> Item | None:
        """Get the marker of an earlier try, None if it was deleted meanwhile."""
        key = build_put_request_key(new.partition, new.token.key) if new.token else None
        if new.token is None or key not in refused.failed:
            _assert_run_open(new.partition, new.run or "", refused)
            raise refused
        marker = refused.failed[key]
        if marker is not None:
            new.token.matches(marker["request"])  # raises, if it had another body
        return marker

    def delete(self, partition: str, written: int, suffix: str, run: str | None, now: int) -> bool:
        """Mark an entry as deleted, for runs that start later; whether it existed: one call.

        It stays for the runs that see it. Should the schedule fail, DynamoDB's TTL removes it once
        the last of them must be over.

        Raises:
            NotFound: the run does not exist.
            RunEnded: the run is closed.
        """
        key = build_memory_entry_key(partition, written)

        def build_writes(number: int) -> list[Write]:
            mark = update(
                key,
                f"SET deleted_seq = :seq, {TTL_ATTRIBUTE} = :ttl",
                "suffix = :suffix AND attribute_not_exists(deleted_seq) AND "
                "(attribute_not_exists(expires) OR expires > :now)",
                seq=number,
                ttl=to_ttl_seconds(now + OPENWOP_RUN_LIFETIME + CLOCK_SKEW + _HOUR),
                suffix=suffix,
                now=now,
            )
            row = put(build_deletion_key(partition, number), {"written_seq": written})
            checks = [check_run_open(partition, run, now)] if run else []
            return [advance_for_delete(key, number, now + SETTLING_TIME), mark, row, *checks]

        try:
            self._numbers.commit(partition, build_writes)
        except TransactionConditionFailed as refused:
            _assert_run_open(partition, run or "", refused)
            return False
        return True

    def list_deletions(self, partition: str) -> Iterator[Deletion]:
        """Read the rows of a memory's deleted entries."""
        for row in self._table.query(partition, DELETION.sort_prefix):
            yield Deletion(partition, row["written_seq"], parse_sequence(row["sk"]))

    def purge(self, deletions: Iterable[Deletion]) -> None:
        """Remove deleted entries and their rows from storage."""
        by_key = {build_memory_entry_key(each.partition, each.written): each for each in deletions}
        items = self._table.get_many(by_key)
        units = []
        for key, deletion in by_key.items():
            row = delete(build_deletion_key(deletion.partition, deletion.deleted))
            units.append([row, *_delete_entry(items[key])] if key in items else [row])
        delete_units(self._table, units)

    def purge_expired(self, item: Item) -> None:
        """Remove an expired entry, by its item, from storage."""
        delete_units(self._table, [_delete_entry(item)])


def _assert_run_open(partition: str, run: str, refused: TransactionConditionFailed) -> None:
    """Raises `NotFound` or `RunEnded` if a write was refused on account of its run."""
    key = build_memory_run_key(partition, run)
    if key in refused.failed:
        raise (run_not_found() if refused.failed[key] is None else run_closed()) from refused


def _delete_entry(item: Item) -> list[Write]:
    """Delete an entry, its tag rows, and its request's marker unless that was used again since."""
    entry, partition = _decode(item), item["pk"]
    writes = [delete(build_memory_entry_key(partition, entry.sequence))]
    writes += [delete(build_tag_row_key(partition, tag, entry.sequence)) for tag in entry.tags]
    if entry.request is not None:
        key = build_put_request_key(partition, entry.request)
        writes.append(delete(key, "seq = :seq", seq=entry.sequence))
    return writes


def _encode(entry: MemoryEntry, partition: str) -> Item:
    return {
        "suffix": entry.suffix,
        "val": compress(entry.content.encode()),
        "tags": tuple(entry.tags) or None,
        "expires": entry.expires,
        "request": entry.request,
        DUE_ATTRIBUTE: entry.expires,
        DUE_SHARD_ATTRIBUTE: None if entry.expires is None else get_due_shard(partition),
    }


def _decode(item: Item) -> MemoryEntry:
    number, suffix = parse_sequence(item["sk"]), item["suffix"]
    return MemoryEntry(
        sequence=number,
        suffix=suffix,
        content=decompress(item["val"]).decode(),
        tags=tuple(item.get("tags", ())),
        id=build_memory_entry_id(number, suffix),
        created=get_timestamp_of_sequence(number),
        expires=item.get("expires"),
        deleted=item.get("deleted_seq"),
        request=item.get("request"),
    )
