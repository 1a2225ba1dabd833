"""Append the events of a batch to their logs, and publish them on the bus (RFC-0015 §5).

Events are derived from the change alone, so a record that is delivered again gives the same events;
an event is logged once and published once.
"""

from typing import ClassVar, NamedTuple, Self

from functions.container import Container
from functions.entries.removals import RemovalReasons
from functions.event_log.event_bus import EventBus
from functions.event_log.model import Event, LogName
from functions.event_log.store import EventLogStore
from functions.platform.errors import ServiceError, Unavailable
from functions.platform.observability import log_unexpected
from functions.stream.events import Tasks, build_events
from functions.stream.records import (
    ANNOUNCEMENTS,
    ENTRIES,
    Change,
    StreamBatch,
    StreamRecord,
    Subscription,
)
from functions.tasks.store import TaskStore


class EventRecord(NamedTuple):
    """An event, and the record that it comes from."""

    event: Event
    record: StreamRecord

    @property
    def is_logged(self) -> bool:
        """Whether the event was appended to its log before it was announced."""
        return self.event.type == "memory.archived"


class EventPublisher:
    """The consumer of changes of entries that feeds event logs and the bus."""

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = (*ENTRIES, ANNOUNCEMENTS)

    def __init__(
        self,
        reasons: RemovalReasons,
        tasks: TaskStore,
        logs: EventLogStore,
        bus: EventBus | None,
    ) -> None:
        self._reasons = reasons
        self._tasks = tasks
        self._logs = logs
        self._bus = bus

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        return cls(
            container.removal_reasons,
            container.task_store,
            container.log_store,
            container.event_bus,
        )

    def process(self, batch: StreamBatch) -> None:
        """Log and publish the events of a batch.

        Raises:
            ServiceError: the table can't be reached; the whole batch is to be delivered again.
        """
        records = self._derive_events(batch)
        logged = [each for each in records if each.is_logged]
        new_ids: set[str] = set()
        for (tenant, log), group in _group_by_log(records).items():
            logged += self._append(batch, tenant, log, group, new_ids)
        if self._bus is not None and logged:
            self._publish(batch, self._bus, logged, new_ids)

    def _derive_events(self, batch: StreamBatch) -> list[EventRecord]:
        removed = (change.removed for change in batch.changes)
        tombstones = self._reasons.read_tombstones(filter(None, removed))
        tasks = self._read_tasks(batch.changes)
        derived: list[EventRecord] = []
        for change in batch.changes:
            if not batch.may_process(change.record):
                continue
            try:
                entry = change.removed
                removal = self._reasons.explain(entry, tombstones) if entry else None
                events = build_events(change, removal, tasks)
            except Exception as error:  # noqa: BLE001 - it holds up its own item only
                batch.fail(change.record, error)
                continue
            derived += [EventRecord(event, change.record) for event in events]
        return derived

    def _read_tasks(self, changes: list[Change]) -> Tasks:
        """Read the tasks of entries that don't name their intent."""
        wanted: dict[str, set[str]] = {}
        for entry in (each for change in changes for each in (change.old, change.new)):
            if entry is not None and entry.intent is None and entry.task is not None:
                wanted.setdefault(entry.address.tenant, set()).add(entry.task)
        return {
            (tenant, task.id): task
            for tenant, ids in wanted.items()
            for task in self._tasks.get_many(tenant, ids)
        }

    def _append(
        self,
        batch: StreamBatch,
        tenant: str,
        log: LogName,
        group: list[EventRecord],
        new_ids: set[str],
    ) -> list[EventRecord]:
        """Append events to one log; if that fails, one by one, to find those that can't be.

        Gives those that are in the log, and adds the ids of the ones that weren't to `new_ids`.
        """
        group = [each for each in group if batch.may_process(each.record)]
        try:
            appended = self._logs.append(tenant, log, [each.event for each in group])
        except ServiceError as error:
            for each in group:
                batch.fail(each.record, error)
            return []
        except Exception as error:  # noqa: BLE001 - it holds up its own item only
            if len(group) == 1:
                batch.fail(group[0].record, error)
                return []
            return [
                done for each in group for done in self._append(batch, tenant, log, [each], new_ids)
            ]
        new_ids.update(event.id for event in appended)
        return group

    def _publish(
        self, batch: StreamBatch, bus: EventBus, logged: list[EventRecord], new_ids: set[str]
    ) -> None:
        """Publish what isn't on the bus yet; an event that is new in its log can't be."""
        repeated = [each.event for each in logged if each.event.id not in new_ids]
        missing = new_ids | {event.id for event in self._logs.select_unpublished(repeated)}
        events = {each.event.id: each.event for each in logged if each.event.id in missing}
        try:
            for accepted in bus.publish(events.values()):
                self._logs.mark_published(accepted)
                missing.difference_update(event.id for event in accepted)
        except Unavailable as error:
            log_unexpected(error)
        for each in logged:
            if each.event.id in missing:
                batch.fail(each.record)


def _group_by_log(records: list[EventRecord]) -> dict[tuple[str, LogName], list[EventRecord]]:
    """Group the events that aren't logged yet by tenant and log, in their order."""
    groups: dict[tuple[str, LogName], list[EventRecord]] = {}
    for each in records:
        if not each.is_logged:
            groups.setdefault((each.event.tenant, each.event.log), []).append(each)
    return groups
