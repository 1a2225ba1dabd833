"""Waiting and locks of the async client; `_waiting` has those of the sync one."""

import asyncio
import threading
from abc import abstractmethod
from collections.abc import AsyncIterable, Awaitable, Callable, Generator, Hashable
from typing import Any, Self
from weakref import WeakValueDictionary

import httpx

from agent_memory.page import FirstPageView, Item, Page

async_sleep = asyncio.sleep
AsyncFetch = Callable[[int, str | None], Awaitable[Page[Item]]]


async def run_check(check: Callable[[], None]) -> None:
    """Run a check that may call the service, in a thread."""
    await asyncio.to_thread(check)


class AsyncConnections:
    """An HTTP client for each event loop, since connections belong to the loop that created them.

    Args:
        connect: creates a client.
    """

    def __init__(self, connect: Callable[[], httpx.AsyncClient]) -> None:
        self._connect = connect
        self._by_loop: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def get(self) -> httpx.AsyncClient | None:
        """Return the HTTP client of the running loop; None once all are closed."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._is_closed:
                return None
            if loop not in self._by_loop:
                running = {k: http for k, http in self._by_loop.items() if not k.is_closed()}
                self._by_loop = running | {loop: self._connect()}
            return self._by_loop[loop]

    async def aclose(self) -> None:
        """Close the clients of running loops; other connections ended with their loops."""
        with self._lock:
            self._is_closed = True
            open_ones, self._by_loop = self._by_loop, {}
        here = asyncio.get_running_loop()
        for loop, http in open_ones.items():
            if loop is here:
                await http.aclose()
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(http.aclose(), loop)


class AsyncTurns:
    """One lock for each name and event loop, so that changes of one thing wait for each other."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def of(self, name: Hashable) -> asyncio.Lock:
        """Return the lock of this name."""
        return self._locks.setdefault((asyncio.get_running_loop(), name), asyncio.Lock())


class AsyncFirstPage(FirstPageView[Item], AsyncIterable[Item]):
    """A list whose first page is read by `await`."""

    _first: Page[Item] | None = None

    @abstractmethod
    async def _read_first_page(self) -> Page[Item]: ...

    def __await__(self) -> Generator[Any, None, Self]:
        return self._with_first_page().__await__()

    async def _with_first_page(self) -> Self:
        self._first = await self._read_first_page()
        return self

    def _get_first_page(self) -> Page[Item]:
        if self._first is None:
            raise TypeError("read the first page before: page = await client.memory.query(...)")
        return self._first

    def __bool__(self) -> bool:
        raise TypeError("await the query before you test it: (await client.memory.query()).items")
