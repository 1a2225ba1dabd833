"""Leases: at most one process at a time does the work of a name."""

import secrets
from contextlib import suppress

from functions.platform.item_types import LEASE
from functions.platform.table import ConditionFailed, TimedStore
from functions.platform.writes import put


class Leases(TimedStore):
    """Takes and returns leases, which end by themselves if their holder dies."""

    def acquire(self, name: str, lifetime: int) -> str | None:
        """Take a lease for `lifetime` ms: one call.

        Returns:
            what the lease is given back with; None if another process holds it.
        """
        now, holder = self._clock(), secrets.token_hex(8)
        item = {"lease_id": holder, "ends_at": now + lifetime}
        is_free = "attribute_not_exists(pk) OR ends_at <= :now"
        try:
            self._table.put(put(LEASE.build_key(name=name), item, is_free, now=now))
        except ConditionFailed:
            return None
        return holder

    def release(self, name: str, holder: str) -> None:
        """Give a lease back, unless it has ended and another process holds it: one call."""
        item = {"lease_id": holder, "ends_at": 0}
        with suppress(ConditionFailed):
            self._table.put(
                put(LEASE.build_key(name=name), item, "lease_id = :holder", holder=holder)
            )
