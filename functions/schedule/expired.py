"""Takes expired entries out of storage (RFC-0015 §9.3; contract §4)."""

from collections.abc import Sequence

from functions.entries.counters import Transition
from functions.entries.mapper import EntryMapper
from functions.entries.transaction import EntryWriter, Transaction
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import EntryNotFound, VersionMismatch
from functions.platform.items import Item

_ACTOR = "~schedule"


class Expired:
    """Removes expired entries, with their index rows, notices and counters, all or none."""

    def __init__(self, writer: EntryWriter, mapper: EntryMapper, clock: Clock) -> None:
        self._writer = writer
        self._mapper = mapper
        self._clock = clock

    def remove(self, items: Sequence[Item]) -> int:
        """Removes what has expired among the entries of one owner; how many went.

        If one was changed or removed meanwhile, the others are removed one by one.
        """
        try:
            return self._remove(items)
        except (EntryNotFound, VersionMismatch):
            return sum(self.remove([item]) for item in items) if len(items) > 1 else 0

    def _remove(self, items: Sequence[Item]) -> int:
        now = self._clock()
        entries = [self._mapper.to_entry(item) for item in items]
        steps = tuple(
            Transition(entry, None, index, reason="expired")
            for index, entry in enumerate(entries)
            if entry.is_expired(now)
        )
        if steps:
            caller = Principal(entries[0].address.tenant, _ACTOR, "user", frozenset())
            self._writer.commit(Transaction(caller, steps, now))
        return len(steps)
