"""The items of a list, fetched page by page."""

from collections.abc import Iterator

from agent_memory._waiting import Fetch, FirstPage
from agent_memory.page import PAGE_SIZE, Item, Page, Paging
from agent_memory.requests import assert_known

_Items = list[Item]


class Pages(FirstPage[Item]):
    """The result of a list: its first page, and all items by iteration.

    Each iteration reads all pages again, one page at a time as it is needed. `items` and `next`
    belong to the first page. They read it when you use them first; with the async client, `await`
    the result.

        for entry in client.memory.query(namespace="invoices"):  # all of them
            print(entry.key)
        page = client.memory.query(namespace="invoices", page_size=20)  # one page
        more = client.memory.query(namespace="invoices", page_size=20, after=page.next)

    Args:
        fetch: fetches a page, by its size and its position.
        limit: the maximum number of items; None: all.
        page_size: the number of items of a page.
        after: the position to begin after; None: at the beginning.
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
        """Yield the pages, each with its `items` and the position of the `next` one.

        for page in client.memory.query(namespace="invoices").pages():
            save(page.items, page.next)
        """
        after, remaining = self._after, self._limit
        while remaining is None or remaining > 0:
            size = self._page_size if remaining is None else min(self._page_size, remaining)
            page = self._fetch(size, after)
            yield page
            if page.next in (None, after):  # at the end of a log, `next` does not change
                return
            after = page.next
            remaining = None if remaining is None else remaining - len(page.items)

    def list(self) -> _Items[Item]:
        """Return all items.

        client.memory.query(namespace="invoices", limit=500).list()
        """
        return [item for item in self]

    def _read_first_page(self) -> Page[Item]:
        for page in self.pages():
            return page
        return Page([], None)


def to_pages(fetch: Fetch[Item], paging: Paging, known: type = Paging) -> Pages[Item]:
    """Return the list whose pages are fetched by a function.

    Raises:
        TypeError: raised when a keyword of the call isn't one of the `known` ones.
        ValueError: raised when a limit is negative.
    """
    assert_known(paging, known)
    limit = paging.get("limit")
    if limit is not None and limit < 0:
        raise ValueError("limit must be 0 or more")
    return Pages(fetch, limit, paging.get("page_size", PAGE_SIZE), paging.get("after"))
