"""Count what tenants store from the change stream, so that writes cost callers nothing extra.

A tenant is warned when its quota of episodes is nearly used up (decision 31).
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

from functions.container import Container
from functions.events.event_bus import BusOnlyEvent, EventBus
from functions.events.model import build_event_id
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError
from functions.platform.item_types import EPISODE
from functions.platform.items import Item, decode_item
from functions.platform.limits import EPISODES_WARNING, MAX_EPISODES
from functions.platform.observability import log_unexpected, logger, report
from functions.platform.parallel import run_parallel
from functions.platform.schema import TTL_ATTRIBUTE
from functions.stream.records import StreamBatch, StreamRecord, Subscription
from functions.usage.model import (
    EPISODE_METRIC,
    MEASURED,
    add_change,
    find_measured,
    measure_change,
)
from functions.usage.store import UsageStore, decode_episodes

_DAY = 86_400_000  # ms
_EPISODES = "items_episodes"


@dataclass(eq=False)
class UsageCounter:
    """The consumer of changes of all measured items.

    It counts the records before the first failed one: Lambda delivers the others again. The
    reconciliation corrects errors after a crash.
    """

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = tuple(map(Subscription, MEASURED))

    _store: UsageStore
    _bus: EventBus | None
    _clock: Clock

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        return cls(container.usage_store, container.event_bus, container.clock)

    def process(self, batch: StreamBatch) -> None:
        """Count the changes of a batch by tenant; records that can't be counted fail."""
        end, changes = batch.first_failed, defaultdict[str, list[StreamRecord]](list)
        for record in batch.delivered:
            if end is None or record.number < end:
                changes[record.tenant].append(record)
        run_parallel([partial(self._count, batch, *each) for each in changes.items()])

    def _count(self, batch: StreamBatch, tenant: str, records: list[StreamRecord]) -> None:
        counts: Counter[str] = Counter()
        counted = [record for record in records if _add_change(counts, record)]
        releases = sum(map(self._is_released, counted))
        if not releases and not any(counts.values()):
            return
        sequences = [each.sequence for each in counted]
        try:
            totals = self._store.count_changes(tenant, counts, releases, sequences)
        except ServiceError as error:
            log_unexpected(error)
            for record in counted:
                batch.fail(record)
            return
        if totals is not None and counts[_EPISODES]:
            self._check_warning(tenant, totals)

    def _is_released(self, record: StreamRecord) -> bool:
        """Tell whether a deletion has freed an episode's quota; expiry doesn't."""
        if record.old is None or record.new is not None or not EPISODE.has_sort(record.key[1]):
            return False
        return int(record.old[TTL_ATTRIBUTE]["N"]) * 1000 > self._clock()

    def _check_warning(self, tenant: str, totals: Item) -> None:
        """Warn a tenant once at the threshold; if that fails, a later change tries again."""
        count, is_warned = decode_episodes(totals)
        is_near = count >= EPISODES_WARNING
        if is_near:
            report(EPISODE_METRIC, "Percent", 100 * count / MAX_EPISODES)
        if is_near == is_warned:
            return
        try:
            if not is_near or self._warn(tenant, count):
                self._store.set_warned(tenant, is_warned=is_near)
        except ServiceError as error:
            log_unexpected(error)

    def _warn(self, tenant: str, count: int) -> bool:
        """Log and publish a warning; return whether the bus accepted it."""
        data = {
            "tenant": tenant,
            "limit": "episodes",
            "current_count": count,
            "max_capacity": MAX_EPISODES,
        }
        logger.warning("quota", extra=data)
        if self._bus is None:
            return True
        now = self._clock()
        id = build_event_id(tenant, "quota.warning", "episodes", now // _DAY)
        return self._bus.publish_bus_only(BusOnlyEvent(id, "quota.warning", "episodes", now, data))


def _add_change(counts: Counter[str], record: StreamRecord) -> bool:
    """Add the change of a record; return False if it isn't measured, or can't be read."""
    item_type = find_measured(record.key)
    if item_type is None:
        return False
    try:
        old, new = (
            None if each is None else decode_item(each) for each in (record.old, record.new)
        )
        add_change(counts, item_type, measure_change(item_type, old, new))
    except Exception as error:  # noqa: BLE001 - the reconciliation counts what is unreadable
        log_unexpected(error, sequence=record.sequence)
        return False
    return True
