"""The items of a list, fetched a page at a time."""

from collections.abc import Iterator

from agent_memory._waiting import Fetch, Testable
from agent_memory.page import Item, Page

_Items = list[Item]


class Pages(Testable[Item]):
    """The items of a list: loop over them, as often as you like.

    Each loop asks the service anew, a page at a time. `list()` gives all items at once, for their
    number or a place among them.

        for entry in client.memory.query(namespace="invoices"):
            print(entry.key)

    Args:
        fetch: fetches a page of so many items behind a position.
        limit: how many items at most; None: all.
        page_size: how many items a page has.
        after: the position to begin behind; None: at the beginning.
    """

    def __init__(
        self, fetch: Fetch[Item], limit: int | None, page_size: int, after: str | None
    ) -> None:
        self._fetch = fetch
        self._limit = limit
        self._page_size = page_size
        self._after = after

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            for item in page.items:
                yield item

    def pages(self) -> Iterator[Page[Item]]:
        """Yield the pages, each with its `items` and the position of the `next` one."""
        after, remaining = self._after, self._limit
        while remaining is None or remaining > 0:
            size = self._page_size if remaining is None else min(self._page_size, remaining)
            page = self._fetch(size, after)
            yield page
            after = page.next
            if after is None:
                return
            remaining = None if remaining is None else remaining - len(page.items)

    def first_page(self) -> Page[Item]:
        """Return the first page alone: one request, or none if the limit is 0."""
        for page in self.pages():
            return page
        return Page([], None)

    def list(self) -> _Items[Item]:
        """Return all items."""
        return [item for item in self]
