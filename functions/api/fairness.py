"""Fairness: how many requests callers may send, always and while the store is overloaded.

The counts are kept in the process, so that no request costs a write. Each instance counts for
itself, and sees a part of all requests: a caller that many instances serve may send as many times
more. A tenant whose requests DynamoDB throttles, and that sends this instance more than its part of
them, is refused a growing share of its requests until the store keeps up, or until it sends less.
Others are not.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from functions.identity.model import Principal
from functions.platform.errors import Throttled

_MINUTE = 60.0  # s
_MAX_CALLERS = 20_000  # principals and tenants that are remembered
_Caller = tuple[str, ...]  # (tenant,) or (tenant, principal)
_REMEMBERED = 10.0  # s, after which a request counts for half
_RECOVERY = 300.0  # s, after which half as many requests are refused
_STEP = 0.25  # by which a throttled call raises the share that is refused
_MOST_REFUSED, _LEAST_REFUSED = 0.95, 0.02
_UNFAIR = 1.5  # times what a tenant would send if all sent as much
_FEW = 20.0  # requests from which on shares say something
_MAX_TENANTS = 5_000  # that are counted; beyond, those that send nothing are forgotten


class RateLimiter:
    """Lets each caller send a minute's requests at once, and from then on evenly as many.

    Args:
        per_principal, per_tenant: requests a minute; 0 is no limit.
        now: gives the time in seconds, from any beginning.
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
    """A number as of a time (s), which is halved again and again."""

    value: float = 0.0
    at: float = 0.0

    def get(self, now: float, half_life: float) -> float:
        factor: float = 0.5 ** ((now - self.at) / half_life)
        return self.value * factor


_NOTHING = _Decaying()


class LoadShedder:
    """Refuses requests of the tenants that overload the store.

    Args:
        now: gives the time in seconds, from any beginning.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._sent: dict[str, _Decaying] = {}
        self._refused: dict[str, _Decaying] = {}  # the share of a tenant's requests
        self._owed: dict[str, float] = {}  # refusals, of which a part is due at each request
        self._fair = 0.0  # how many requests of a tenant aren't too many

    def check(self, caller: Principal) -> None:
        """Count a request."""
        now, tenant = self._now(), caller.tenant
        before, at = self._sent.get(tenant, _NOTHING)  # each request passes here: no further call
        sent = before * 0.5 ** ((now - at) / _REMEMBERED) + 1
        self._sent[tenant] = _Decaying(sent, now)
        if len(self._sent) > _MAX_TENANTS:
            self._count_sent(now)
        if tenant in self._refused and sent > self._fair:
            self._refuse(tenant, self._refused[tenant].get(now, _RECOVERY))

    def _refuse(self, tenant: str, share: float) -> None:
        """Refuse a share of a tenant's requests, evenly."""
        if share < _LEAST_REFUSED:
            del self._refused[tenant]
            return
        owed = self._owed.get(tenant, 0.0) + share
        self._owed[tenant] = owed - 1 if owed >= 1 else owed
        if owed >= 1:
            raise Throttled("this tenant sends more than the store can take; wait and try again")

    def note_throttles(self, caller: Principal, calls: int = 1) -> None:
        """Note how many calls of a caller's request the store throttled."""
        now, tenant = self._now(), caller.tenant
        if self._sends_most(tenant, now):
            share = self._refused.get(tenant, _NOTHING).get(now, _RECOVERY)
            self._refused[tenant] = _Decaying(min(share + calls * _STEP, _MOST_REFUSED), now)

    def _sends_most(self, tenant: str, now: float) -> bool:
        """Tell whether a tenant sends more than it would if all tenants sent as much."""
        counts = self._count_sent(now)
        total = sum(counts.values())
        self._fair = _UNFAIR * total / max(len(counts), 1)
        return len(counts) > 1 and total >= _FEW and counts.get(tenant, 0) > self._fair

    def _count_sent(self, now: float) -> dict[str, float]:
        """Count what each tenant sends, and forget those that no longer do."""
        counts = {each: sent.get(now, _REMEMBERED) for each, sent in self._sent.items()}
        counts = {each: count for each, count in counts.items() if count >= 1}
        self._sent = {each: _Decaying(count, now) for each, count in counts.items()}
        return counts
