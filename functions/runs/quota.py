"""A tenant's room for episodes, as an append knows it without reading (decision 31)."""

from threading import Lock

from functions.platform.clock import Clock
from functions.platform.errors import CapacityExceeded
from functions.platform.limits import MAX_EPISODES, RUN_RETENTION_DAYS
from functions.runs.counts import EpisodeCounts

_REMEMBERED_FOR = 60_000  # ms
_MOST_TENANTS = 10_000


class Quota:
    """Remembers counts for a minute, and adds what this process appends meanwhile."""

    def __init__(self, counts: EpisodeCounts, clock: Clock) -> None:
        self._counts = counts
        self._clock = clock
        self._known: dict[str, tuple[int, int]] = {}  # count, and until when (epoch ms)
        self._lock = Lock()

    def assert_room(self, tenant: str) -> None:
        """A call where the count isn't remembered.

        Raises:
            CapacityExceeded: the tenant has 100,000 episodes.
        """
        now = self._clock()
        count, until = self._known.get(tenant, (0, 0))
        if until <= now:
            count = self._counts.standing(tenant).count
            with self._lock:
                if len(self._known) >= _MOST_TENANTS:
                    self._known.clear()
                self._known[tenant] = count, now + _REMEMBERED_FOR
        if count >= MAX_EPISODES:
            remedy = f"each makes room {RUN_RETENTION_DAYS} days after it was appended"
            raise CapacityExceeded("episodes", count, MAX_EPISODES, remedy)

    def appended(self, tenant: str) -> None:
        """Takes an episode into account that no count has yet."""
        with self._lock:
            count, until = self._known.get(tenant, (0, 0))
            self._known[tenant] = count + 1, until
