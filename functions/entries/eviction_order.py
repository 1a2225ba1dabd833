"""List an agent's episodic memory in the order in which it is evicted (RFC-0015 §2.2)."""

from collections.abc import Iterator
from itertools import islice

from functions.authorization.rules import is_allowed
from functions.entries.authority import READ_EVICTION_ORDER, AgentTarget
from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.tasks.access import TaskAccess


class EvictionOrder:
    """Lists what an agent's memory evicts next, to those who may read these entries."""

    def __init__(self, store: EntryStore, tasks: TaskAccess, clock: Clock) -> None:
        self._store = store
        self._tasks = tasks
        self._clock = clock

    def can_read(self, caller: Principal, agent: str) -> bool:
        """Tell whether the caller may read the agent's episodic memory."""
        target = AgentTarget(agent)
        if is_allowed(caller, READ_EVICTION_ORDER, target):
            return True
        is_overseen = self._tasks.coordinates_agent(caller, agent)
        return is_allowed(caller, READ_EVICTION_ORDER, target._replace(is_overseen=is_overseen))

    def list_page(
        self, caller: Principal, agent: str, after: str | None, count: int
    ) -> list[Entry]:
        """List up to `count` entries behind a position; nothing is recorded as read.

        Nothing, where the caller may not read them. Pinned entries are never evicted and aren't
        listed, nor are expired ones. The calls are one of an index, and one for each hundred
        entries; more where entries have changed since the index was written.

        Args:
            after: the `eviction_order` of the entry behind which the list begins.
            count: how many at most.
        """
        if not self.can_read(caller, agent):
            return []
        return list(islice(self._iterate(caller.tenant, agent, after, count), count))

    def _iterate(
        self, tenant: str, agent: str, after: str | None, page_size: int
    ) -> Iterator[Entry]:
        now = self._clock()
        rows = self._store.iterate_by_eviction(tenant, agent, after, page_size)
        while listed := list(islice(rows, page_size)):
            present = self._store.get_many(each.address for each in listed)
            for row in listed:
                entry = present.get(row.item_key)
                is_same = entry is not None and entry.eviction_order == row.eviction_order
                if entry is not None and is_same and not entry.is_expired(now):
                    yield entry
