"""Record when owners read their episodic entries, which eviction goes by (RFC-0015 §2.2).

A read is recorded only where it matters: always from 90 % of the capacity on, else at most once an
hour for an entry. It makes no version and no event.
"""

from collections.abc import Iterable
from functools import partial

from functions.entries.agent_store import AgentStore, AgentUsage
from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.parallel import side_by_side

_MIN_INTERVAL = 3_600_000  # ms
_NEARLY_FULL = 0.9


class AccessTracker:
    """Records reads of entries."""

    def __init__(self, store: EntryStore, agents: AgentStore, clock: Clock) -> None:
        self._store = store
        self._agents = agents
        self._clock = clock

    def record_reads(self, caller: Principal, entries: Iterable[Entry]) -> None:
        """Record that the caller read these: one read more if any is its own and evictable."""
        own = [entry for entry in entries if _is_tracked(caller, entry)]
        if own:
            usage = self._agents.get_usage(caller.tenant, caller.id)
            self.record_own_reads(caller, own, usage)

    def record_own_reads(
        self, caller: Principal, entries: Iterable[Entry], usage: AgentUsage
    ) -> None:
        """Record the same where the caller's usage is known."""
        now = self._clock()
        interval = 0 if is_nearly_full(usage) else _MIN_INTERVAL
        side_by_side(
            [
                partial(self._store.record_access, entry, now)
                for entry in entries
                if _is_tracked(caller, entry) and entry.accessed < now - interval
            ]
        )


def is_nearly_full(usage: AgentUsage) -> bool:
    """Return whether at least 90 % of the episodic capacity is used."""
    return usage.episodic >= _NEARLY_FULL * usage.capacity


def _is_tracked(caller: Principal, entry: Entry) -> bool:
    return entry.eviction_order is not None and entry.agent == caller.id
