"""Budgets of tenants: tokens and requests of a day, which requests to a model reserve."""

from collections.abc import Callable
from dataclasses import dataclass

from functions.learning.model import Budget, Usage
from functions.learning.store import StrategyStore
from functions.platform.clock import Clock, to_rfc3339
from functions.platform.limits import MAX_ANSWER_TOKENS, MIN_ANSWER_TOKENS
from functions.usage.model import TenantLimits

_DAY = 86_400_000  # ms


@dataclass(eq=False)
class Budgets:
    """Tells what tenants may use on a day (UTC), and what they have used."""

    _store: StrategyStore
    _limit: Usage
    _get_limits: Callable[[str], TenantLimits]
    _clock: Clock

    def read(self, tenant: str) -> Budget:
        """Read a tenant's budget of this day, and the operator's limit of its tokens: two reads."""
        day, own = get_day(self._clock()), self._get_limits(tenant).model_tokens_per_day
        tokens = self._limit.tokens  # 0 is no limit
        if own is not None:
            tokens = max(min(own, tokens or own), 1)
        limit = self._limit._replace(tokens=tokens)
        return Budget(day, self._store.get_usage(tenant, day), limit)


def find_room(budget: Budget, tokens: int) -> int | None:
    """Find how many tokens an answer may have; None if the budget is used up."""
    used, limit = budget.used, budget.limit
    if limit.requests and used.requests >= limit.requests:
        return None
    if not limit.tokens:
        return MAX_ANSWER_TOKENS
    room = limit.tokens - used.tokens - tokens
    return None if room < MIN_ANSWER_TOKENS else min(room, MAX_ANSWER_TOKENS)


def get_day(now: int) -> str:
    """Get the day of a time, such as `2026-11-24`."""
    return to_rfc3339(now)[:10]


def get_next_day(now: int) -> int:
    """Get when the next day begins (epoch ms)."""
    return (now // _DAY + 1) * _DAY
