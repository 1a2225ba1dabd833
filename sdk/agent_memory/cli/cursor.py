"""Every entry of a query once, from the oldest to the newest, while others write.

Lists are paged by offset, newest first, so a create or a delete in between moves everything. So
each page must overlap what was given before; where it doesn't, it is asked for again, further back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_memory import Client
from agent_memory.cli.connection import parse_document
from agent_memory.exceptions import InvalidAnswerError
from agent_memory.responses import parse, parse_items

MEMORY = "/api/v1/memory"
_FIRST_LIMIT, _MOST_LIMIT = 100, 1000  # entries a page
_LEAST_LIMIT = 2  # one that overlaps, and one that is new
_ROOMY = 2_000_000  # bytes of a page that may be doubled: they are cut at 5 MB
Document = dict[str, Any]
Position = tuple[str, str]


@dataclass(frozen=True)
class _Page:
    offset: int
    entries: list[Document]  # newest first
    total: int
    after: int | None  # the offset of what follows; None at the list's end
    size: int  # bytes of the answer

    @property
    def is_last(self) -> bool:
        """Whether it ends with the oldest entry of all; one behind the list's end doesn't."""
        return self.after is None and (self.offset == 0 or bool(self.entries))

    def index_up_to(self, last: Position) -> int | None:
        """Return where the first entry stands that isn't newer than `last`."""
        return next((i for i, each in enumerate(self.entries) if position(each) <= last), None)


class EntryCursor:
    """Iterate over the entries that match a query, oldest first, while others write.

    What stands and matches from the first request to the last is given exactly once, as it was when
    its page was read. What is created meanwhile isn't given; what is deleted meanwhile may be.

    Attributes:
        total: how many entries matched at the start.
    """

    def __init__(self, client: Client, filters: Mapping[str, str]) -> None:
        self._client = client
        self._filters = filters
        self._limit = _FIRST_LIMIT
        self._last: Position = ("", "")
        self._older = 0  # how many entries weren't newer than the last one given
        start = self._fetch(0, 1)
        self._newest = position(start.entries[0]) if start.entries else ("", "")
        self.total = self._total = start.total

    def __iter__(self) -> Iterator[Document]:
        while self._last < self._newest:
            page = self._overlapping_page()
            self._older = page.total - page.offset
            for entry in reversed(page.entries):
                if self._last < position(entry) <= self._newest:
                    self._last = position(entry)
                    yield entry
            if page.offset == 0 or position(page.entries[0]) > self._newest:
                return
            if page.size < _ROOMY:
                self._limit = min(self._limit * 2, _MOST_LIMIT)

    def _overlapping_page(self) -> _Page:
        """Return the next page that overlaps what was given, or ends the list."""
        slack = 0
        while True:
            known = self._total
            end = min(known - self._older + 1, known) + slack
            page = self._fetch(max(min(end - self._limit, known - 1), 0), self._limit)
            if self._was_cut(page):
                continue
            given = page.index_up_to(self._last)
            if given == 0 and page.offset > 0:  # too far back
                self._older, slack = page.total - page.offset, 0
            elif given is not None or page.is_last:
                return page
            else:
                slack = 2 * max(slack, abs(page.total - known), 1)

    def _was_cut(self, page: _Page) -> bool:
        """Return whether the page was cut for its size; the next ones are asked for smaller."""
        if page.after is None or page.after >= page.offset + self._limit:
            return False
        if self._limit == _LEAST_LIMIT:
            raise InvalidAnswerError("the server's pages hold fewer than two entries")
        self._limit = max(page.after - page.offset, _LEAST_LIMIT)
        return True

    def _fetch(self, offset: int, limit: int) -> _Page:
        paging = {"limit": str(limit), "offset": str(offset)}
        answer = self._client.request("GET", MEMORY, params={**self._filters, **paging})
        page = parse_document(answer, "entries", "total")
        self._total = page["total"]
        found, size = parse_items(page["entries"]), len(answer.content)
        for entry in found:
            parse(position, entry)
        return _Page(offset, found, page["total"], page.get("next_offset"), size)


def position(entry: Document) -> Position:
    """Return what lists sort by: creation, then id."""
    return entry["created_at"], entry["id"]
