"""Build the events of a change (RFC-0015 §5.1, §5.2)."""

from functions.entries.delete import Removal
from functions.entries.model import Entry
from functions.event_log.model import Event, LogEventType, build_event_id, choose_log
from functions.identity.model import SERVICE, Actor
from functions.platform.items import Item
from functions.stream.records import Change
from functions.tasks.model import Task

_TYPE_BY_REASON: dict[str, LogEventType] = {
    "deleted": "memory.deleted",
    "evicted": "memory.evicted",
    "expired": "memory.expired",
}
Tasks = dict[tuple[str, str], Task]
"""Tasks by tenant and id."""


def build_events(change: Change, removal: Removal | None, tasks: Tasks) -> list[Event]:
    """Build the events of a change, in their order.

    A recorded access has none. Archived entries have one event together, which is in the log
    before it is announced.

    Args:
        change: of an entry, or an announcement.
        removal: why the old entry was removed, unless another one replaced it.
        tasks: those of entries that don't name their intent.
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
        return _build_removed(old, removal, tasks)
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


def _build_removed(old: Entry | None, removal: Removal | None, tasks: Tasks) -> list[Event]:
    if old is None or removal is None or removal.reason == "archived":
        return []
    event_type = _TYPE_BY_REASON[removal.reason]
    return [_build_event(event_type, old, removal.actor, removal.happened, old.version, tasks)]


def _build_archived(tenant: str, announcement: Item) -> Event:
    agent, intent = announcement["agent_id"], announcement.get("intent_id")
    return Event(
        id=announcement["event"],
        type="memory.archived",
        tenant=tenant,
        agent_id=agent,
        actor=Actor(announcement["actor"], announcement["actor_kind"]),
        intent_id=intent,
        task_id=announcement["task_id"],
        data={"entries_archived": announcement["entries"]},
        timestamp=announcement["happened"],
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
    """Get the intent that a task had at a time: the same however late a record is processed."""
    if task is None or task.in_intent_since > timestamp:
        return None
    return task.intent_id
