"""Create single entries without a transaction, which would write each item at twice the price.

What an entry needs comes first: in private memory the agent's counters reserve a place for it, in
shared memory its index rows are put. Then the entry itself is put, if its slot is free. This put
decides: without it nobody believes a row, and the place is given back, by the request that finds
that the entry never came (`functions.entries.unfinished_creates`).
"""

from contextlib import suppress

from functions.entries.counter_store import build_counter_write
from functions.entries.counters import count_agent_changes
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, Transition
from functions.entries.reservations import Reservation, list_reservations
from functions.entries.transaction import Transaction
from functions.entries.transition_store import (
    build_entry_write,
    build_index_writes,
    build_row_removals,
)
from functions.entries.unfinished_creates import UnfinishedCreates
from functions.platform.errors import ServiceError, Throttled
from functions.platform.limits import MAX_WRITE_ITEMS
from functions.platform.table import ConditionFailed, Table

MAX_PENDING = 8  # reservations of an agent; its item stays below a kilobyte


class DirectCreates:
    """Creates entries of which nothing but their own memory has to know."""

    def __init__(self, table: Table, mapper: EntryMapper, unfinished: UnfinishedCreates) -> None:
        self._table = table
        self._mapper = mapper
        self._unfinished = unfinished

    def create(self, transaction: Transaction) -> bool:
        """Create the entry of a transaction, if it is one that needs none.

        Returns whether it is done: not, where something else belongs to it or a limit is reached.

        Raises:
            ConditionFailed: when its slot is taken.
        """
        entry = _find_direct(transaction)
        if entry is None:
            return False
        if entry.policy.is_private:
            return self._create_private(transaction, entry)
        self._create_shared(transaction, entry)
        return True

    def _create_private(self, transaction: Transaction, entry: Entry) -> bool:
        tenant, agent, now = entry.address.tenant, entry.agent_id, transaction.now
        reservation = Reservation.of(entry).render()
        delta = count_agent_changes(transaction.transitions)[agent]
        write = build_counter_write(tenant, agent, delta, now, reserved=reservation)
        try:
            item = self._table.update(write)
        except ConditionFailed as failed:
            if failed.item is None or reservation not in list_reservations(failed.item):
                return False
            item = failed.item
        try:
            self._put(transaction, entry)
        except ConditionFailed:
            self._give_back(entry, now)
            raise
        if len(list_reservations(item)) >= MAX_PENDING:
            with suppress(ServiceError):  # the entry is there; a later create confirms it
                self._unfinished.confirm(item)
        return True

    def _give_back(self, entry: Entry, now: int) -> None:
        """Give a place back, unless somebody else has."""
        removal = count_agent_changes((Transition(entry, None),))[entry.agent_id]
        reservation = Reservation.of(entry).render()
        write = build_counter_write(
            entry.address.tenant, entry.agent_id, removal, now, returned=reservation
        )
        with suppress(ConditionFailed):
            self._table.update(write)

    def _create_shared(self, transaction: Transaction, entry: Entry) -> None:
        rows = list(build_index_writes(transaction.transitions[0]))
        removals = build_row_removals(row.key for row in rows)
        try:
            self._table.write_many(rows)
        except Throttled:
            with suppress(ServiceError):
                self._table.write_many(removals)
            raise
        try:
            self._put(transaction, entry)
        except ConditionFailed:
            self._table.write_many(removals)
            raise

    def _put(self, transaction: Transaction, entry: Entry) -> None:
        """Put an entry in its free slot.

        Raises:
            ConditionFailed: when the slot isn't free.
        """
        write = build_entry_write(self._mapper, transaction.transitions[0], transaction.now)
        try:
            self._table.put(write)
        except ConditionFailed as failed:
            is_there = failed.item is not None and failed.item.get("nonce") == entry.nonce
            if not is_there:  # by a first attempt, whose answer got lost
                raise


def _find_direct(transaction: Transaction) -> Entry | None:
    """Return the one new entry of a transaction in which nothing else is written or checked."""
    if len(transaction.transitions) != 1 or transaction.actor is not None:
        return None
    if transaction.extra_writes or transaction.claims or transaction.evictions.transitions:
        return None
    (transition,) = transaction.transitions
    entry = transition.new
    if transition.old is not None or entry is None:
        return None
    is_alone = entry.task_id is None and entry.intent_id is None and entry.vector is None
    is_counted_once = not entry.pinned and len(entry.tags) < MAX_WRITE_ITEMS
    return entry if is_alone and is_counted_once else None
