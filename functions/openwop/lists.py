"""The memories that a caller has by their names, whether or not a run is on them."""

from heapq import merge
from itertools import islice

from functions.identity.model import Principal
from functions.openwop.list_store import MemoryListStore
from functions.openwop.model import ListedMemory
from functions.openwop.requests import NewMemory
from functions.openwop.rules import find_owner, list_owners
from functions.platform.clock import Clock


class MemoryLists:
    """The memories of a caller's principal, and of its agent type.

    Others' are in no list: who holds the reference of one may use it.
    """

    def __init__(self, store: MemoryListStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def add(self, caller: Principal, new: NewMemory) -> str:
        """List the memory that the caller has under an agent and a scope; return its hash."""
        return self._store.add(
            caller.tenant, find_owner(caller), new.agent, new.scope, self._clock()
        )

    def list_own(self, caller: Principal, before: str | None, count: int) -> list[ListedMemory]:
        """List up to `count` memories of the caller before a position, the last one first."""
        owned = [
            self._store.iterate_owned(caller.tenant, owner, before, count)
            for owner in list_owners(caller)
        ]
        return list(islice(merge(*owned, key=lambda each: each.position, reverse=True), count))
