"""Refuse new items of a tenant that has used up a quota, without a read for each (decision 31)."""

from threading import Lock
from typing import NamedTuple

from functions.platform.clock import Clock
from functions.platform.errors import CapacityExceeded
from functions.platform.observability import report_percent
from functions.quotas.model import Quota, QuotaUsage
from functions.quotas.store import QuotaStore

_REMEMBERED = 60_000  # ms
_MAX_REMEMBERED = 10_000  # tenants and quotas


class _Remembered(NamedTuple):
    """A count, how many items had been deleted by then, and until when (epoch ms) it holds."""

    used: int
    released: int
    expires: int


class Quotas:
    """Remembers counts for a minute, and adds the items that this process makes since."""

    def __init__(self, store: QuotaStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._cache: dict[tuple[str, str], _Remembered] = {}
        self._lock = Lock()

    def assert_room(self, tenant: str, quota: Quota) -> None:
        """Assert that a tenant may have another item.

        It is one call if its count isn't remembered, or leaves no room: somebody may have deleted
        items since.
        """
        now, name = self._clock(), (tenant, quota.name)
        known = self._cache.get(name)
        if known is None or known.expires <= now or known.used >= quota.limit:
            known = _merge(known, self._store.get_usage(tenant, quota), now)
            with self._lock:
                if len(self._cache) >= _MAX_REMEMBERED:
                    self._cache.clear()
                self._cache[name] = known
        if known.used >= quota.limit:
            report_percent(quota.metric, 100 * known.used / quota.limit)
            raise CapacityExceeded(quota.name, known.used, quota.limit, quota.remedy)

    def add_item(self, tenant: str, quota: Quota) -> None:
        """Take a new item into account, which the stream counts later."""
        with self._lock:
            known = self._cache.get((tenant, quota.name))
            if known is not None:
                self._cache[tenant, quota.name] = known._replace(used=known.used + 1)


def _merge(known: _Remembered | None, usage: QuotaUsage, now: int) -> _Remembered:
    """Take a fresh count, and what this process has made since that the stream hasn't counted."""
    if known is None or known.expires <= now:
        return _Remembered(usage.count, usage.released, now + _REMEMBERED)
    uncounted = known.used - max(0, usage.released - known.released)
    return _Remembered(max(usage.count, uncounted), usage.released, known.expires)
