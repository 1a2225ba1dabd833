"""Share the threads of the local server among callers: nobody waits for another one's backlog."""

from asyncio import Future, get_running_loop
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairSlots:
    """Slots that callers take in turn, each a few of them at a time.

    It belongs to one event loop.

    Args:
        slots: how many are taken at the same time.
        per_caller: how many of them one caller has at most.
    """

    def __init__(self, slots: int, per_caller: int) -> None:
        self._free = slots
        self._per_caller = per_caller
        self._taken: Counter[str] = Counter()
        self._waiting: dict[str, deque[Future[None]]] = {}  # by caller, whose turn it is first

    @asynccontextmanager
    async def hold(self, caller: str) -> AsyncIterator[None]:
        """Hold a slot; wait while none is free, or the caller has all that it may have."""
        await self._take(caller)
        try:
            yield
        finally:
            self._give_back(caller)

    async def _take(self, caller: str) -> None:
        turn: Future[None] = get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        self._hand_out()
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._give_back(caller)
            raise

    def _give_back(self, caller: str) -> None:
        self._free += 1
        self._taken[caller] -= 1
        if not self._taken[caller]:
            del self._taken[caller]
        self._hand_out()

    def _hand_out(self) -> None:
        """Hand free slots to those who wait, one to each caller in turn."""
        for caller in list(self._waiting):
            if self._free and self._taken[caller] < self._per_caller:
                self._hand_to(caller)

    def _hand_to(self, caller: str) -> None:
        turns = self._waiting.pop(caller)
        while turns and turns[0].done():  # it was cancelled
            turns.popleft()
        if not turns:
            return
        self._free -= 1
        self._taken[caller] += 1
        turns.popleft().set_result(None)
        if turns:
            self._waiting[caller] = turns  # behind all others
