"""What is read of memories. All of it is strongly consistent."""

from collections.abc import Iterator
from itertools import islice

from functions.openwop.items import entry_of, run_of
from functions.openwop.model import Listing, MemoryEntry, Run
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.snapshot_keys import (
    ENTRY_PREFIX,
    entry_item,
    position_of,
    run_item,
    secrets_item,
    tag_prefix,
    tag_row,
)
from functions.platform.table import Table

_LAST = "~"  # sorts after every position


class MemoryStore:
    """Reads of entries and runs."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def run(self, partition: str, run: str) -> Run | None:
        """A run: one read."""
        item = self._table.get(run_item(partition, run))
        return None if item is None else run_of(run, item)

    def run_with_secrets(self, partition: str, run: str) -> tuple[Run | None, Item | None]:
        """A run, and its sealed secrets if it has any: one call."""
        item, sealed = self._both(run_item(partition, run), secrets_item(partition, run))
        return None if item is None else run_of(run, item), sealed

    def run_with_entry(
        self, partition: str, run: str, position: int
    ) -> tuple[Run | None, MemoryEntry | None]:
        """A run, and the entry at a position if there is one: one call."""
        item, entry = self._both(run_item(partition, run), entry_item(partition, position))
        found = None if entry is None else entry_of(entry)
        return None if item is None else run_of(run, item), found

    def _both(self, one: Key, other: Key) -> tuple[Item | None, Item | None]:
        found = self._table.get_many((one, other))
        return found.get(one), found.get(other)

    def entry(self, partition: str, position: int) -> MemoryEntry | None:
        """The entry at a position: one read."""
        item = self._table.get(entry_item(partition, position))
        return None if item is None else entry_of(item)

    def entries(
        self, partition: str, listing: Listing, snapshot: int | None
    ) -> Iterator[MemoryEntry]:
        """The entries before a position, the newest first, read as they are asked for.

        With a tag, its rows are read, and then what they lead to.
        """
        ends = [each for each in (snapshot, listing.before) if each is not None]
        if listing.tag is not None:
            return self._tagged(partition, listing.tag, listing.at_once, ends)
        last = entry_item(partition, min(ends) - 1)[1] if ends else ENTRY_PREFIX + _LAST
        found = self._table.query_from(
            partition, ENTRY_PREFIX, last, listing.at_once, newest_first=True
        )
        return map(entry_of, found)

    def _tagged(
        self, partition: str, tag: str, at_once: int, ends: list[int]
    ) -> Iterator[MemoryEntry]:
        prefix = tag_prefix(tag)
        last = tag_row(partition, tag, min(ends) - 1)[1] if ends else prefix + _LAST
        rows = self._table.query_from(partition, prefix, last, at_once, newest_first=True)
        while chunk := list(islice(rows, min(at_once, MAX_GET_ITEMS))):
            keys = [entry_item(partition, position_of(row["sk"])) for row in chunk]
            found = self._table.get_many(keys)
            yield from (entry_of(found[key]) for key in keys if key in found)
