"""Fairness: how many requests a principal and a tenant may send to one instance of the function.

The counts are kept in the process, so that no request costs a write. Each instance counts for
itself: a caller that many instances serve may send as many times more.
"""

import math
import time
from collections.abc import Callable

from functions.identity.model import Principal
from functions.platform.errors import Throttled

_MINUTE = 60.0  # s
_MAX_CALLERS = 20_000  # principals and tenants that are remembered
_Caller = tuple[str, ...]  # (tenant,) or (tenant, principal)


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
        """Count a request of a caller.

        Raises:
            Throttled: the principal, or its tenant, sends more than it may.
        """
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
