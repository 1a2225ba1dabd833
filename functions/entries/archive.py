"""Archive and remove the memory of ended tasks (RFC-0015 §2.1).

The transaction that ends a task has the task's counters as a condition at its first attempt, so the
ended task has exact counts of what has to be archived. If entries are written at the same time, the
task is read again. Then three steps follow. A retry or the schedule may repeat each:

1. Entries move: one transaction removes them and puts them, with their values of that instant, into
   a part of their agent's snapshot. A racing change is in the part, or is rejected.
2. When nothing is left, the parts become `memory.archived` events. An event's id follows from task,
   agent and number, so it is logged once.
3. The transaction that logs the last event announces the events to the change stream, deletes the
   parts, removes the task from the lists of its agents and marks it as archived.
"""

import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from functions.entries.agent_store import build_counter_write
from functions.entries.counters import CounterDelta
from functions.entries.model import Entry, RemovalReason
from functions.entries.store import UNCHANGED, EntryStore
from functions.entries.tiers import POLICIES
from functions.entries.transaction_store import (
    build_index_rows,
    build_tombstone,
)
from functions.events.model import Event, LogName, build_event_id, choose_log
from functions.events.reader import EventLogReader
from functions.events.store import EventLogStore
from functions.identity.model import SERVICE
from functions.platform import item_types, keys, request_context
from functions.platform.clock import Clock, to_ttl_seconds
from functions.platform.items import Item
from functions.platform.json_text import decompress, dumps, loads
from functions.platform.keys import Key, get_tenant
from functions.platform.limits import (
    MAX_ITEM_BYTES,
    MAX_TRANSACTION_BYTES,
    MAX_TRANSACTION_WRITES,
    TOMBSTONE_LIFETIME,
)
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, delete, put, split_by_size
from functions.tasks.model import Task, TaskUsage
from functions.tasks.store import TaskStore, adjust_usage, completion_writes

_MAX_EVENT_BYTES = 2_500_000  # a response holds 5 MB, and quotes count twice in it
_MAX_WRITES, _MAX_BYTES = MAX_TRANSACTION_WRITES - 1, MAX_TRANSACTION_BYTES - MAX_ITEM_BYTES


class Part(NamedTuple):
    """A part of an agent's snapshot.

    Attributes:
        size: the bytes of its lines as JSON.
        changed: the time (epoch ms) of the last write of each line's entry.
        is_new: whether this write created the entry.
    """

    key: Key
    agent: str
    lines: list[dict[str, Any]]
    size: int
    compressed: bytes
    changed: list[int]
    is_new: list[bool]

    @classmethod
    def of(cls, tenant: str, task_id: str, entries: list[Entry]) -> "Part":
        """Build a part from entries of one agent."""
        key = item_types.SNAPSHOT_PART.build_key(
            tenant, task=task_id, agent=entries[0].agent_id, nonce=entries[0].nonce
        )
        lines, changed = list(map(_to_line, entries)), [entry.updated_at for entry in entries]
        is_new = [entry.version == 1 for entry in entries]
        text = dumps([lines, changed, is_new])
        return cls(key, entries[0].agent_id, lines, len(text), zlib.compress(text), changed, is_new)

    @classmethod
    def from_item(cls, item: Item) -> "Part":
        key, text = (item["pk"], item["sk"]), decompress(item["lines"])
        lines, changed, is_new = loads(text)
        return cls(key, item["agent_id"], lines, len(text), item["lines"], changed, is_new)

    def list_last_events(self, since: int) -> dict[str, int]:
        """List the last events of the entries that changed since a moment (epoch ms).

        Returns:
            Their times (epoch ms) by their ids.
        """
        tenant = get_tenant(self.key[0])
        return {
            build_event_id(
                tenant,
                line["entry_id"],
                line["version"],
                "memory.created" if is_new else "memory.updated",
            ): moment
            for line, moment, is_new in zip(self.lines, self.changed, self.is_new, strict=True)
            if moment >= since
        }


def _to_line(entry: Entry) -> dict[str, Any]:
    """Render an entry of a snapshot; a sensitive one is archived without its value (§9.2)."""
    line: dict[str, Any] = {"namespace": entry.namespace, "key": entry.key}
    if entry.sensitivity not in ENCRYPTED and not entry.unreadable:
        line["value"] = loads(entry.value)
    if entry.sensitivity is not None:
        line["sensitivity"] = entry.sensitivity
    return line | {"tags": entry.tags, "entry_id": entry.id, "version": entry.version}


def build_archived_events(tenant: str, task: Task, parts: Iterable[Part]) -> Iterator[Event]:
    """Build one event for each agent, or several if a snapshot exceeds the size of a response.

    The same parts give the same events in any order, so a retry repeats the events.
    """
    of_agents: defaultdict[str, list[Part]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: part.key):
        of_agents[part.agent].append(part)
    for agent, own in of_agents.items():
        groups = list(split_by_size(own, attrgetter("size"), _MAX_EVENT_BYTES))
        pieces = [[line for part in group for line in part.lines] for group in groups]
        for number, lines in enumerate(pieces):
            data: dict[str, Any] = {"entries_archived": len(lines), "snapshot": lines}
            if len(pieces) > 1:
                data |= {"part": number + 1, "parts": len(pieces)}
            yield Event(
                id=build_event_id(
                    tenant, "archived", task.id, task.completed_at or 0, agent, number
                ),
                type="memory.archived",
                tenant=tenant,
                agent_id=agent,
                actor=task.ender,
                intent_id=task.intent_id,
                task_id=task.id,
                data=data,
                timestamp=task.completed_at or 0,
                log=choose_log(intent=task.intent_id, agent=agent, namespace=None),
            )


def _announce(tenant: str, task: Task, event: Event, now: int) -> Write:
    """Build the announcement of an archived event to the change stream, without its snapshot."""
    item: Item = {
        "id": event.id,
        "agent_id": event.agent_id,
        "actor": event.actor.id,
        "actor_kind": event.actor.kind,
        "traceparent": request_context.traceparent.get(),
        "intent_id": event.intent_id,
        "task_id": task.id,
        "entries": event.data["entries_archived"],
        "timestamp": event.timestamp,
        TTL_ATTRIBUTE: to_ttl_seconds(now + TOMBSTONE_LIFETIME),
    }
    return put(item_types.ANNOUNCEMENT.build_key(tenant, task=task.id, event=event.id), item)


_MAX_ENTRIES_PER_MOVE = 40  # two writes each, of the 100 that a transaction holds
_MAX_PART_BYTES = 250_000  # of lines; an item holds 400 KB
_LINE_BYTES = 300  # of an entry in a part, without its value and names
_REQUEST_SECONDS = 20.0  # the schedule finishes longer work
_STREAM_RETENTION = 86_400_000  # ms; after that, no change can arrive
_FIRST_WAIT, _LONGEST_WAIT = 0.02, 0.5  # seconds; an index follows within milliseconds


@dataclass(eq=False)
class TaskArchive:
    """Archives the memory of ended tasks."""

    _store: EntryStore
    _table: Table
    _logs: EventLogStore
    _tasks: TaskStore
    _log_reader: EventLogReader
    _log_wait_seconds: float
    _clock: Clock

    def list_keys(self, tenant: str, task: Task) -> list[Key]:
        """Return the keys of the entries that end with a task, by an index that may lag behind."""
        return [] if task.is_empty else self._store.list_keys_of_task(tenant, task.id)

    def archive(self, tenant: str, ended: Task, item_keys: Sequence[Key]) -> None:
        """Archive the memory of a task that the caller has just ended, within 20 seconds.

        Args:
            ended: the ended task; its counters are exact, or known to be old.
            item_keys: the keys from `list_keys`; entries that the index missed are read again.
        """
        deadline = time.monotonic() + _REQUEST_SECONDS
        entries = self._store.get_of_task(ended.id, item_keys)
        # If the counters at the end say that three entries end with the task, and three were moved,
        # nothing is left to look for. Otherwise the index is read until the counters are zero.
        moved, parts = self._move(tenant, ended, entries, deadline)
        held = ended.working_entries + ended.attached
        if ended.counter_changes is not None and moved == held:
            self._complete(tenant, ended, parts)
        else:
            partition = item_types.TASK.build_key(tenant, task=ended.id)[0]
            self.resume_at(partition, deadline - time.monotonic())

    def resume_at(self, partition: str, seconds: float = _REQUEST_SECONDS) -> bool:
        """Finish the archiving of the task whose item is in a partition.

        Returns whether the task's memory is archived; False if that takes longer than `seconds`.
        """
        deadline = time.monotonic() + seconds
        tenant, wait = keys.get_tenant(partition), _FIRST_WAIT
        while True:
            task = self._tasks.get_at(partition)
            if task is None or not task.awaits_archive:
                return True
            if task.is_empty:
                items = self._table.query(partition, item_types.SNAPSHOT_PART.sort_prefix)
                return self._complete(tenant, task, list(map(Part.from_item, items)))
            if time.monotonic() > deadline:
                return False
            moved, _ = self._move(tenant, task, self._store.list_of_task(tenant, task.id), deadline)
            if not moved:
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)

    def _move(
        self, tenant: str, task: Task, entries: Iterable[Entry], deadline: float
    ) -> tuple[int, list[Part]]:
        """Move entries into parts, or delete them; return their number, and the parts.

        A group stays if one of its entries was changed or removed since it was read.
        """
        moved, parts = 0, list[Part]()
        for reason, group in split_into_moves(task, entries):
            if time.monotonic() > deadline:
                break
            part = Part.of(tenant, task.id, group) if reason == "archived" else None
            writes = _build_removals(tenant, task, group, reason, self._clock())
            if part is not None:
                writes.append(put(part.key, {"agent_id": part.agent, "lines": part.compressed}))
            with suppress(ConditionFailed):
                self._table.transact(writes)
                moved += len(group)
                parts += [] if part is None else [part]
        return moved, parts

    def _complete(self, tenant: str, task: Task, parts: list[Part]) -> bool:
        """Log the events of all parts, announce them, delete the parts, close the task.

        The last event is logged in one transaction with the rest. If more transactions are needed,
        they keep this order, so that a retry can continue after a crash.

        Returns False if the logs don't have earlier events yet: the schedule tries again.
        """
        if self._log_wait_seconds > 0 and not self._await_log(tenant, task, parts):
            return False
        events, now = list(build_archived_events(tenant, task, parts)), self._clock()
        sized = [(_announce(tenant, task, event, now), 0) for event in events]
        sized += [(delete(part.key), len(part.compressed)) for part in parts]
        sized += [(write, 0) for write in completion_writes(tenant, task, now)]
        # The item of the log needs a place in the first transaction, in number and in bytes.
        groups = split_by_size(sized, itemgetter(1), _MAX_BYTES, _MAX_WRITES)
        first, *others = ([write for write, _ in group] for group in groups)
        logs: defaultdict[LogName, list[Event]] = defaultdict(list)
        for event in events:
            logs[event.log].append(event)
        with suppress(ConditionFailed):  # another request completed it, and the task is open again
            if not logs:
                self._table.transact(first)
            for number, (log, group) in enumerate(logs.items(), 1):
                together = [(self._table, first)] if number == len(logs) else []
                self._logs.append(tenant, log, group, *together)
            for writes in others:
                self._table.transact(writes)
        return True

    def _await_log(self, tenant: str, task: Task, parts: Iterable[Part]) -> bool:
        """Wait until the log has the last change of each entry that is archived.

        The change stream delivers an entry's changes in order, usually within a second. It keeps a
        change for a day: after that, the change never arrives. Events from before the task joined
        or left its intent are in another log.

        Returns:
            True if the log has them, or never will.
        """
        is_moved = task.intent_id or task.adopted_at
        in_intent = task.in_intent_since if is_moved else 0
        since = max(self._clock() - _STREAM_RETENTION, in_intent)
        awaited: defaultdict[LogName, dict[str, int]] = defaultdict(dict)
        for part in parts:
            log = choose_log(intent=task.intent_id, agent=part.agent, namespace=None)
            awaited[log].update(part.list_last_events(since))
        deadline, wait = time.monotonic() + self._log_wait_seconds, _FIRST_WAIT
        for log, missing in awaited.items():
            while missing := self._log_reader.select_missing(tenant, log, missing):
                if time.monotonic() > deadline:
                    return False
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        return True


def split_into_moves(
    task: Task, entries: Iterable[Entry]
) -> Iterator[tuple[RemovalReason, list[Entry]]]:
    """Group entries by agent and tier so that a group fits one transaction and one part."""
    groups: defaultdict[tuple[str, str, RemovalReason], list[Entry]] = defaultdict(list)
    is_archived = task.memory_policy.archive_on_completion or task.archive_required
    reason: RemovalReason
    for entry in entries:
        reason = "archived" if is_archived else "deleted"
        if not entry.policy.is_task_bound or entry.is_expired(task.completed_at or 0):
            reason = "expired"  # before the end: it isn't archived
        groups[entry.agent_id, entry.memory_type, reason].append(entry)
    for (_, tier, reason), group in groups.items():
        # semantic entries have index rows to delete
        limit = _MAX_ENTRIES_PER_MOVE if POLICIES[tier].is_private else 1
        for move in split_by_size(group, _estimate_line, _MAX_PART_BYTES, limit):
            yield reason, move


def _estimate_line(entry: Entry) -> int:
    names = (entry.namespace, entry.key, *entry.tags)
    # a character of a name takes up to 6 bytes of JSON: "\u0001"
    return len(entry.value) + 6 * sum(map(len, names)) + _LINE_BYTES


def _build_removals(
    tenant: str, task: Task, group: Sequence[Entry], reason: RemovalReason, now: int
) -> list[Write]:
    """Build the writes that remove entries of one agent and tier, and change their counters."""
    actor = SERVICE if reason == "expired" else task.ender
    writes, agent, delta = list[Write](), group[0].agent_id, CounterDelta()
    for entry in group:
        seen = {"nonce": entry.nonce, "version": entry.version}
        writes.append(delete(entry.item_key, UNCHANGED, **seen))
        writes.append(build_tombstone(entry, reason, actor, now))
        writes += map(delete, build_index_rows(entry))
        delta.add(entry, -1)
    if delta != CounterDelta():
        writes.append(build_counter_write(tenant, agent, delta, now))
    if not group[0].policy.is_task_bound:
        return [*writes, adjust_usage(tenant, task.id, {}, -len(group))]
    usage = TaskUsage(-len(group), -sum(each.value_bytes for each in group))
    return [*writes, adjust_usage(tenant, task.id, {agent: usage})]
