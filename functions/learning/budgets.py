"""Budgets of tenants: tokens and requests of a day, which requests to a model reserve."""

from dataclasses import dataclass

from functions.learning.model import Budget, Usage
from functions.learning.store import StrategyStore
from functions.platform.clock import Clock, to_rfc3339


@dataclass(eq=False)
class Budgets:
    """What tenants may use on a day (UTC), and what they have used."""

    _store: StrategyStore
    _limit: Usage
    _clock: Clock

    def read(self, tenant: str) -> Budget:
        """Read a tenant's budget of this day: one read."""
        day = get_day(self._clock())
        return Budget(day, self._store.get_usage(tenant, day), self._limit)


def get_day(now: int) -> str:
    """Get the day of a time, such as `2026-11-24`."""
    return to_rfc3339(now)[:10]
