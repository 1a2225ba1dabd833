"""How the async client waits and takes turns; `_waiting` is the other's."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Hashable
from weakref import WeakValueDictionary

from agent_memory.page import Item, Page

async_sleep = asyncio.sleep
AsyncFetch = Callable[[int, str | None], Awaitable[Page[Item]]]


async def run_check(check: Callable[[], None]) -> None:
    """Run a check that may ask the service, in a thread."""
    await asyncio.to_thread(check)


class AsyncTurns:
    """One lock for each name, so that those who change one thing queue up."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def of(self, name: Hashable) -> asyncio.Lock:
        """Return the lock of this name."""
        return self._locks.setdefault(name, asyncio.Lock())


class AsyncTestable(AsyncIterable[Item]):
    """Items whose truth can't be told without waiting."""

    def __bool__(self) -> bool:
        raise TypeError("whether there are any takes a request: use `if await query.list()`")
