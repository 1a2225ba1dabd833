"""Derive the events of a batch, and read what its records lack (RFC-0015 §5).

Events are derived from the change alone, so a repeated record gives the same events.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from functions.entries.delete import Removal, RemovalReasons
from functions.entries.model import Entry
from functions.events.model import Event, LogEventType, build_event_id, choose_log
from functions.identity.model import SERVICE, Actor
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.parallel import WorkerPool
from functions.stream.records import Change, StreamBatch, StreamRecord
from functions.tasks.model import Task
from functions.tasks.store import TaskStore

_TYPE_BY_REASON: dict[str, LogEventType] = {
    "deleted": "memory.deleted",
    "evicted": "memory.evicted",
    "expired": "memory.expired",
}
Tasks = dict[tuple[str, str], Task]
"""Tasks by tenant and id."""


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

        If the reason of a removal can't be read, its record fails.
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
        """Read the reasons of removals, by the sequence numbers of their records."""
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
        """Read the reasons of removals in one partition, one by one: they share counters."""
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


def build_events(change: Change, removal: Removal | None, tasks: Tasks) -> list[Event]:
    """Build the events of a change, in their order.

    A recorded access has no event. Archived entries have one event together, which is in the log
    before its announcement.

    Args:
        removal: the reason of the old entry's removal, unless another one replaced it.
        tasks: of entries that don't name their intent.
    """
    old, new = change.old, change.new
    if change.announcement is not None:
        return [_build_archived(change.record.tenant, change.announcement)]
    cause = removal if new is None else new
    traceparent = None if cause is None else cause.traceparent
    events = _build_changes(old, new, removal, tasks)
    return [each._replace(traceparent=traceparent) for each in events] if traceparent else events


def _build_changes(
    old: Entry | None, new: Entry | None, removal: Removal | None, tasks: Tasks
) -> list[Event]:
    if new is None:
        if old is None or removal is None or removal.reason == "archived":
            return []
        event_type = _TYPE_BY_REASON[removal.reason]
        return [_build_event(event_type, old, removal.actor, removal.happened, old.version, tasks)]
    happened = new.created_at
    if old is None:
        return [_build_event("memory.created", new, new.actor, happened, None, tasks)]
    if old.nonce != new.nonce:
        removed = _build_event("memory.deleted", old, new.actor, happened, old.version, tasks)
        if old.is_expired(happened):
            removed = _build_event("memory.expired", old, SERVICE, happened, old.version, tasks)
        return [removed, _build_event("memory.created", new, new.actor, happened, None, tasks)]
    if old.version != new.version:
        return [_build_event("memory.updated", new, new.actor, new.updated_at, old.version, tasks)]
    return []


def _build_archived(tenant: str, announcement: Item) -> Event:
    agent, intent = announcement["agent_id"], announcement.get("intent_id")
    return Event(
        id=announcement["id"],
        type="memory.archived",
        tenant=tenant,
        agent_id=agent,
        actor=Actor(announcement["actor"], announcement["actor_kind"]),
        intent_id=intent,
        task_id=announcement["task_id"],
        data={"entries_archived": announcement["entries"]},
        timestamp=announcement["timestamp"],
        log=choose_log(intent=intent, agent=agent, namespace=None),
        traceparent=announcement.get("traceparent"),
    )


def _build_event(
    event_type: LogEventType,
    entry: Entry,
    actor: Actor,
    timestamp: int,
    previous_version: int | None,
    tasks: Tasks,
) -> Event:
    tenant, intent = entry.address.tenant, entry.intent_id
    if intent is None and entry.task_id is not None:
        intent = _intent_at(tasks.get((tenant, entry.task_id)), timestamp)
    namespace = None if entry.policy.is_private else entry.namespace
    return Event(
        id=build_event_id(tenant, entry.id, entry.version, event_type),
        type=event_type,
        tenant=tenant,
        agent_id=entry.agent_id,
        actor=actor,
        intent_id=intent,
        task_id=entry.task_id,
        data={
            "entry_id": entry.id,
            "namespace": entry.namespace,
            "key": entry.key,
            "memory_type": entry.memory_type,
            "version": entry.version,
            "previous_version": previous_version,
            "tags": entry.tags,
        },
        timestamp=timestamp,
        log=choose_log(intent=intent, agent=entry.agent_id, namespace=namespace),
    )


def _intent_at(task: Task | None, timestamp: int) -> str | None:
    """Get the intent that a task had at a time, so that late records give the same result."""
    if task is None or task.in_intent_since > timestamp:
        return None
    return task.intent_id
