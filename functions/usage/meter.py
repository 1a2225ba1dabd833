"""Check each request against its tenant's limits, and count it and what it consumes."""

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from functions.identity.model import ROOT_TENANT, Principal
from functions.identity.person_store import Persons
from functions.platform import request_context
from functions.platform.clock import Clock
from functions.platform.errors import QuotaExceeded, ServiceError
from functions.platform.items import Item
from functions.platform.observability import log_service_error
from functions.platform.table import Table
from functions.platform.writes import Write
from functions.usage.measure import CONTENTS, find_measured, measure_change
from functions.usage.model import TenantLimits
from functions.usage.store import UsageStore, decode_day, decode_limits

_FLUSH_SECONDS = 60.0
_REMEMBERED = 15_000  # ms
_MAX_REMEMBERED = 10_000  # tenants
_WRITING = ("Put", "Update", "Delete")


class _Known(NamedTuple):
    """A tenant's limits and what it stores, and until when (epoch ms) that holds."""

    until: int = 0
    limits: TenantLimits = TenantLimits()
    items: int = 0
    bytes: int = 0


class UsageMeter:
    """Counts the requests and units of this process, and adds them to the table now and then.

    What an instance has counted when it ends is lost: figures of requests are no bill.
    """

    def __init__(self, store: UsageStore) -> None:
        self._store = store
        self._counts: dict[str, Counter[str]] = {}
        self._flushed: dict[str, float] = {}
        self._lock = Lock()

    def count(self, tenant: str, operation: str) -> None:
        """Count the request at work of a tenant, with what its calls consumed, in half units.

        Once a minute, a request writes what was counted.
        """
        now = time.monotonic()
        with self._lock:
            counts = self._counts.setdefault(tenant, Counter())
            counts[f"requests_{operation}"] += 1
            for name, spent in request_context.units.get() or ():
                for each in [spent] if isinstance(spent, dict) else spent:
                    counts[name] += round(2 * each["CapacityUnits"])
            is_due = now - self._flushed.setdefault(tenant, now) >= _FLUSH_SECONDS
        if is_due:
            self.flush(tenant)

    def flush(self, tenant: str) -> None:
        """Add what was counted of a tenant to the table."""
        with self._lock:
            counts = self._counts.pop(tenant, None)
            self._flushed[tenant] = time.monotonic()
        if counts is None:
            return
        try:
            self._store.add_to_day(tenant, counts)
        except ServiceError as error:
            log_service_error("usage", error)


class LimitEnforcer:
    """Refuses what exceeds a tenant's limits, as this process has read them lately.

    The first request of a tenant that a process serves reads nothing, so that a cold start waits
    for nothing.
    """

    def __init__(self, store: UsageStore, persons: Persons, clock: Clock) -> None:
        self._store = store
        self._persons = persons
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._paid_until: dict[str, float] = {}

    def check(self, caller: Principal) -> None:
        """Count a request of a tenant, and have its writes checked: for growth and for persons."""
        known = self._known.get(caller.tenant)
        if known is None or known.until <= self._clock():
            known = self._read(caller.tenant, is_first=known is None)
        if known.limits.requests_per_second is not None:
            self._count_request(caller.tenant, known.limits.requests_per_second)
        request_context.write_guard.set(partial(self._check_writes, caller, known))

    def _check_writes(
        self, caller: Principal, known: _Known, table: Table, writes: Sequence[Write]
    ) -> None:
        if known.limits.items is not None or known.limits.bytes is not None:
            _assert_room(known, table, writes)
        self._persons.note(caller, writes)

    def forget(self, tenant: str) -> None:
        """Read a tenant's limits again at its next request."""
        self._known[tenant] = _Known()

    def _read(self, tenant: str, *, is_first: bool) -> _Known:
        if len(self._known) >= _MAX_REMEMBERED:
            self._known.clear()
        known = _Known()
        if not is_first and tenant != ROOT_TENANT:
            item = self._store.get(tenant)
            stored = decode_day("", item)
            limits = decode_limits(item)
            until = self._clock() + _REMEMBERED
            known = _Known(until, limits, stored.items.total(), stored.bytes.total())
        self._known[tenant] = known
        return known

    def _count_request(self, tenant: str, limit: int) -> None:
        now = time.monotonic()
        paid = max(self._paid_until.get(tenant, now), now) + (1 / limit if limit else 2)
        if paid > now + 1:
            raise QuotaExceeded("requests_per_second", limit, "send fewer requests a second")
        self._paid_until[tenant] = paid


def _assert_room(known: _Known, table: Table, writes: Sequence[Write]) -> None:
    """Check that writes stay within a tenant's limits; what doesn't grow passes.

    What is stored is read only if the writes could exceed a limit.
    """
    found = [(find_measured(each.key), each) for each in writes if each.verb in _WRITING]
    measured = [(item_type, write) for item_type, write in found if item_type is not None]
    most = [measure_change(item_type, None, _get_new({}, write)) for item_type, write in measured]
    is_near = _exceeds(known, sum(each.items for each in most), sum(each.bytes for each in most))
    if not measured or is_near is None:
        return
    present = table.get_many(write.key for _, write in measured)
    changes = [
        measure_change(item_type, old := present.get(write.key), _get_new(old or {}, write))
        for item_type, write in measured
    ]
    items, bytes_ = sum(each.items for each in changes), sum(each.bytes for each in changes)
    exceeded = _exceeds(known, items, bytes_)
    if exceeded is not None:
        remedy = "delete what is no longer needed, or ask the operator to raise the limit"
        raise QuotaExceeded(*exceeded, remedy)


def _exceeds(known: _Known, items: int, bytes_: int) -> tuple[str, int] | None:
    """Return the name and value of the limit that growth exceeds; None if it exceeds none."""
    limits = known.limits
    if limits.items is not None and items > 0 and known.items + items > limits.items:
        return "items", limits.items
    if limits.bytes is not None and bytes_ > 0 and known.bytes + bytes_ > limits.bytes:
        return "bytes", limits.bytes
    return None


def _get_new(old: Item, write: Write) -> dict[str, Any] | None:
    """Return what a write leaves of what is measured; placeholders are named as attributes."""
    if write.verb == "Delete":
        return None
    if write.item is not None:
        return write.item
    return old | {name: value for name, value in write.values.items() if name in CONTENTS}
