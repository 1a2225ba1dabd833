"""Refuse new episodes of a tenant that has used up its quota, without a read for each.

See decision 31.
"""

from threading import Lock
from typing import NamedTuple

from functions.platform.clock import Clock
from functions.platform.errors import CapacityExceeded
from functions.platform.limits import MAX_EPISODES, RUN_RETENTION_DAYS
from functions.platform.observability import report_percent
from functions.usage.model import EPISODE_METRIC, EpisodeCount
from functions.usage.store import UsageStore

_REMEMBERED = 60_000  # ms
_MAX_REMEMBERED = 10_000  # tenants
_REMEDY = f"each makes room when it is deleted, or {RUN_RETENTION_DAYS} days after its run began"


class _Remembered(NamedTuple):
    """A count, how many episodes had been deleted by then, and until when (epoch ms) it holds."""

    used: int
    released: int
    expires: int


class EpisodeQuota:
    """Remembers counts for a minute, and adds the episodes that this process makes since."""

    def __init__(self, store: UsageStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._cache: dict[str, _Remembered] = {}
        self._lock = Lock()

    def assert_room(self, tenant: str) -> None:
        """Assert that a tenant may have another episode.

        It is one call if its count isn't remembered, or leaves no room: somebody may have deleted
        episodes since.
        """
        now, known = self._clock(), self._cache.get(tenant)
        if known is None or known.expires <= now or known.used >= MAX_EPISODES:
            known = _merge(known, self._store.get_episodes(tenant), now)
            with self._lock:
                if len(self._cache) >= _MAX_REMEMBERED:
                    self._cache.clear()
                self._cache[tenant] = known
        if known.used >= MAX_EPISODES:
            report_percent(EPISODE_METRIC, 100 * known.used / MAX_EPISODES)
            raise CapacityExceeded("episodes", known.used, MAX_EPISODES, _REMEDY)

    def add_episode(self, tenant: str) -> None:
        """Take a new episode into account, which the stream counts later."""
        with self._lock:
            known = self._cache.get(tenant)
            if known is not None:
                self._cache[tenant] = known._replace(used=known.used + 1)


def _merge(known: _Remembered | None, fresh: EpisodeCount, now: int) -> _Remembered:
    """Take a fresh count, and what this process has made since that the stream hasn't counted."""
    if known is None or known.expires <= now:
        return _Remembered(fresh.number, fresh.released, now + _REMEMBERED)
    uncounted = known.used - (fresh.released - known.released)
    return _Remembered(max(fresh.number, uncounted), fresh.released, known.expires)
