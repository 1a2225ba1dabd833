"""Snapshots of working memory on their way into the log (RFC-0015 §2.1)."""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from functions.entries.model import Entry
from functions.entries.transition_store import TOMBSTONE_LIFETIME
from functions.event_log.model import Event, LogName, build_event_id, choose_log
from functions.event_log.store import EventLogStore
from functions.platform import item_types, request_context
from functions.platform.item_types import SNAPSHOT_PART
from functions.platform.items import Item
from functions.platform.json_text import decompress, dumps, loads
from functions.platform.keys import Key, get_tenant
from functions.platform.limits import MAX_ITEM_BYTES, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_WRITES
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.table import Store, Table
from functions.platform.ttl import to_ttl_seconds
from functions.platform.writes import Write, delete, put
from functions.tasks.lifecycle_store import completion_writes
from functions.tasks.model import Task

_MAX_EVENT_BYTES = 2_500_000  # an answer holds 5 MB, and quotes count twice in it
_MAX_WRITES, _MAX_BYTES = MAX_TRANSACTION_WRITES - 1, MAX_TRANSACTION_BYTES - MAX_ITEM_BYTES


class Part(NamedTuple):
    """A part of an agent's snapshot.

    Attributes:
        size: the bytes of its lines as JSON.
        changed: when (epoch ms) the entry of each line was written last.
        is_new: whether that made the entry of each line.
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
            When (epoch ms) they happened, by their ids.
        """
        tenant = get_tenant(self.key[0])
        return {
            _build_last_event_id(tenant, line, is_new=is_new): moment
            for line, moment, is_new in zip(self.lines, self.changed, self.is_new, strict=True)
            if moment >= since
        }

    @property
    def write(self) -> Write:
        """Put the part, in the transaction that removes its entries from memory."""
        return put(self.key, {"agent_id": self.agent, "lines": self.compressed})


class SnapshotStore(Store):
    """Parts of snapshots, in their task's partition, until their events are in the log."""

    def __init__(self, table: Table, logs: EventLogStore) -> None:
        super().__init__(table)
        self._logs = logs

    def list_parts(self, partition: str) -> list[Part]:
        """Read all parts of the task in a partition, in a fixed order."""
        return list(map(Part.from_item, self._table.query(partition, SNAPSHOT_PART.sort_prefix)))

    def complete(self, tenant: str, task: Task, parts: list[Part], now: int) -> None:
        """Log the events of all parts, announce them, delete the parts, close the task.

        The last event is logged in the transaction of the rest. In this order, if that is more than
        one transaction: what a crash leaves is done again.
        """
        events = list(build_archived_events(tenant, task, parts))
        first, *others = _split_into_transactions(tenant, task, events, parts, now)
        logs: defaultdict[LogName, list[Event]] = defaultdict(list)
        for event in events:
            logs[event.log].append(event)
        if not logs:
            self._table.transact(first)
        for number, (log, group) in enumerate(logs.items(), 1):
            together = [(self._table, first)] if number == len(logs) else []
            self._logs.append(tenant, log, group, *together)
        for writes in others:
            self._table.transact(writes)


def _split_into_transactions(
    tenant: str, task: Task, events: list[Event], parts: list[Part], now: int
) -> list[list[Write]]:
    """Build what completes an archival, so that an item of a log fits into each transaction."""
    sized = [(_announcement(tenant, task, event, now), 0) for event in events]
    sized += [(delete(part.key), len(part.compressed)) for part in parts]
    sized += [(write, 0) for write in completion_writes(tenant, task, now)]
    chunks: list[list[Write]] = [[]]
    free_bytes = _MAX_BYTES
    for write, size in sized:
        if len(chunks[-1]) == _MAX_WRITES or size > free_bytes:
            chunks.append([])
            free_bytes = _MAX_BYTES
        chunks[-1].append(write)
        free_bytes -= size
    return chunks


def _build_last_event_id(tenant: str, line: dict[str, Any], *, is_new: bool) -> str:
    change = "memory.created" if is_new else "memory.updated"
    return build_event_id(tenant, line["entry_id"], line["version"], change)


def _to_line(entry: Entry) -> dict[str, Any]:
    """Render an entry of a snapshot; a sensitive one is archived without its value (§9.2)."""
    line: dict[str, Any] = {"namespace": entry.namespace, "key": entry.key}
    if entry.sensitivity not in ENCRYPTED and not entry.unreadable:
        line["value"] = loads(entry.value)
    if entry.sensitivity is not None:
        line["sensitivity"] = entry.sensitivity
    return line | {"tags": entry.tags, "entry_id": entry.id, "version": entry.version}


def build_archived_events(tenant: str, task: Task, parts: Iterable[Part]) -> Iterator[Event]:
    """Build one event an agent, or several where a snapshot is larger than a response can be.

    The same parts give the same events, in whatever order they come: a retry repeats them.
    """
    of_agents: defaultdict[str, list[Part]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: part.key):
        of_agents[part.agent].append(part)
    for agent, own in of_agents.items():
        pieces = list(_split_into_events(own))
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


def _split_into_events(parts: list[Part]) -> Iterator[list[dict[str, Any]]]:
    lines: list[dict[str, Any]] = []
    free_bytes = _MAX_EVENT_BYTES
    for part in parts:
        if lines and part.size > free_bytes:
            yield lines
            lines, free_bytes = [], _MAX_EVENT_BYTES
        lines = lines + part.lines
        free_bytes -= part.size
    yield lines


def _announcement(tenant: str, task: Task, event: Event, now: int) -> Write:
    """Tell the change stream of an archived event, without its snapshot."""
    item: Item = {
        "event": event.id,
        "agent_id": event.agent_id,
        "actor": event.actor.id,
        "actor_kind": event.actor.kind,
        "traceparent": request_context.traceparent.get(),
        "intent_id": event.intent_id,
        "task_id": task.id,
        "entries": event.data["entries_archived"],
        "happened": event.timestamp,
        TTL_ATTRIBUTE: to_ttl_seconds(now + TOMBSTONE_LIFETIME),
    }
    return put(item_types.ANNOUNCEMENT.build_key(tenant, task=task.id, event=event.id), item)
