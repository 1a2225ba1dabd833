"""What a change means as events (RFC-0015 §5.1, §5.2); pure decisions."""

from dataclasses import dataclass
from typing import Literal

from functions.entries.model import Entry
from functions.event_log.model import Event, EventType
from functions.event_log.rules import event_id, log_of
from functions.platform.items import Item
from functions.stream.records import Change
from functions.tasks.model import Task

_BY_REASON: dict[str, EventType] = {
    "deleted": "memory.deleted",
    "evicted": "memory.evicted",
    "expired": "memory.expired",
}


@dataclass(frozen=True, slots=True)
class Removal:
    """Why and when (epoch ms) an entry went."""

    reason: Literal["deleted", "evicted", "expired", "archived"]
    happened: int


def events_of(
    change: Change, removal: Removal | None, tasks: dict[tuple[str, str], Task]
) -> list[Event]:
    """The events of a change, in their order.

    A recorded access is none. What went into an archive has one event for all, which is in the log
    already when it is announced.

    Args:
        change: what was written.
        removal: why the old entry went, where nothing took its place.
        tasks: those of entries that don't say their intent, by tenant and id.
    """
    old, new = change.old, change.new
    if change.announced is not None:
        return [_archived(change.source.tenant, change.announced)]
    if new is None:
        return _removed(old, removal, tasks)
    if old is None:
        return [_event("memory.created", new, new.created, None, tasks)]
    if old.nonce != new.nonce:  # it took the slot of one that had expired
        return [
            _event("memory.expired", old, new.created, old.version, tasks),
            _event("memory.created", new, new.created, None, tasks),
        ]
    if old.version != new.version:
        return [_event("memory.updated", new, new.updated, old.version, tasks)]
    return []


def _removed(
    old: Entry | None, removal: Removal | None, tasks: dict[tuple[str, str], Task]
) -> list[Event]:
    if old is None or removal is None or removal.reason == "archived":
        return []
    return [_event(_BY_REASON[removal.reason], old, removal.happened, old.version, tasks)]


def _archived(tenant: str, announced: Item) -> Event:
    return Event(
        id=announced["event"],
        type="memory.archived",
        tenant=tenant,
        agent=announced["agent_id"],
        intent=announced.get("intent"),
        task=announced["task"],
        data={"entries_archived": announced["entries"]},
        timestamp=announced["happened"],
        log=log_of(intent=announced.get("intent"), agent=announced["agent_id"], namespace=None),
    )


def _event(
    kind: EventType,
    entry: Entry,
    moment: int,
    previous: int | None,
    tasks: dict[tuple[str, str], Task],
) -> Event:
    tenant, intent = entry.address.tenant, entry.intent
    if intent is None and entry.task is not None:
        intent = _intent_at(tasks.get((tenant, entry.task)), moment)
    namespace = None if entry.policy.is_private else entry.namespace
    return Event(
        id=event_id(tenant, entry.id, entry.version, kind),
        type=kind,
        tenant=tenant,
        agent=entry.agent,
        intent=intent,
        task=entry.task,
        data={
            "entry_id": entry.id,
            "namespace": entry.namespace,
            "key": entry.key,
            "memory_type": entry.tier,
            "version": entry.version,
            "previous_version": previous,
            "tags": entry.tags,
        },
        timestamp=moment,
        log=log_of(intent=intent, agent=entry.agent, namespace=namespace),
    )


def _intent_at(task: Task | None, moment: int) -> str | None:
    """The intent that a task had then: the same whenever the change is told, and told again."""
    if task is None or task.intent_from > moment:
        return None
    return task.intent
