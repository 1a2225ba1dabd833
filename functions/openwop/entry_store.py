"""Entries of memories: items, tag rows and the markers of idempotent puts."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from functions.openwop.model import EntryListQuery, MemoryEntry, MemoryRun
from functions.openwop.rules import (
    CLOCK_SKEW,
    SETTLING_TIME,
    assert_open,
    compute_next_look,
    is_visible,
)
from functions.openwop.run_store import build_run_key, check_run_open, decode_run
from functions.openwop.sequence_store import SequenceNumbers, advance_for_delete, advance_for_put
from functions.platform.clock import to_ttl_seconds
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import MEMORY, MEMORY_ENTRY, PUT_REQUEST, SNAPSHOT_PIN, TAG_ROW
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.json_text import compress, decompress
from functions.platform.keys import build_due_attributes, get_due_shard
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.retry import Backoff
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.values import read_text
from functions.platform.writes import Write, delete, put, put_new, update

_MAX_PINS = 100  # pins that are read; the entry is checked again later
_LAST = "~"  # sorts after every sequence number
_SET_DUE = f"{DUE_ATTRIBUTE} = :due, {DUE_SHARD_ATTRIBUTE} = :shard"


class MemoryEntryDraft(NamedTuple):
    """An entry to be put, redacted.

    Attributes:
        entry: without a sequence number; its run must be open and on the memory.
        secrets_sum: the sum of the secrets that were redacted.
        replaces: the number of a deleted entry that the same request put.
    """

    tenant: str
    memory: str
    entry: MemoryEntry
    secrets_sum: int
    now: int
    token: RequestToken | None
    replaces: int | None = None

    @property
    def partition(self) -> str:
        return MEMORY.build_partition(self.tenant, memory=self.memory)

    def build_writes(self, number: int) -> list[Write]:
        """Build all writes of the put with a sequence number."""
        entry, partition = self.entry._replace(sequence=number), self.partition
        key = MEMORY_ENTRY.build_key_in(partition, sequence=number)
        ttl = {TTL_ATTRIBUTE: to_ttl_seconds(entry.expires_at)}
        tags = (TAG_ROW.build_key_in(partition, tag=tag, sequence=number) for tag in entry.tags)
        writes = [
            advance_for_put(key, number, self.secrets_sum),
            put(key, _encode(entry, partition) | ttl),
            *(put(tag, dict(ttl)) for tag in tags),
        ]
        if self.token is not None:
            writes.append(self._put_marker(self.token, number, ttl))
        if entry.put_in is not None:
            writes.append(check_run_open(self.tenant, entry.put_in, self.memory, self.now))
        return writes

    def _put_marker(self, token: RequestToken, number: int, ttl: Item) -> Write:
        key = PUT_REQUEST.build_key_in(self.partition, request=token.key.hex())
        marker = {"sequence": number, "request": token.stored} | ttl
        if self.replaces is None:
            return put_new(key, marker)
        return put(key, marker, "#sequence = :replaced", replaced=self.replaces)


class MemoryEntryStore:
    """Reads and writes entries; all reads are strongly consistent."""

    def __init__(self, table: Table, numbers: SequenceNumbers) -> None:
        self._table = table
        self._numbers = numbers

    def get(self, partition: str, number: int) -> MemoryEntry | None:
        """Read the entry with a sequence number: one read."""
        return self._table.find(MEMORY_ENTRY.build_key_in(partition, sequence=number), _decode)

    def get_with_run(
        self, tenant: str, memory: str, number: int, run: str
    ) -> tuple[MemoryEntry | None, MemoryRun | None]:
        """Read the entry with a sequence number, and a run: one call."""
        partition = MEMORY.build_partition(tenant, memory=memory)
        keys = (
            MEMORY_ENTRY.build_key_in(partition, sequence=number),
            build_run_key(tenant, run),
        )
        items = self._table.get_many(keys)
        entry = _decode(items[keys[0]]) if keys[0] in items else None
        return entry, decode_run(items.get(keys[1]))

    def list_entries(
        self, partition: str, query: EntryListQuery, snapshot: int | None
    ) -> Iterator[MemoryEntry]:
        """Read the entries before a snapshot, newest first, page by page as they are used.

        With a tag, its rows are read, and then the entries that they name.
        """
        kind, named = (MEMORY_ENTRY, {}) if query.tag is None else (TAG_ROW, {"tag": query.tag})
        first = kind.build_sort_prefix(**named)
        ends = [number for number in (snapshot, query.before) if number is not None]
        last = kind.build_sort(**named, sequence=min(ends) - 1) if ends else first + _LAST
        rows = self._table.query(partition, first, last, query.page_size, newest_first=True)
        if query.tag is None:
            return map(_decode, rows)
        return self._read_tagged(partition, rows, query.page_size)

    def _read_tagged(
        self, partition: str, rows: Iterator[Item], page_size: int
    ) -> Iterator[MemoryEntry]:
        while page := list(islice(rows, min(page_size, MAX_GET_ITEMS))):
            keys = [
                MEMORY_ENTRY.build_key_in(partition, sequence=int(row["sk"].rpartition("#")[2]))
                for row in page
            ]
            items = self._table.get_many(keys)
            yield from (_decode(items[key]) for key in keys if key in items)

    def put(self, new: MemoryEntryDraft) -> MemoryEntry:
        """Put an entry, unless an earlier try of the same request did: one call."""
        backoff = Backoff("the same put is running; try again")
        while True:
            try:
                number = self._numbers.commit(new.partition, new.build_writes, new.secrets_sum)
                return new.entry._replace(sequence=number)
            except ConditionFailed as refused:
                earlier = self._find_marker(new, refused)
            replaces = None
            if earlier is not None:
                replaces = earlier["sequence"]
                entry = self.get(new.partition, replaces)
                if entry is not None and is_visible(entry, None, new.now):
                    return entry
            new = new._replace(replaces=replaces)
            backoff.wait()

    def _find_marker(self, new: MemoryEntryDraft, refused: ConditionFailed) -> Item | None:
        """Get the marker of an earlier try, None if it has just been deleted."""
        key = (
            PUT_REQUEST.build_key_in(new.partition, request=new.token.key.hex())
            if new.token
            else None
        )
        if new.token is None or key not in refused.failed:
            _assert_run_open(new.tenant, new.memory, new.entry.put_in, new.now, refused)
            raise refused
        marker = refused.failed[key]
        if marker is not None:
            new.token.matches(marker["request"])  # raises, if it had another body
        return marker

    def delete(
        self,
        tenant: str,
        memory: str,
        written: int,
        suffix: str,
        run: str | None,
        now: int,
        author: str | None,
        *further: Write,
    ) -> bool:
        """Mark an author's entry as deleted for later runs; return whether it existed: one call.

        It stays for the runs that see it. The schedule checks it when all runs that were started
        before are visible.
        """
        partition = MEMORY.build_partition(tenant, memory=memory)
        key = MEMORY_ENTRY.build_key_in(partition, sequence=written)

        def build_writes(number: int) -> list[Write]:
            mark = update(
                key,
                f"SET deleted = :sequence, {_SET_DUE}",
                "suffix = :suffix AND put_by = :author AND attribute_not_exists(deleted) AND "
                "(attribute_not_exists(expires_at) OR expires_at > :now)",
                sequence=number,
                due=now + SETTLING_TIME,
                shard=get_due_shard(partition),
                suffix=suffix,
                author=author,
                now=now,
            )
            checks = [check_run_open(tenant, run, memory, now)] if run else []
            return [advance_for_delete(key, number), mark, *checks, *further]

        try:
            self._numbers.commit(partition, build_writes)
        except ConditionFailed as refused:
            _assert_run_open(tenant, memory, run, now, refused)
            return False
        return True

    def purge(self, item: Item) -> None:
        """Remove the item of an expired or deleted entry."""
        writes = _delete_entry(item)
        try:
            self._table.transact(writes)
        except ConditionFailed as refused:
            # the request's marker was reused since, and stays
            rest = [write for write in writes if write.key not in refused.failed]
            self._table.transact(rest)

    def collect(self, item: Item, now: int) -> Counter[str]:
        """Remove an entry's item if it has expired, or if no kept snapshot shows it."""
        if item.get("expires_at", now + 1) <= now:
            self.purge(item)
            return Counter(expired=1)
        pins = self._list_pins(item["pk"], item["sequence"], item["deleted"], now)
        if not pins:
            self.purge(item)
            return Counter(entries_purged=1)
        kept = max(pin["snapshot_kept_until"] for pin in pins)
        is_any_open = any(pin["ends_at"] > now for pin in pins)
        due = compute_next_look(kept + CLOCK_SKEW, now, is_any_open=is_any_open)
        key, earliest = (item["pk"], item["sk"]), min(due, item.get("expires_at", due))
        values = {"due": earliest, "shard": get_due_shard(key[0])}
        self._table.try_write(update(key, f"SET {_SET_DUE}", "attribute_exists(pk)", **values))
        return Counter()

    def _list_pins(self, partition: str, after: int, before: int, now: int) -> list[Item]:
        """Read pins between two sequence numbers whose snapshots are kept, newest first."""
        if before - after <= 1:  # DynamoDB rejects a range that ends before its begin
            return []
        first = SNAPSHOT_PIN.build_sort(sequence=after + 1, run="")
        last = SNAPSHOT_PIN.build_sort(sequence=before - 1, run=_LAST)
        pins = self._table.query(partition, first, last, _MAX_PINS, newest_first=True)
        kept = (pin for pin in pins if pin["snapshot_kept_until"] + CLOCK_SKEW > now)
        return list(islice(kept, _MAX_PINS))


def _assert_run_open(
    tenant: str, memory: str, run: str | None, now: int, refused: ConditionFailed
) -> None:
    """Raise `NotFound` or `RunEnded` if a write failed because of its run."""
    key = run and build_run_key(tenant, run)
    if key and key in refused.failed:
        assert_open(decode_run(refused.failed[key]), now, memory)


def _delete_entry(item: Item) -> list[Write]:
    """Delete an entry, its tag rows, and its request's marker unless it was reused since."""
    entry, partition = _decode(item), item["pk"]
    number = {"sequence": entry.sequence}
    writes = [delete(MEMORY_ENTRY.build_key_in(partition, **number))]
    writes += [delete(TAG_ROW.build_key_in(partition, tag=tag, **number)) for tag in entry.tags]
    if entry.request is not None:
        key = PUT_REQUEST.build_key_in(partition, request=entry.request.hex())
        writes.append(delete(key, "#sequence = :sequence", sequence=entry.sequence))
    return writes


def _encode(entry: MemoryEntry, partition: str) -> Item:
    content = {"content": compress(entry.content.encode())}
    return to_attributes(entry) | content | build_due_attributes(partition, entry.expires_at)


def _decode(item: Item) -> MemoryEntry:
    content = read_text(item, lambda: decompress(item["content"]))
    return from_attributes(MemoryEntry, item, content=content.decode())
