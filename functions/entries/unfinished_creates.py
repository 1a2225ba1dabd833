"""Settle creates of which it isn't known whether their entries came (`direct_creates`).

An entry that is there confirms what was prepared for it. Where there is none, a barrier sees to it
that none comes late; then its place is given back, or its index rows go.
"""

from collections.abc import Mapping, Sequence

from functions.entries.counter_store import build_confirmation, build_counter_write
from functions.entries.counters import CounterDelta
from functions.entries.reservations import Reservation, list_reservations, parse_reservation
from functions.entries.tiers import POLICIES_BY_ID_LETTER
from functions.entries.transition_store import (
    build_barrier_write,
    build_row_removals,
    build_tombstone,
)
from functions.identity.model import SERVICE
from functions.platform import entry_keys
from functions.platform.entry_keys import EntryAddress
from functions.platform.items import Item
from functions.platform.keys import Key, get_tenant
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed, TimedStore
from functions.platform.writes import ABSENT


class UnfinishedCreates(TimedStore):
    """Finds out what became of creates, and undoes those whose entries never came."""

    def find(self, items: Sequence[Item]) -> list[Reservation]:
        """Find the reservations in agents' items whose entries aren't there: a call per hundred."""
        return [each for each, slot in self._read_slots(items) if not _is_in(slot, each.nonce)]

    def confirm(self, item: Item) -> None:
        """Drop the reservations in an agent's item whose entries are there."""
        self._drop_confirmed(item, self._read_slots([item]))

    def settle(self, item: Item | None) -> bool:
        """Confirm each reservation in an agent's item, or give back what it holds.

        Returns whether there were any.
        """
        if item is None or not list_reservations(item):
            return False
        slots = self._read_slots([item])
        self._drop_confirmed(item, slots)
        for reservation, slot in slots:
            if not _is_in(slot, reservation.nonce):
                self._give_back(item, reservation, slot)
        return True

    def _drop_confirmed(self, item: Item, slots: list[tuple[Reservation, Item | None]]) -> None:
        """Drop the reservations whose entries are in their slots."""
        confirmed = [each.render() for each, slot in slots if _is_in(slot, each.nonce)]
        if confirmed:
            self._table.update(build_confirmation((item["pk"], item["sk"]), confirmed))

    def _read_slots(self, items: Sequence[Item]) -> list[tuple[Reservation, Item | None]]:
        """Read what is in the slots of the reservations in agents' items."""
        reservations = [
            parse_reservation(item["pk"], text)
            for item in items
            for text in list_reservations(item)
        ]
        keys = [each.address.item_key for each in reservations]
        slots: Mapping[Key, Item] = self._table.get_many(keys) if keys else {}
        return [(each, slots.get(each.address.item_key)) for each in reservations]

    def _give_back(self, item: Item, reservation: Reservation, slot: Item | None) -> None:
        """Give back the place of an entry that never came.

        Its tombstone is a condition: an entry that came and went has one, and was counted then.
        """
        now, text, size = self._clock(), reservation.render(), reservation.size
        delta = CounterDelta(settled={text})
        if POLICIES_BY_ID_LETTER[reservation.address.tier].is_evictable:
            delta.episodic, delta.episodic_bytes = -1, -size
        else:
            delta.working, delta.working_bytes = -1, -size
        tombstone = build_tombstone(
            reservation.address, reservation.nonce, "expired", SERVICE, now, ABSENT
        )
        try:
            self._table.transact(
                [
                    build_counter_write(
                        get_tenant(item["pk"]), item["agent_id"], delta, now, returned=text
                    ),
                    build_barrier_write(reservation.address.item_key, slot, now),
                    tombstone,
                ]
            )
        except ConditionFailed as failed:
            if failed.failed.get(tombstone.key) is not None:
                self._table.update(build_confirmation((item["pk"], item["sk"]), [text]))

    def remove_orphaned_rows(self, row_key: Key, tags: tuple[str, ...]) -> bool:
        """Remove the index rows of an entry of shared memory that never came.

        Args:
            row_key: the key of its row under all.
            tags: those that it has rows under, too.

        Returns whether they were removed.
        """
        tenant = get_tenant(row_key[0])
        entry_id = entry_keys.parse_sort_token(row_key[1])
        found = entry_keys.parse_entry_id(tenant, entry_id)
        return found is not None and self._replace_rows_by_barrier(row_key, *found, tags)

    @retry_on(ConditionFailed, "others are writing this entry")
    def _replace_rows_by_barrier(
        self, row_key: Key, address: EntryAddress, nonce: str, tags: tuple[str, ...]
    ) -> bool:
        """Keep an entry from coming late, and remove its rows, if it neither came nor comes.

        Both are one transaction: the create goes on with the same rows once it meets the barrier.
        """
        present = self._table.get_many((row_key, address.item_key))
        slot = present.get(address.item_key)
        if row_key not in present or _is_in(slot, nonce):
            return False
        rows = [entry_keys.build_index_row_key(address, nonce, tag) for tag in (None, *tags)]
        barrier = build_barrier_write(address.item_key, slot, self._clock())
        self._table.transact([barrier, *build_row_removals(rows)])
        return True


def _is_in(slot: Item | None, nonce: str) -> bool:
    return slot is not None and slot.get("nonce") == nonce
