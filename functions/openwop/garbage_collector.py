"""Remove the entries of memories that no snapshot shows."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from functions.openwop.entry_store import MemoryEntryStore
from functions.openwop.rules import CLOCK_SKEW, compute_next_look
from functions.openwop.run_store import MemoryRunStore
from functions.platform.clock import Clock
from functions.platform.items import Item

_MAX_PINS = 100  # that are read of those that keep an entry; it is looked at again afterwards


@dataclass(eq=False)
class MemoryGarbageCollector:
    """Removes expired entries, and deleted entries that no kept snapshot shows."""

    _runs: MemoryRunStore
    _entries: MemoryEntryStore
    _clock: Clock

    def collect_entry(self, item: Item) -> Counter[str]:
        """Remove an entry, by its item, if it is expired, or if no kept snapshot shows it."""
        now = self._clock()
        if item.get("expires_at", now + 1) <= now:
            self._entries.purge(item)
            return Counter(expired=1)
        written, deleted = item["sequence"], item["deleted"]
        pins = list(islice(self._runs.list_pins(item["pk"], written, deleted, now), _MAX_PINS))
        if pins:
            kept = max(pin["snapshot_kept_until"] for pin in pins)
            is_any_open = any(pin["ends_at"] > now for pin in pins)
            due = compute_next_look(kept + CLOCK_SKEW, now, is_any_open=is_any_open)
            self._entries.reschedule(item, due)
            return Counter()
        self._entries.purge(item)
        return Counter(entries_purged=1)
