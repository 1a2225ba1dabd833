"""Report the usage of tenants by day, and set their limits."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.identity.model import ROOT_TENANT, Principal
from functions.platform.clock import Clock, to_rfc3339
from functions.platform.errors import NotFound, QuotaExceeded, ValidationFailed
from functions.platform.limits import MAX_USAGE_DAYS
from functions.platform.writes import Write
from functions.usage.admission import LimitEnforcer, UsageMeter
from functions.usage.authority import CHANGE_TENANT, READ_USAGE
from functions.usage.model import DayUsage, TenantLimits, TenantUsage
from functions.usage.store import UsageStore, decode_day, decode_limits

_DEFAULT_DAYS = 30


class UsageReports:
    """Reports the usage of tenants, by day."""

    def __init__(self, store: UsageStore, meter: UsageMeter, clock: Clock) -> None:
        self._store = store
        self._meter = meter
        self._clock = clock

    def report(self, caller: Principal, first: str | None, last: str | None) -> list[TenantUsage]:
        """Report the days of a period by tenant: the caller's, or all for the operator.

        Args:
            first, last: RFC 3339 dates or times; None for the default.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            ValidationFailed: the period ends before it begins, or is too long.
        """
        authorize(caller, READ_USAGE, None)
        today = date.fromisoformat(to_rfc3339(self._clock())[:10])
        end = min(_parse_day("to", last) or today, today)
        begin = _parse_day("from", first) or end - timedelta(_DEFAULT_DAYS - 1)
        if begin > end or (end - begin).days >= MAX_USAGE_DAYS:
            raise ValidationFailed("from", f"must be at most {MAX_USAGE_DAYS} days before `to`")
        is_operator = caller.tenant == ROOT_TENANT
        tenants = self._store.list_tenants() if is_operator else [caller.tenant]
        return [self._report(tenant, begin, end, today) for tenant in tenants]

    def _report(self, tenant: str, begin: date, end: date, today: date) -> TenantUsage:
        """Report days: the stored amount at the end of each is today's without later changes."""
        self._meter.flush(tenant)
        changed = {
            each.day: each
            for each in self._store.list_days(tenant, begin.isoformat(), today.isoformat())
        }
        item = self._store.get(tenant)
        present = decode_day("", item)
        items, bytes_ = present.items, present.bytes
        days: list[DayUsage] = []
        for number in range((today - begin).days + 1):
            day = (today - timedelta(number)).isoformat()
            used = changed.get(day, DayUsage(day))
            if day <= end.isoformat():
                days.append(
                    DayUsage(day, used.requests, +items, +bytes_, used.read_units, used.write_units)
                )
            items, bytes_ = Counter(items), Counter(bytes_)
            items.subtract(used.items)
            bytes_.subtract(used.bytes)
        return TenantUsage(tenant, decode_limits(item), days[::-1])


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
        """Change the given limits of a tenant; None removes one.

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
        """Build the write that counts a deletion, or a preview, of a person or an agent.

        Raises:
            QuotaExceeded: the tenant has used its previews of this day. A deletion is never
                rejected.
        """
        limit = self.get(tenant).deletions_per_day if is_preview else None
        if limit is not None and self._store.count_deletions(tenant) >= limit:
            raise QuotaExceeded("deletions_per_day", limit, "preview again tomorrow")
        return self._store.build_day_write(tenant, {"deletions": 1})


def _parse_day(field: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text[:10])
    except ValueError as error:
        raise ValidationFailed(field, "must be a day, such as 2026-11-24") from error
