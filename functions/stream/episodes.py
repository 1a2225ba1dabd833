"""New episodes, counted for their tenant's quota (ADR-043 Tier 2; decision 31)."""

from collections.abc import Iterator, Sequence

from functions.event_log.rules import event_id
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError
from functions.platform.keys import decode_timestamp
from functions.platform.limits import EPISODES_WARNING, MAX_EPISODES
from functions.platform.observability import log_unexpected, logger, report_percent
from functions.platform.run_keys import get_day
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE
from functions.runs.counts import AT_ONCE, EpisodeCounts
from functions.runs.model import Standing
from functions.stream.bus import Bus, Notice
from functions.stream.records import Record, Source, is_new_episode, source_of


class EpisodeQuota:
    """Counts what was appended, and warns of what fills up; `function` names itself in metrics."""

    def __init__(
        self, counts: EpisodeCounts, bus: Bus | None, function: str | None, clock: Clock
    ) -> None:
        self._counts = counts
        self._bus = bus
        self._function = function
        self._clock = clock

    def process(self, records: Sequence[Record], failed: Sequence[str]) -> list[str]:
        """Counts the new episodes of a batch; the sequence numbers of those to come again.

        What stands behind a failed record is delivered again with it, and counted then.
        """
        fresh = list(_fresh(records, failed))
        for start in range(0, len(fresh), AT_ONCE):
            chunk = fresh[start : start + AT_ONCE]
            try:
                self._counts.add([(source.key, moment) for source, moment in chunk])
            except ServiceError as error:
                log_unexpected(error)
                return [source.sequence for source, _ in fresh[start:]]
        for tenant in dict.fromkeys(source.tenant for source, _ in fresh):
            self._look_at(tenant)
        return []

    def _look_at(self, tenant: str) -> None:
        """Warns once when a tenant comes to the warning; whatever fails, a later append repeats."""
        try:
            standing = self._counts.standing(tenant)
            near = standing.count >= EPISODES_WARNING
            if near and self._function is not None:
                used = 100 * standing.count / MAX_EPISODES
                report_percent("EpisodeQuota", used, self._function)
            if near != standing.warned and (not near or self._told(tenant, standing)):
                self._counts.set_warned(tenant, warned=near)
        except ServiceError as error:
            log_unexpected(error)

    def _told(self, tenant: str, standing: Standing) -> bool:
        """Whether whoever listens was told."""
        limit = {
            "limit": "episodes",
            "current_count": standing.count,
            "max_capacity": MAX_EPISODES,
        }
        logger.warning("quota", extra={"tenant": tenant, **limit})
        now = self._clock()
        id = event_id(tenant, "quota.warning", "episodes", get_day(now))
        notice = Notice(id, "quota.warning", "episodes", now, {"tenant": tenant, **limit})
        return self._bus is None or self._bus.tell(notice)


def _fresh(records: Sequence[Record], failed: Sequence[str]) -> Iterator[tuple[Source, int]]:
    """The new episodes before the first failed record, each with its moment."""
    end = min(map(int, failed), default=None)
    for record in records:
        source = source_of(record)
        if is_new_episode(source.key, record) and (end is None or source.number < end):
            order = record["dynamodb"]["NewImage"][TYPE_ORDER_ATTRIBUTE]["S"]
            yield source, decode_timestamp(order)
