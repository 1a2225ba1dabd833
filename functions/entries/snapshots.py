"""Snapshots of working memory on their way into the log (RFC-0015 §2.1)."""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from functions.entries.model import ENCRYPTED, Entry
from functions.entries.writes import NOTICE_KEPT
from functions.event_log.model import Event, LogName
from functions.platform import keys
from functions.platform.items import Item
from functions.platform.jsontext import exact_text, exact_value
from functions.platform.keys import Key
from functions.platform.lifetimes import ttl_seconds
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import Write, delete, put
from functions.tasks.model import Task

_MOST_EVENT_BYTES = 2_500_000  # an answer holds 5 MB, and quotes count twice in it
_DROPPED_TOGETHER = 50


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an agent's snapshot."""

    agent: str
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part as stored; `lines` are the snapshot's lines."""

    key: Key
    agent: str
    lines: list[dict[str, Any]]
    size: int


class SnapshotStore:
    """Parts of snapshots, in their task's partition, until their events are in the log."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def part(self, tenant: str, task_id: str, part: Part) -> Write:
        """The write of a part, for the transaction that removes its entries from memory."""
        lines = [_line(entry) for entry in part.entries]
        item: Item = {"agent_id": part.agent, "lines": zlib.compress(exact_text(lines))}
        first = part.entries[0].nonce
        return put(keys.snapshot_part(tenant, task_id, part.agent, first), item)

    def parts(self, tenant: str, task_id: str) -> list[StoredPart]:
        """All parts of a task, in a fixed order."""
        partition = keys.task_item(tenant, task_id)[0]
        return [_stored(item) for item in self._table.query(partition, keys.SNAPSHOT_PREFIX)]

    def drop(self, tenant: str, task: Task, parts: list[StoredPart], now: int) -> None:
        """Deletes the parts; each agent's last ones leave an announcement for the event bus."""
        for event in archived_events(tenant, task, parts):
            self._table.transact([_announcement(tenant, task, event, now)])
        for start in range(0, len(parts), _DROPPED_TOGETHER):
            chunk = parts[start : start + _DROPPED_TOGETHER]
            self._table.transact([delete(part.key) for part in chunk])


def _line(entry: Entry) -> dict[str, Any]:
    """An entry in a snapshot; a sensitive one is archived without its value (§9.2)."""
    line: dict[str, Any] = {"namespace": entry.namespace, "key": entry.key}
    if entry.sensitivity not in ENCRYPTED:
        line["value"] = exact_value(entry.value)
    if entry.sensitivity is not None:
        line["sensitivity"] = entry.sensitivity
    return line | {"tags": entry.tags, "entry_id": entry.id, "version": entry.version}


def line_size(entry: Entry) -> int:
    """The bytes that an entry takes in a part."""
    return len(exact_text(_line(entry)))


def _stored(item: Item) -> StoredPart:
    text = zlib.decompress(item["lines"])
    return StoredPart((item["pk"], item["sk"]), item["agent_id"], exact_value(text), len(text))


def archived_events(tenant: str, task: Task, parts: Iterable[StoredPart]) -> Iterator[Event]:
    """One event an agent, or several where a snapshot is larger than an answer can be."""
    of_agents: defaultdict[str, list[StoredPart]] = defaultdict(list)
    for part in parts:
        of_agents[part.agent].append(part)
    for agent, own in of_agents.items():
        pieces = list(_pieces(own))
        for number, lines in enumerate(pieces):
            data: dict[str, Any] = {"entries_archived": len(lines), "snapshot": lines}
            if len(pieces) > 1:
                data |= {"part": number + 1, "parts": len(pieces)}
            yield _event(tenant, task, agent, number, data)


def _pieces(parts: list[StoredPart]) -> Iterator[list[dict[str, Any]]]:
    piece: list[dict[str, Any]] = []
    room = _MOST_EVENT_BYTES
    for part in parts:
        if piece and part.size > room:
            yield piece
            piece, room = [], _MOST_EVENT_BYTES
        piece = piece + part.lines
        room -= part.size
    yield piece


def _event(tenant: str, task: Task, agent: str, number: int, data: dict[str, Any]) -> Event:
    cause = "\n".join(("archived", tenant, str(number), task.id, str(task.ended), agent))
    log = LogName("agent", agent) if task.intent is None else LogName("intent", task.intent)
    return Event(
        id=keys.id_of("evt", blake2b(cause.encode(), digest_size=16).digest()),
        type="memory.archived",
        tenant=tenant,
        agent=agent,
        intent=task.intent,
        task=task.id,
        data=data,
        timestamp=task.ended or 0,
        log=log,
    )


def _announcement(tenant: str, task: Task, event: Event, now: int) -> Write:
    """What tells the change stream of an archived event, without its snapshot."""
    item: Item = {
        "event": event.id,
        "agent_id": event.agent,
        "intent": event.intent,
        "task": task.id,
        "entries": event.data["entries_archived"],
        "happened": event.timestamp,
        TTL_ATTRIBUTE: ttl_seconds(now + NOTICE_KEPT),
    }
    return put(keys.announcement_item(tenant, task.id, event.id), item)
