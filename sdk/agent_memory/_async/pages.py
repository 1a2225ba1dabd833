"""The items of a list, fetched a page at a time."""

from collections.abc import AsyncIterator

from agent_memory._waiting_async import AsyncFetch, AsyncTestable
from agent_memory.page import Item, Page

_Items = list[Item]


class AsyncPages(AsyncTestable[Item]):
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
        self, fetch: AsyncFetch[Item], limit: int | None, page_size: int, after: str | None
    ) -> None:
        self._fetch = fetch
        self._limit = limit
        self._page_size = page_size
        self._after = after

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def pages(self) -> AsyncIterator[Page[Item]]:
        """Yield the pages, each with its `items` and the position of the `next` one."""
        after, remaining = self._after, self._limit
        while remaining is None or remaining > 0:
            size = self._page_size if remaining is None else min(self._page_size, remaining)
            page = await self._fetch(size, after)
            yield page
            after = page.next
            if after is None:
                return
            remaining = None if remaining is None else remaining - len(page.items)

    async def first_page(self) -> Page[Item]:
        """Return the first page alone: one request, or none if the limit is 0."""
        async for page in self.pages():
            return page
        return Page([], None)

    async def list(self) -> _Items[Item]:
        """Return all items."""
        return [item async for item in self]
