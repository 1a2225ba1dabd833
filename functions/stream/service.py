"""From a batch of stream records to logs, bus and vectors, replay-safe (RFC-0015 §5)."""

from collections.abc import Iterable, Sequence

from functions.event_log.model import LogName
from functions.event_log.store import LogStore
from functions.platform.errors import ServiceError, Unavailable
from functions.platform.observability import log_unexpected
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.stream.batch import Batch, Told, by_log
from functions.stream.bus import Bus
from functions.stream.events import events_of
from functions.stream.records import Change, Record, change_of, is_told_of, source_of
from functions.stream.removals import Removals
from functions.stream.vectors import follow
from functions.tasks.model import Task
from functions.tasks.store import TaskStore


class Lifecycle:
    """Tells what happened to entries. Whatever is delivered twice is told once."""

    def __init__(
        self,
        removals: Removals,
        tasks: TaskStore,
        logs: LogStore,
        bus: Bus | None,
        vectors: EmbeddingIndexer | None,
    ) -> None:
        self._removals = removals
        self._tasks = tasks
        self._logs = logs
        self._bus = bus
        self._vectors = vectors

    def process(self, records: Sequence[Record]) -> list[str]:
        """Tells all that the records say; the sequence numbers of those to be delivered again.

        Raises:
            ServiceError: the store is out of reach; the whole batch is to be delivered again.
        """
        batch = Batch()
        changes = _changes(batch, records)
        told = self._told(batch, changes)
        logged = [each for each in told if each.in_log]
        for (tenant, log), group in by_log(told).items():
            logged += self._append(batch, tenant, log, group)
        if self._bus is not None and logged:
            self._publish(batch, self._bus, logged)
        if self._vectors is not None:
            follow(batch, changes, self._vectors)
        return list(batch.failed)

    def _told(self, batch: Batch, changes: list[Change]) -> list[Told]:
        gone = [change.gone for change in changes if change.gone is not None]
        notices = self._removals.notices(gone)
        tasks = self._tasks_of(changes)
        told: list[Told] = []
        for change in changes:
            if not batch.goes_on(change.source):
                continue
            try:
                removal = self._removals.removal(change.gone, notices) if change.gone else None
                events = events_of(change, removal, tasks)
            except Exception as error:  # noqa: BLE001 - one record's trouble isn't the others'
                batch.fail(change.source, error)
                continue
            told += [Told(event, change.source) for event in events]
        return told

    def _tasks_of(self, changes: list[Change]) -> dict[tuple[str, str], Task]:
        """The tasks whose entries don't say themselves what intent they belong to."""
        asked: dict[str, set[str]] = {}
        for entry in (each for change in changes for each in (change.old, change.new)):
            if entry is not None and entry.intent is None and entry.task is not None:
                asked.setdefault(entry.address.tenant, set()).add(entry.task)
        return {
            (tenant, task.id): task
            for tenant, ids in asked.items()
            for task in self._tasks.get_many(tenant, ids)
        }

    def _append(self, batch: Batch, tenant: str, log: LogName, group: list[Told]) -> list[Told]:
        """Appends to one log; if that fails, one by one, to find what can't be."""
        group = [told for told in group if batch.goes_on(told.source)]
        try:
            appended = self._logs.append(tenant, log, [told.event for told in group])
        except ServiceError as error:
            for told in group:
                batch.fail(told.source, error)
            return []
        except Exception as error:  # noqa: BLE001 - as above
            if len(group) == 1:
                batch.fail(group[0].source, error)
                return []
            return [done for told in group for done in self._append(batch, tenant, log, [told])]
        batch.fresh.update(event.id for event in appended)
        return group

    def _publish(self, batch: Batch, bus: Bus, logged: list[Told]) -> None:
        """Publishes what the bus doesn't have; what is fresh in its log can't be there yet."""
        repeated = [told.event for told in logged if told.event.id not in batch.fresh]
        missing = batch.fresh | {event.id for event in self._logs.unpublished(repeated)}
        events = {told.event.id: told.event for told in logged if told.event.id in missing}
        try:
            for taken in bus.publish(events.values()):
                self._logs.mark_published(taken)
                missing.difference_update(event.id for event in taken)
        except Unavailable as error:
            log_unexpected(error)
        for told in logged:
            if told.event.id in missing:
                batch.fail(told.source)


def _changes(batch: Batch, records: Iterable[Record]) -> list[Change]:
    changes = []
    for record in records:
        source = source_of(record)
        if not is_told_of(source.key) or not batch.goes_on(source):
            continue
        try:
            changes.append(change_of(source, record))
        except Exception as error:  # noqa: BLE001 - a poison record
            batch.fail(source, error)
    return changes
