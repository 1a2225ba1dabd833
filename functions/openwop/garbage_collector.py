"""What the schedule removes from memories: entries that no run can see any more (contract §7)."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice

from functions.openwop.entry_store import MemoryEntryStore
from functions.openwop.rules import CLOCK_SKEW, SETTLING_TIME, is_pinned, is_settled
from functions.openwop.run_store import MemoryRunStore, SnapshotPin
from functions.openwop.sequence_store import SequenceNumbers
from functions.platform.clock import Clock
from functions.platform.items import Item

_BATCH = 25


class MemoryGarbageCollector:
    """Removes closed runs, deleted entries and expired entries from storage."""

    def __init__(
        self,
        runs: MemoryRunStore,
        entries: MemoryEntryStore,
        numbers: SequenceNumbers,
        clock: Clock,
    ) -> None:
        self._runs = runs
        self._entries = entries
        self._numbers = numbers
        self._clock = clock

    def collect(self, head: Item, has_time: Callable[[], bool]) -> Counter[str]:
        """Remove runs past their time, and deleted entries that no open run sees.

        Args:
            head: the memory's head item; it stays due if the time is over, for the next sweep.
            has_time: whether there is time for another batch.
        """
        partition, now = head["pk"], self._clock()
        pins = self._runs.list_pins(partition)
        expired = [pin for pin in pins if pin.deadline + CLOCK_SKEW <= now]
        held = [pin for pin in pins if pin.deadline + CLOCK_SKEW > now]
        self._runs.remove_pins(expired)
        counts = Counter(runs_closed=len(expired))
        snapshots = [pin.snapshot for pin in held]
        deletions = self._entries.list_deletions(partition)
        unsettled = False
        while batch := list(islice(deletions, _BATCH)):
            if not has_time():
                return +counts
            settled = [each for each in batch if is_settled(each.deleted, now)]
            free = [
                each for each in settled if not is_pinned(each.written, each.deleted, snapshots)
            ]
            self._entries.purge(free)
            counts["entries_purged"] += len(free)
            unsettled |= len(settled) < len(batch)
        self._numbers.reschedule(head, _next_due(held, now, unsettled=unsettled))
        return +counts

    def expire(self, item: Item) -> Counter[str]:
        """Remove an expired entry, by its item."""
        self._entries.purge_expired(item)
        return Counter(expired=1)


def _next_due(pins: Sequence[SnapshotPin], now: int, *, unsettled: bool) -> int | None:
    """Compute when a memory is due again: soon, or when its first run's time is over."""
    if unsettled:
        return now + SETTLING_TIME
    return min((pin.deadline + CLOCK_SKEW for pin in pins), default=None)
