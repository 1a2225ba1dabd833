"""Report what tenants use by day, and count requests on the way."""

import time
from collections import Counter
from datetime import date, timedelta
from threading import Lock

from functions.authorization.rules import authorize
from functions.identity.model import ROOT_TENANT, Principal
from functions.platform import request_context
from functions.platform.clock import Clock, to_rfc3339
from functions.platform.errors import ServiceError, ValidationFailed
from functions.platform.limits import MAX_USAGE_DAYS
from functions.platform.observability import log_service_error
from functions.usage.authority import READ_USAGE
from functions.usage.limits import decode_limits
from functions.usage.model import DayUsage, TenantUsage
from functions.usage.store import UsageStore, decode_day

_FLUSH_SECONDS = 60.0
_DEFAULT_DAYS = 30


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


class UsageReports:
    """Tells what tenants use, by day."""

    def __init__(self, store: UsageStore, meter: UsageMeter, clock: Clock) -> None:
        self._store = store
        self._meter = meter
        self._clock = clock

    def report(self, caller: Principal, first: str | None, last: str | None) -> list[TenantUsage]:
        """Report the days from one to another by tenant: the caller's, or all for the operator.

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
            raise ValidationFailed("from", f"select 1 to {MAX_USAGE_DAYS} days before `to`")
        is_operator = caller.tenant == ROOT_TENANT
        tenants = self._store.list_tenants() if is_operator else [caller.tenant]
        return [self._report(tenant, begin, end, today) for tenant in tenants]

    def _report(self, tenant: str, begin: date, end: date, today: date) -> TenantUsage:
        """Report days: what was stored at the end of each is today's without later changes."""
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


def _parse_day(field: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text[:10])
    except ValueError as error:
        raise ValidationFailed(field, "takes a day of the calendar, as 2026-11-24") from error
