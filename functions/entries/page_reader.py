"""Read one page of what a query matches, and no further than its end.

Entries are listed by several sources: index rows of a namespace and tag, an agent's entries of a
tier, a task's. Each lists newest first, so that a page is what they list first together.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.platform import entry_keys
from functions.platform.bounded_pages import BoundedPage, WantedPage
from functions.platform.limits import MAX_EXAMINED, MAX_PAGE_ITEMS
from functions.platform.parallel import run_parallel


class Row(NamedTuple):
    """What a source says of an entry.

    Attributes:
        token: the entry's sort token.
        may_match: whether the entry has to be read: nothing that the row shows is filtered out.
    """

    token: str
    may_match: bool = True


Select = Callable[[Sequence[Entry]], Iterable[Entry]]


class Source(NamedTuple):
    """A list of entries, newest first.

    Attributes:
        list_rows: lists up to so many rows before a sort token, or from the newest on.
        select: selects what is shown of entries that were read.
    """

    list_rows: Callable[[str | None, int], list[Row]]
    select: Select


class PageReader:
    """Reads pages of what several sources list together."""

    def __init__(self, store: EntryStore) -> None:
        self._store = store

    def read(
        self, tenant: str, sources: Sequence[Source], wanted: WantedPage
    ) -> BoundedPage[Entry]:
        """Read a page, newest first; positions are sort tokens.

        The calls are one for each source, then one for each hundred entries. Where filters leave
        out most of what is listed, more is listed at a time; a page without offset ends where it
        has listed some thousands.
        """
        found: list[Entry] = []
        offset, end = wanted.offset, wanted.offset + wanted.limit
        begin, size, listed = wanted.after, wanted.read_size, 0
        while True:
            rows, begin = _list_next(sources, begin, size)
            found += self._load(tenant, sources, rows.tokens)
            listed += rows.listed
            if len(found) > end:
                return BoundedPage(found[offset:end], found[end - 1].sort_token)
            if begin is None or (listed >= MAX_EXAMINED and not offset):
                return BoundedPage(found[offset:], begin)
            size = min(2 * size, MAX_PAGE_ITEMS)

    def _load(
        self, tenant: str, sources: Sequence[Source], listed: Sequence[list[str]]
    ) -> list[Entry]:
        """Read listed entries; another incarnation in an entry's slot has another token."""
        ids = {entry_keys.parse_sort_token(token) for tokens in listed for token in tokens}
        if not ids:
            return []
        addresses = (entry_keys.parse_entry_id(tenant, each) for each in ids)
        present = self._store.get_many(address[0] for address in addresses if address is not None)
        by_id = {entry.id: entry for entry in present.values()}
        shown: dict[str, Entry] = {}
        for source, tokens in zip(sources, listed, strict=True):
            read = (by_id.get(entry_keys.parse_sort_token(token)) for token in tokens)
            selected = source.select([entry for entry in read if entry is not None])
            shown |= {entry.sort_token: entry for entry in selected}
        return [shown[token] for token in sorted(shown, reverse=True)]


class _Rows(NamedTuple):
    """Rows of several sources.

    Attributes:
        tokens: those of each source that may match, newest first.
        listed: how many were listed of all sources together.
    """

    tokens: list[list[str]]
    listed: int


def _list_next(sources: Sequence[Source], begin: str | None, size: int) -> tuple[_Rows, str | None]:
    """List the next rows of each source, and where they end.

    All sources are listed up to the same end: the highest one up to which one of them was listed.
    None if all are listed.
    """
    lists = run_parallel([partial(each.list_rows, begin, size) for each in sources])
    end = max((rows[-1].token for rows in lists if len(rows) >= size), default=None)
    tokens = [
        [row.token for row in rows if row.may_match and (end is None or row.token >= end)]
        for rows in lists
    ]
    return _Rows(tokens, sum(map(len, lists))), end
