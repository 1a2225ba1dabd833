"""Limits of tenants, which hold within a minute: what is stored, requests, and deletions."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.identity.model import ROOT_TENANT, Principal
from functions.identity.person_store import Persons
from functions.platform import request_context
from functions.platform.clock import Clock
from functions.platform.errors import NotFound, QuotaExceeded
from functions.platform.items import Item
from functions.platform.table import Table
from functions.platform.writes import Write
from functions.usage.authority import CHANGE_TENANT
from functions.usage.measure import CONTENTS, find_measured, measure_change
from functions.usage.model import TenantLimits
from functions.usage.store import UsageStore, decode_day

_REMEMBERED = 15_000  # ms
_MAX_REMEMBERED = 10_000  # tenants
_WRITING = ("Put", "Update", "Delete")


class _Known(NamedTuple):
    """A tenant's limits and what it stores, and until when (epoch ms) that holds."""

    until: int = 0
    limits: TenantLimits = TenantLimits()
    items: int = 0
    bytes: int = 0


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


def decode_limits(item: Item) -> TenantLimits:
    """Decode the limits of an item of usage."""
    return TenantLimits(**item.get("limits", {}))


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


@dataclass(eq=False)
class LimitService:
    """Sets limits of tenants, and counts deletions."""

    _store: UsageStore
    _enforcer: LimitEnforcer
    _has_tenant: Callable[[str], bool]
    _audit: AuditTrail

    def change(
        self, caller: Principal, tenant: str, given: Mapping[str, int | None]
    ) -> TenantLimits:
        """Change limits of a tenant; those that aren't given stay, and None removes one.

        Raises:
            AccessDenied: the caller isn't the operator.
            NotFound: no tenant has this id.
        """
        authorize(caller, CHANGE_TENANT, tenant)
        if not self._has_tenant(tenant):
            raise NotFound("no tenant has this id; create it by POST /api/v1/tenants")
        before = self.get(tenant)
        after = before._replace(**given)
        target, was = f"tenant:{tenant}", {name: getattr(before, name) for name in given}
        record = self._audit.record(caller, CHANGE_TENANT, target, was, dict(given), tenant=tenant)
        self._store.set_limits(tenant, after, record)
        self._enforcer.forget(tenant)
        return after

    def get(self, tenant: str) -> TenantLimits:
        """Read a tenant's limits: one call."""
        return decode_limits(self._store.get(tenant))

    def build_deletion_count(self, tenant: str, *, is_preview: bool) -> Write:
        """Build the write that counts a deletion or a preview of one, of a person or an agent.

        Raises:
            QuotaExceeded: the tenant has asked for all the deletions and previews of this day. A
                deletion is never refused.
        """
        limit = self.get(tenant).deletions_per_day if is_preview else None
        if limit is not None and self._store.count_deletions(tenant) >= limit:
            raise QuotaExceeded("deletions_per_day", limit, "preview again tomorrow")
        return self._store.build_day_write(tenant, {"deletions": 1})
