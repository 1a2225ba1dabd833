"""How many episodes a tenant has: counted by day, off the write path (decision 31).

Episodes go by age alone. So nothing is ever counted down: a day's count goes with its last episode.
"""

from collections import Counter
from collections.abc import Sequence

from functions.platform.clock import Clock
from functions.platform.keys import Key, get_tenant
from functions.platform.limits import RUN_RETENTION_DAYS
from functions.platform.run_keys import (
    DAY,
    build_counted_episodes_key,
    build_day_count_key,
    build_quota_warning_key,
    get_day,
)
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.writes import delete, put, update
from functions.runs.items import ABSENT
from functions.runs.model import Standing

AT_ONCE = 90  # episodes counted together: at worst a day's count each, of 100 writes
_REMEMBERED = 2 * DAY  # the stream delivers nothing that is older than a day


class EpisodeCounts:
    """Counts of all tenants."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def standing(self, tenant: str) -> Standing:
        """Where a tenant stands now: one call that reads at most 92 tiny items."""
        oldest = get_day(self._clock()) - RUN_RETENTION_DAYS
        _, first = build_day_count_key(tenant, oldest)
        partition, last = build_quota_warning_key(tenant)
        items = list(self._table.query_from(partition, first, last, RUN_RETENTION_DAYS + 10))
        count = sum(item.get("episodes", 0) for item in items)
        return Standing(count, any(item["sk"] == last for item in items))

    def add(self, appended: Sequence[tuple[Key, int]]) -> None:
        """Counts episodes, each given by its place and moment; the same ones again count once.

        Args:
            appended: at most `AT_ONCE`; any number of tenants.
        """
        days = Counter((get_tenant(place[0]), get_day(moment)) for place, moment in appended)
        (first, _), *_ = appended
        marker = build_counted_episodes_key(get_tenant(first[0]), [place for place, _ in appended])
        ttl = (self._clock() + _REMEMBERED) // 1000
        writes = [
            update(
                build_day_count_key(tenant, day),
                f"ADD episodes :more SET {TTL_ATTRIBUTE} = :ttl",
                more=more,
                ttl=(day + RUN_RETENTION_DAYS + 1) * DAY // 1000,
            )
            for (tenant, day), more in days.items()
        ]
        try:
            self._table.transact([put(marker, {TTL_ATTRIBUTE: ttl}, ABSENT), *writes])
        except TransactionConditionFailed:
            return  # they were counted when they were delivered first

    def set_warned(self, tenant: str, *, warned: bool) -> None:
        """Keeps in mind that a tenant was warned, or that it stands below the warning again."""
        place = build_quota_warning_key(tenant)
        if warned:
            self._table.put(put(place, {"since": self._clock()}))
        else:
            self._table.transact([delete(place)])
