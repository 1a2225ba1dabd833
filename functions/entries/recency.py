"""What eviction goes by: when an owner last read or wrote an episodic entry (RFC-0015 §2.2).

A read is recorded only where it matters: always from 90 % of the capacity on, else at most once an
hour an entry. It makes no version and no event.
"""

from collections.abc import Sequence
from functools import partial

from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES
from functions.platform.parallel import side_by_side

_AT_MOST_EVERY = 3_600_000  # ms
_NEARLY_FULL = 0.9


class Recency:
    """Records reads of an owner's episodic memory."""

    def __init__(self, store: EntryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def note_all(self, caller: Principal, entries: Sequence[Entry]) -> None:
        """Records that the caller read these; one read more if any is its own and episodic."""
        own = [entry for entry in entries if _counts(caller, entry)]
        if own:
            place = entry_keys.build_agent_key(caller.tenant, caller.id)
            self.note(caller, own, self._store.items_at((place,)).get(place))

    def note(self, caller: Principal, entries: Sequence[Entry], counters: Item | None) -> None:
        """The same, where the caller's counters are at hand."""
        now = self._clock()
        every = 0 if _nearly_full(counters or {}) else _AT_MOST_EVERY
        side_by_side(
            [
                partial(self._store.touch, entry, now)
                for entry in entries
                if _counts(caller, entry) and entry.accessed < now - every
            ]
        )


def _counts(caller: Principal, entry: Entry) -> bool:
    return entry.recency is not None and entry.agent == caller.id


def _nearly_full(counters: Item) -> bool:
    capacity: int = counters.get("ep_capacity", DEFAULT_EPISODIC_ENTRIES)
    room: int = counters.get("ep_room", capacity)
    return capacity - room >= _NEARLY_FULL * capacity
