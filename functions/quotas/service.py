"""Refuse new items of a tenant that has used up a quota, without a read for each (decision 31)."""

from threading import Lock

from functions.platform.clock import Clock
from functions.platform.errors import CapacityExceeded
from functions.quotas.model import Quota
from functions.quotas.store import QuotaStore

_REMEMBERED = 60_000  # ms
_MAX_REMEMBERED = 10_000  # tenants and quotas


class Quotas:
    """Remembers counts for a minute, and adds the items that this process makes meanwhile."""

    def __init__(self, store: QuotaStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._cache: dict[tuple[str, str], tuple[int, int]] = {}  # count, and its expiry (epoch ms)
        self._lock = Lock()

    def assert_room(self, tenant: str, quota: Quota) -> None:
        """Assert that a tenant may have another item: one call if its count isn't remembered.

        Raises:
            CapacityExceeded: the tenant has used up the quota.
        """
        now, name = self._clock(), (tenant, quota.name)
        count, expires = self._cache.get(name, (0, 0))
        if expires <= now:
            count = self._store.get_usage(tenant, quota).count
            with self._lock:
                if len(self._cache) >= _MAX_REMEMBERED:
                    self._cache.clear()
                self._cache[name] = count, now + _REMEMBERED
        if count >= quota.limit:
            raise CapacityExceeded(quota.name, count, quota.limit, quota.remedy)

    def add_item(self, tenant: str, quota: Quota) -> None:
        """Take a new item into account, which the stream counts later."""
        with self._lock:
            count, expires = self._cache.get((tenant, quota.name), (0, 0))
            self._cache[tenant, quota.name] = count + 1, expires
