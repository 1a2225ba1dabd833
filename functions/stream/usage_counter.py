"""Count what tenants store, behind the stream: a write costs its caller nothing more."""

from collections import Counter, defaultdict
from functools import partial
from typing import ClassVar, Self

from functions.container import Container
from functions.platform.errors import ServiceError
from functions.platform.items import decode_item
from functions.platform.observability import log_unexpected
from functions.platform.parallel import run_parallel
from functions.stream.records import StreamBatch, StreamRecord, Subscription
from functions.usage.measure import add_change, find_measured, measure_change
from functions.usage.model import MEASURED
from functions.usage.store import UsageStore


class UsageCounter:
    """The consumer of changes of all stored things.

    It counts the records before the first one that failed: Lambda delivers the others again. What
    a crash leaves, the reconciliation corrects.
    """

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = tuple(map(Subscription, MEASURED))

    def __init__(self, store: UsageStore) -> None:
        self._store = store

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        return cls(container.usage_store)

    def process(self, batch: StreamBatch) -> None:
        """Count the changes of a batch, each tenant's together; what can't be counted fails."""
        end, changes = batch.first_failed, defaultdict[str, list[StreamRecord]](list)
        for record in batch.delivered:
            if end is None or record.number < end:
                changes[record.tenant].append(record)
        run_parallel([partial(self._count, batch, *each) for each in changes.items()])

    def _count(self, batch: StreamBatch, tenant: str, records: list[StreamRecord]) -> None:
        counts: Counter[str] = Counter()
        counted = [record for record in records if _add_change(counts, record)]
        if not any(counts.values()):
            return
        try:
            self._store.count_changes(tenant, counts, [each.sequence for each in counted])
        except ServiceError as error:
            log_unexpected(error)
            for record in counted:
                batch.fail(record)


def _add_change(counts: Counter[str], record: StreamRecord) -> bool:
    """Add what a record changes; False if it isn't measured, or can't be read."""
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
