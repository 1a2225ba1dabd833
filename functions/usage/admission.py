"""Admit requests by rate, load and their tenants' limits, and count what they consume.

Rates and loads are kept in the process, so that no request costs a write. Each instance counts for
itself, and sees a part of all requests: with N instances, a caller may send N times as many. If
DynamoDB throttles requests of a tenant that sends more than its fair part, a growing share of its
requests is rejected, until the store keeps up, or it sends less. Other tenants are not affected.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from functions.identity.model import ROOT_TENANT, Principal
from functions.identity.store import Persons
from functions.platform import request_context
from functions.platform.clock import Clock
from functions.platform.errors import CapacityExceeded, QuotaExceeded, ServiceError, Throttled
from functions.platform.item_types import EPISODE
from functions.platform.items import Item
from functions.platform.limits import MAX_EPISODES, RUN_RETENTION_DAYS
from functions.platform.observability import log_service_error, report
from functions.platform.table import Table
from functions.platform.writes import Write
from functions.usage.model import (
    CONTENTS,
    EPISODE_METRIC,
    TenantLimits,
    find_measured,
    measure_change,
)
from functions.usage.store import UsageStore, decode_day, decode_episodes, decode_limits

_MINUTE = 60.0  # s
_MAX_CALLERS = 20_000  # the maximum number of remembered principals and tenants
_Caller = tuple[str, ...]  # (tenant,) or (tenant, principal)
_FORGETTING = 10.0  # s; the half-life of a request's weight
_RECOVERY = 300.0  # s; the half-life of the share of rejected requests
_STEP = 0.25  # added to the share of rejected requests by a throttled call
_MOST_REFUSED, _LEAST_REFUSED = 0.95, 0.02
_UNFAIR = 1.5  # times the average of all tenants
_FEW = 20.0  # requests; the minimum for a meaningful share
_MAX_TENANTS = 5_000  # tenants that are counted; beyond, idle ones are forgotten
_FLUSH_SECONDS = 60.0
LIMITS_REMEMBERED = 15_000  # ms
_MAX_REMEMBERED = 10_000  # tenants
_WRITING = ("Put", "Update", "Delete")
_EPISODE_REMEDY = (
    "delete some, or wait until they expire, "
    f"{RUN_RETENTION_DAYS} days after the start of their run"
)


class RateLimiter:
    """Lets each caller send a minute's requests at once, then at this rate.

    Args:
        per_principal, per_tenant: requests a minute; 0 is no limit.
    """

    def __init__(
        self, per_principal: int, per_tenant: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = {"principal": per_principal, "tenant": per_tenant}
        self._now = now
        self._paid_until: dict[_Caller, float] = {}

    def check(self, caller: Principal) -> None:
        """Count a request of a caller."""
        now = self._now()
        counted: dict[_Caller, float] = {}
        for kind, key in (("principal", (caller.tenant, caller.id)), ("tenant", (caller.tenant,))):
            limit = self._limits[kind]
            if limit == 0:
                continue
            counted[key] = max(self._paid_until.get(key, now), now) + _MINUTE / limit
            if counted[key] > now + _MINUTE:
                raise _build_error(kind, limit, counted[key] - now - _MINUTE)
        if len(self._paid_until) >= _MAX_CALLERS:
            self._paid_until = {k: until for k, until in self._paid_until.items() if until > now}
        self._paid_until |= counted


def _build_error(kind: str, limit: int, wait: float) -> Throttled:
    error = Throttled(f"this {kind} sends more than {limit} requests a minute; wait and try again")
    error.retry_after = max(1, math.ceil(wait))
    return error


class _Decaying(NamedTuple):
    """A number as of a time (s), which decays by half-lives."""

    value: float = 0.0
    at: float = 0.0

    def get(self, now: float, half_life: float) -> float:
        factor: float = 0.5 ** ((now - self.at) / half_life)
        return self.value * factor


_NOTHING = _Decaying()


class LoadShedder:
    """Rejects requests of tenants that overload the store."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._sent: dict[str, _Decaying] = {}
        self._refused: dict[str, _Decaying] = {}  # the share of a tenant's requests
        self._owed: dict[str, float] = {}  # sum of shares; each whole one is a rejection
        self._fair = 0.0  # the average number of a tenant's requests

    def check(self, caller: Principal) -> None:
        """Count a request."""
        now, tenant = self._now(), caller.tenant
        before, at = self._sent.get(tenant, _NOTHING)  # this runs for each request: no further call
        sent = before * 0.5 ** ((now - at) / _FORGETTING) + 1
        self._sent[tenant] = _Decaying(sent, now)
        if len(self._sent) > _MAX_TENANTS:
            self._count_sent(now)
        if tenant in self._refused and sent > self._fair:
            self._refuse(tenant, self._refused[tenant].get(now, _RECOVERY))

    def _refuse(self, tenant: str, share: float) -> None:
        """Reject a share of a tenant's requests, evenly."""
        if share < _LEAST_REFUSED:
            del self._refused[tenant]
            return
        owed = self._owed.get(tenant, 0.0) + share
        self._owed[tenant] = owed - 1 if owed >= 1 else owed
        if owed >= 1:
            raise Throttled(
                "this tenant sends more requests than the database can process; wait and try again"
            )

    def note_throttles(self, caller: Principal, calls: int = 1) -> None:
        """Record the number of throttled calls of a caller's request."""
        now, tenant = self._now(), caller.tenant
        if self._sends_most(tenant, now):
            share = self._refused.get(tenant, _NOTHING).get(now, _RECOVERY)
            self._refused[tenant] = _Decaying(min(share + calls * _STEP, _MOST_REFUSED), now)

    def _sends_most(self, tenant: str, now: float) -> bool:
        """Tell whether a tenant sends more than the average of all tenants."""
        counts = self._count_sent(now)
        total = sum(counts.values())
        self._fair = _UNFAIR * total / max(len(counts), 1)
        return len(counts) > 1 and total >= _FEW and counts.get(tenant, 0) > self._fair

    def _count_sent(self, now: float) -> dict[str, float]:
        """Count the requests of each tenant, and forget idle tenants."""
        counts = {each: sent.get(now, _FORGETTING) for each, sent in self._sent.items()}
        counts = {each: count for each, count in counts.items() if count >= 1}
        self._sent = {each: _Decaying(count, now) for each, count in counts.items()}
        return counts


class _Known(NamedTuple):
    """A tenant's limits and its usage, and the time (epoch ms) until which they are cached.

    Attributes:
        episodes: the number that counts against the quota of all tenants.
    """

    until: int = 0
    limits: TenantLimits = TenantLimits()
    items: int = 0
    bytes: int = 0
    episodes: int = 0


class UsageMeter:
    """Counts the requests and units of this process, and regularly adds them to the table.

    Counts of an instance that ends are lost: figures of requests are no bill.
    """

    def __init__(self, store: UsageStore) -> None:
        self._store = store
        self._counts: dict[str, Counter[str]] = {}
        self._flushed: dict[str, float] = {}
        self._lock = Lock()

    def count(self, tenant: str, operation: str) -> None:
        """Count the present request of a tenant, with the consumption of its calls in half units.

        Once a minute, a request writes the counts.
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
        """Add the counts of a tenant to the table."""
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
    """Rejects requests over a tenant's limits, which this process caches.

    A process reads no limits for a tenant's first request, so that a cold start isn't delayed.
    """

    def __init__(self, store: UsageStore, persons: Persons, clock: Clock) -> None:
        self._store = store
        self._persons = persons
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._paid_until: dict[str, float] = {}

    def check(self, caller: Principal) -> None:
        """Count a request of a tenant, and set the checks of its writes: growth and persons."""
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
        if known.episodes >= MAX_EPISODES and any(
            each.verb == "Put" and EPISODE.has_sort(each.key[1]) for each in writes
        ):
            self._assert_episode_room(caller.tenant)
        self._persons.note(caller, writes)

    def _assert_episode_room(self, tenant: str) -> None:
        """Count again, since episodes may have been deleted."""
        used = self._store.get_episodes(tenant).number
        if used >= MAX_EPISODES:
            report(EPISODE_METRIC, "Percent", 100 * used / MAX_EPISODES)
            raise CapacityExceeded("episodes", used, MAX_EPISODES, _EPISODE_REMEDY)

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
            until = self._clock() + LIMITS_REMEMBERED
            totals = stored.items.total(), stored.bytes.total()
            known = _Known(until, limits, *totals, decode_episodes(item).number)
        self._known[tenant] = known
        return known

    def _count_request(self, tenant: str, limit: int) -> None:
        now = time.monotonic()
        paid = max(self._paid_until.get(tenant, now), now) + (1 / limit if limit else 2)
        if paid > now + 1:
            raise QuotaExceeded("requests_per_second", limit, "send fewer requests a second")
        self._paid_until[tenant] = paid


def _assert_room(known: _Known, table: Table, writes: Sequence[Write]) -> None:
    """Check that writes stay within a tenant's limits; writes without growth pass.

    Stored usage is read only if the writes could exceed a limit.
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
    """Return the name and value of an exceeded limit; None if no limit is exceeded."""
    limits = known.limits
    if limits.items is not None and items > 0 and known.items + items > limits.items:
        return "items", limits.items
    if limits.bytes is not None and bytes_ > 0 and known.bytes + bytes_ > limits.bytes:
        return "bytes", limits.bytes
    return None


def _get_new(old: Item, write: Write) -> dict[str, Any] | None:
    """Return the measured attributes after a write; placeholders have the attributes' names."""
    if write.verb == "Delete":
        return None
    if write.item is not None:
        return write.item
    return old | {name: value for name, value in write.values.items() if name in CONTENTS}
