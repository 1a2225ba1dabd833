"""Append the events of a batch to their logs, and publish them on the bus (RFC-0015 §5).

Logs and the bus are independent, so they are written in parallel, each log with one append for the
whole batch. A failure only delays its own records.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

from functions.container import Container
from functions.events.event_bus import MAX_CALL_EVENTS, EventBus
from functions.events.model import LogName
from functions.events.store import EventLogStore
from functions.platform.aws import is_service_failure
from functions.platform.errors import ServiceError
from functions.platform.parallel import WorkerPool
from functions.stream.events import EventDeriver, EventRecord
from functions.stream.records import (
    ANNOUNCEMENTS,
    ENTRIES,
    StreamBatch,
    Subscription,
    order_by_turns,
)

_THREADS = 16
_MAX_BUS_CALLS = 8  # at once
_Job = Callable[[StreamBatch], None]


@dataclass(eq=False)
class EventPublisher:
    """The consumer of changes of entries that feeds event logs and the bus."""

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = (*ENTRIES, ANNOUNCEMENTS)

    _deriver: EventDeriver
    _logs: EventLogStore
    _bus: EventBus | None
    _pool: WorkerPool

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        pool = WorkerPool("events", _THREADS)
        deriver = EventDeriver(container.removal_reasons, container.task_store, pool)
        return cls(deriver, container.event_log_store, container.event_bus, pool)

    def process(self, batch: StreamBatch) -> None:
        """Log and publish the events of a batch; records of failed events fail."""
        records = self._deriver.derive_events(batch)
        batch.run(self._pool, [*self._build_appends(records), *self._build_publications(records)])

    def _build_appends(self, records: Iterable[EventRecord]) -> list[_Job]:
        """Build the appends of the events that aren't logged yet: one for each log."""
        groups = group_by_log(each for each in records if not each.is_logged)
        return [
            partial(self._append, tenant, log, groups[tenant, log])
            for tenant, log in order_by_turns(groups, lambda name: name[0])
        ]

    def _append(
        self, tenant: str, log: LogName, group: Sequence[EventRecord], batch: StreamBatch
    ) -> None:
        """Append events to one log; if that fails, append one by one to find the failing ones."""
        group = [each for each in group if batch.may_process(each.record)]
        try:
            self._logs.append(tenant, log, [each.event for each in group])
        except Exception as error:  # noqa: BLE001 - it holds up its own item only
            if len(group) == 1 or is_service_failure(error):
                for each in group:
                    batch.fail(each.record, error)
                return
            for each in group:
                self._append(tenant, log, [each], batch)

    def _build_publications(self, records: Iterable[EventRecord]) -> list[_Job]:
        """Build the calls of the bus for its events; the events of a log stay in order."""
        bus = self._bus
        if bus is None:
            return []
        groups = group_by_log(each for each in records if bus.carries(each.event.type))
        count = -(-sum(map(len, groups.values())) // MAX_CALL_EVENTS)
        lanes: list[list[EventRecord]] = [[] for _ in range(min(count, _MAX_BUS_CALLS))]
        for number, name in enumerate(order_by_turns(groups, lambda name: name[0])):
            lanes[number % len(lanes)] += groups[name]
        return [partial(self._publish, bus, lane) for lane in lanes]

    def _publish(self, bus: EventBus, lane: Sequence[EventRecord], batch: StreamBatch) -> None:
        """Publish events that aren't on the bus yet, and mark them, so that replays don't."""
        missing: set[str] = set()
        error: ServiceError | None = None
        try:
            unpublished = self._logs.select_unpublished([each.event for each in lane])
            missing = {event.id for event in unpublished}
            for accepted in bus.publish(unpublished):
                self._logs.mark_published(accepted)
                missing.difference_update(event.id for event in accepted)
        except ServiceError as raised:
            error, missing = raised, missing or {each.event.id for each in lane}
        for each in lane:
            if each.event.id in missing:
                batch.fail(each.record, error)


def group_by_log(records: Iterable[EventRecord]) -> dict[tuple[str, LogName], list[EventRecord]]:
    """Group events by tenant and log, in their order."""
    groups: dict[tuple[str, LogName], list[EventRecord]] = {}
    for each in records:
        groups.setdefault((each.event.tenant, each.event.log), []).append(each)
    return groups
