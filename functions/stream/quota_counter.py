"""Count the items that quotas limit, and warn when a quota is nearly used up (decision 31)."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Self

from functions.container import Container
from functions.event_log.event_bus import BusOnlyEvent, EventBus
from functions.event_log.model import build_event_id
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError
from functions.platform.observability import log_unexpected, logger, report_percent
from functions.platform.parallel import run_parallel
from functions.platform.schema import TTL_ATTRIBUTE
from functions.quotas.model import QUOTAS, Quota, QuotaUsage
from functions.quotas.store import MAX_COUNTED, NewItem, QuotaStore
from functions.stream.records import StreamBatch, StreamRecord, Subscription

_DAY = 86_400_000  # ms


class QuotaCounter:
    """The consumer of inserts of the items that quotas limit.

    It counts the records before the first one that failed: Lambda delivers the others again.
    """

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = tuple(
        Subscription(quota.item_type, inserts_only=True) for quota in QUOTAS
    )

    def __init__(self, store: QuotaStore, bus: EventBus | None, clock: Clock) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        return cls(container.quota_store, container.event_bus, container.clock)

    def process(self, batch: StreamBatch) -> None:
        """Count a batch's new items; the records of those that can't be counted fail."""
        for quota, subscription in zip(QUOTAS, self.SUBSCRIPTIONS, strict=True):
            end = batch.first_failed
            records = [
                record
                for record in batch.records
                if subscription.matches(record) and (end is None or record.number < end)
            ]
            self._count(batch, quota, records)

    def _count(self, batch: StreamBatch, quota: Quota, records: Sequence[StreamRecord]) -> None:
        for start in range(0, len(records), MAX_COUNTED):
            chunk = records[start : start + MAX_COUNTED]
            try:
                self._store.count_items(quota, list(map(_to_new_item, chunk)))
            except ServiceError as error:
                log_unexpected(error)
                for record in records[start:]:
                    batch.fail(record)
                return
        tenants = dict.fromkeys(record.tenant for record in records)
        run_parallel([partial(self._check_warning, tenant, quota) for tenant in tenants])

    def _check_warning(self, tenant: str, quota: Quota) -> None:
        """Warn once when a tenant reaches the warning; if that fails, a later item repeats it."""
        try:
            usage = self._store.get_usage(tenant, quota)
            is_near = usage.count >= quota.warning
            if is_near:
                report_percent(quota.metric, 100 * usage.count / quota.limit)
            if is_near == usage.is_warned:
                return
            if not is_near or self._warn(tenant, quota, usage):
                self._store.set_warned(tenant, quota, is_warned=is_near)
        except ServiceError as error:
            log_unexpected(error)

    def _warn(self, tenant: str, quota: Quota, usage: QuotaUsage) -> bool:
        """Log and publish a warning; return whether the bus accepted it."""
        data = {
            "tenant": tenant,
            "limit": quota.name,
            "current_count": usage.count,
            "max_capacity": quota.limit,
        }
        logger.warning("quota", extra=data)
        if self._bus is None:
            return True
        now = self._clock()
        id = build_event_id(tenant, "quota.warning", quota.name, now // _DAY)
        return self._bus.publish_bus_only(BusOnlyEvent(id, "quota.warning", quota.name, now, data))


def _to_new_item(record: StreamRecord) -> NewItem:
    expires = int((record.new or {})[TTL_ATTRIBUTE]["N"])
    return NewItem(record.key, record.sequence, expires)
