"""Read pages of the entries that several sources list together.

A source lists entries newest first: the index rows of a namespace, an agent's entries of a type, a
task's entries. A page has the newest entries of all sources.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.platform import entry_keys
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.limits import MAX_EXAMINED, MAX_PAGE_ITEMS
from functions.platform.parallel import run_parallel

_ALL = 1_000_000_000  # rows; DynamoDB returns a megabyte for each call
_READ_TOGETHER = 100  # entries: a call of DynamoDB


class Row(NamedTuple):
    """An entry as a source lists it.

    Attributes:
        token: the entry's sort token.
        entry: the entry, if the source has read it and it matches.
        may_match: whether to read the entry: no attribute of the row excludes it.
    """

    token: str
    entry: Entry | None = None
    may_match: bool = True


class Source(NamedTuple):
    """A list of entries, newest first.

    Attributes:
        list_rows: lists up to a number of rows before a sort token, or from the newest on.
        select: selects the entries that match, of those that were read for rows.
    """

    list_rows: Callable[[str | None, int], list[Row]]
    select: Callable[[Sequence[Entry]], Iterable[Entry]]


class PageReader:
    """Reads what several sources list together."""

    def __init__(self, store: EntryStore) -> None:
        self._store = store

    def read_page(
        self, tenant: str, sources: Sequence[Source], wanted: WantedPage
    ) -> BoundedPage[Entry]:
        """Read a page, newest first; positions are sort tokens."""
        if wanted.is_counted:
            return self._read_counted(tenant, sources, wanted)
        return self._read_uncounted(tenant, sources, wanted)

    def read_all(self, tenant: str, sources: Sequence[Source]) -> Iterator[Entry]:
        """Read all entries, newest first, a hundred at a time."""
        listed = _list_all(sources)
        for start in range(0, len(listed), _READ_TOGETHER):
            yield from self._load(tenant, sources, listed[start : start + _READ_TOGETHER])

    def _read_counted(
        self, tenant: str, sources: Sequence[Source], wanted: WantedPage
    ) -> BoundedPage[Entry]:
        """List all rows, and read the entries of the page alone."""
        limit, start, after, _ = wanted
        listed = _list_all(sources)
        if after is not None:  # tokens descend, so those of later pages are less than `after`
            start = bisect_left(listed, x=True, key=lambda each: each.row.token < after)
        page = listed[start : start + limit]
        has_more = page and start + limit < len(listed)
        end = page[-1].row.token if has_more else None
        return BoundedPage(self._load(tenant, sources, page), end, len(listed))

    def _read_uncounted(
        self, tenant: str, sources: Sequence[Source], wanted: WantedPage
    ) -> BoundedPage[Entry]:
        """List and read as much as the page needs.

        If filters leave out most rows, each round lists twice as many as the one before. A page
        without offset ends after some thousands of rows, though it may be short.
        """
        found: list[Entry] = []
        offset, end = wanted.offset, wanted.offset + wanted.limit
        begin, size, examined = wanted.after, wanted.read_size, 0
        while True:
            lists = run_parallel([partial(each.list_rows, begin, size) for each in sources])
            begin = _find_end(lists, size)
            found += self._load(tenant, sources, _merge(lists, begin))
            examined += sum(map(len, lists))
            if len(found) > end:
                return BoundedPage(found[offset:end], found[end - 1].sort_token)
            if begin is None or (examined >= MAX_EXAMINED and not offset):
                return BoundedPage(found[offset:], begin)
            size = min(2 * size, MAX_PAGE_ITEMS)

    def _load(
        self, tenant: str, sources: Sequence[Source], listed: Sequence["_Listed"]
    ) -> list[Entry]:
        """Return the entries of rows that match, reading those that no source has read."""
        present = self._read(tenant, (row.token for _, row in listed if row.entry is None))
        shown = {row.token: row.entry for _, row in listed if row.entry is not None}
        for number, source in enumerate(sources):
            tokens = (row.token for origin, row in listed if origin == number)
            read = [present.get(entry_keys.parse_sort_token(token)) for token in tokens]
            selected = source.select([entry for entry in read if entry is not None])
            shown |= {entry.sort_token: entry for entry in selected}
        return [shown[row.token] for _, row in listed if row.token in shown]

    def _read(self, tenant: str, tokens: Iterable[str]) -> dict[str, Entry]:
        ids = set(map(entry_keys.parse_sort_token, tokens))
        addresses = (entry_keys.parse_entry_id(tenant, each) for each in ids)
        found = self._store.get_many(address[0] for address in addresses if address is not None)
        return {entry.id: entry for entry in found.values() if entry.id in ids}


class _Listed(NamedTuple):
    """A row and the number of its source."""

    source: int
    row: Row


def _list_all(sources: Sequence[Source]) -> list[_Listed]:
    return _merge(run_parallel([partial(each.list_rows, None, _ALL) for each in sources]))


def _find_end(lists: Iterable[list[Row]], size: int) -> str | None:
    """Return the token down to which all sources were listed; None if they were listed whole.

    Example: with size 2, one source lists 9 and 8, another one 7 and 3. Below 8, the first source
    may have more, so this round ends at 8. The next one begins behind 8 and lists 7 again.
    """
    return max((rows[-1].token for rows in lists if len(rows) >= size), default=None)


def _merge(lists: Iterable[list[Row]], end: str | None = None) -> list[_Listed]:
    """Return the rows that may match down to `end`, newest first, each entry once."""
    by_token = {
        row.token: _Listed(number, row)
        for number, rows in enumerate(lists)
        for row in rows
        if row.may_match and (end is None or row.token >= end)
    }
    return [by_token[token] for token in sorted(by_token, reverse=True)]
