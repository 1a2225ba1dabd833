"""The quotas that there are; a new one is an entry here and two calls where its items are made."""

from dataclasses import dataclass
from typing import NamedTuple

from functions.platform.item_types import EPISODE, ItemType
from functions.platform.limits import EPISODES_WARNING, MAX_EPISODES, RUN_RETENTION_DAYS


class Quota(NamedTuple):
    """The number of items of one type that a tenant may have; items expire, and are counted so.

    Attributes:
        name: what errors, events and log lines call it.
        limit: how many items a tenant may have.
        warning: from how many on a tenant is warned.
        metric: the name of the metric of how much of the limit is used, in percent.
        item_type: the type of the items, which have a TTL.
        remedy: how an error explains when there is room again.
    """

    name: str
    limit: int
    warning: int
    metric: str
    item_type: ItemType
    remedy: str

    @property
    def warning_percent(self) -> float:
        """Return how much of the limit is used when a tenant is warned."""
        return 100 * self.warning / self.limit


EPISODES = Quota(
    name="episodes",
    limit=MAX_EPISODES,
    warning=EPISODES_WARNING,
    metric="EpisodeQuota",
    item_type=EPISODE,
    remedy=f"each makes room when it is deleted, or {RUN_RETENTION_DAYS} days after its run began",
)
QUOTAS = (EPISODES,)


@dataclass(frozen=True, slots=True)
class QuotaUsage:
    """Tells how many items a tenant has, as far as they are counted, and whether it was warned.

    Attributes:
        count: without those that were deleted.
        released: how many of those that would still be kept were deleted.
    """

    count: int
    released: int
    is_warned: bool
