"""Derive the events of a batch, and read what its changes don't say (RFC-0015 §5).

Events are derived from the change alone, so a record that is delivered again gives the same events.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from functions.entries.delete import Removal, RemovalReasons
from functions.event_log.model import Event
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.parallel import WorkerPool
from functions.stream.events import Tasks, build_events
from functions.stream.records import Change, StreamBatch, StreamRecord
from functions.tasks.store import TaskStore


class EventRecord(NamedTuple):
    """An event, and the record that it comes from."""

    event: Event
    record: StreamRecord

    @property
    def is_logged(self) -> bool:
        """Tell whether the event was appended to its log before it was announced."""
        return self.event.type == "memory.archived"


@dataclass(eq=False)
class EventDeriver:
    """Derives events, with the reasons of removals and the intents of tasks."""

    _reasons: RemovalReasons
    _tasks: TaskStore
    _pool: WorkerPool

    def derive_events(self, batch: StreamBatch) -> list[EventRecord]:
        """Derive the events of a batch, in the order of their records.

        The record of a removal that can't be explained fails.
        """
        removals = self._explain_removals(batch)
        tasks = self._read_tasks(batch.changes)
        return [
            EventRecord(event, change.record)
            for change in batch.changes
            if batch.may_process(change.record)
            for event in build_events(change, removals.get(change.record.sequence), tasks)
        ]

    def _explain_removals(self, batch: StreamBatch) -> dict[str, Removal]:
        """Say why entries were removed, by the sequence numbers of their records."""
        removed = [change for change in batch.changes if change.removed]
        tombstones = self._reasons.read_tombstones(
            change.removed for change in removed if change.removed
        )
        by_partition: dict[str, list[Change]] = {}
        for change in removed:
            by_partition.setdefault(change.record.key[0], []).append(change)
        groups = by_partition.values()
        jobs = (partial(self._explain, group, tombstones) for group in groups)
        explained = batch.run(self._pool, jobs)
        return {sequence: removal for each in explained for sequence, removal in each.items()}

    def _explain(
        self, changes: Sequence[Change], tombstones: dict[Key, Item], batch: StreamBatch
    ) -> dict[str, Removal]:
        """Say why entries of one partition were removed, one after another: they share counters."""
        removals: dict[str, Removal] = {}
        for change in changes:
            if change.removed is None or not batch.may_process(change.record):
                continue
            with batch.guard([change.record]):
                reason = self._reasons.explain(change.removed, tombstones)
                removals[change.record.sequence] = reason
        return removals

    def _read_tasks(self, changes: Iterable[Change]) -> Tasks:
        wanted: dict[str, set[str]] = {}
        for entry in (each for change in changes for each in (change.old, change.new)):
            if entry is not None and entry.intent_id is None and entry.task_id is not None:
                wanted.setdefault(entry.address.tenant, set()).add(entry.task_id)
        found = self._pool.run(
            [partial(self._tasks.get_many, tenant, ids) for tenant, ids in wanted.items()]
        )
        return {
            (tenant, task.id): task
            for tenant, tasks in zip(wanted, found, strict=True)
            for task in tasks
        }
