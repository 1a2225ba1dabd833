"""The end of a conversation's retention: to cold storage first, then out of the table.

What is sealed stays sealed on its way: lines hold messages as the table does.
"""

import base64
import time
from typing import Any

import orjson

from functions.conversations import remains
from functions.conversations.items import ConversationItems, place_of, row_of
from functions.conversations.model import Conversation
from functions.conversations.remains import Remains
from functions.platform.clock import Clock
from functions.platform.cold import ColdStorage
from functions.platform.conversation_keys import (
    build_archive_key,
    build_details_key,
    build_message_key,
    build_orphaned_messages_key,
    parse_conversation_partition,
)
from functions.platform.items import Item
from functions.platform.keys import Key, get_tenant
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Refused, Table
from functions.platform.writes import delete, put, update

MESSAGES_PER_PART = 500  # messages; at their largest some 45 MB in base64
_AS_SEEN = "version = :seen AND generation = :of"


class Retention:
    """Archives and removes conversations whose time is over.

    Without cold storage they are removed alone.
    """

    def __init__(
        self,
        table: Table,
        items: ConversationItems,
        remains_: Remains,
        cold: ColdStorage | None,
        clock: Clock,
    ) -> None:
        self._table = table
        self._items = items
        self._remains = remains_
        self._cold = cold
        self._clock = clock

    def end(self, place: Key, seconds: float) -> bool:
        """Goes on ending a conversation for at most so long; whether nothing is left to do.

        What was exported is noted after each part, so that the next call goes on from there.
        """
        deadline = time.monotonic() + seconds
        header = self._table.get(place)
        if header is None or header.get("ends", self._clock() + 1) > self._clock():
            return True
        ended = self._items.conversation(get_tenant(place[0]), header, None)
        details = self._table.get(build_details_key(place[0])) or {}
        parts = header.get("parts", 0)
        while self._cold is not None and parts * MESSAGES_PER_PART < ended.count:
            if time.monotonic() >= deadline:
                return False
            self._export(self._cold, ended, parts)
            parts += 1
            self._note(place, ended, parts)
        return self._remove(place, ended, header, details, deadline - time.monotonic())

    def _export(self, cold: ColdStorage, ended: Conversation, part: int) -> None:
        partition, _ = place_of(ended)
        first, last = part * MESSAGES_PER_PART, min((part + 1) * MESSAGES_PER_PART, ended.count) - 1
        _, start = build_message_key(partition, ended.generation, first)
        _, end = build_message_key(partition, ended.generation, last)
        lines = map(_line, self._table.query_from(partition, start, end, MESSAGES_PER_PART))
        cold.put(part_name(partition, ended.generation, part), b"".join(lines))

    def _note(self, place: Key, ended: Conversation, parts: int) -> None:
        seen = {"seen": ended.revision, "of": ended.generation}
        self._table.update(update(place, "SET parts = :parts", _AS_SEEN, parts=parts, **seen))

    def _remove(
        self, place: Key, ended: Conversation, header: Item, details: Item, seconds: float
    ) -> bool:
        now = self._clock()
        seen = {"seen": ended.revision, "of": ended.generation}
        writes = [
            delete(place, _AS_SEEN, **seen),
            delete(build_details_key(place[0])),
            delete(row_of(ended)),
            remains.gone(ended, now),
        ]
        if self._cold is not None:
            kept = {name: header[name] for name in header.keys() - _OF_THE_TABLE}
            kept |= {"details": {name: details[name] for name in details.keys() - _OF_THE_TABLE}}
            writes.append(put(build_archive_key(place[0], now, ended.generation), kept))
        try:
            self._table.transact(writes)
        except (ConditionFailed, Refused):
            return True
        return self._remains.clear(
            build_orphaned_messages_key(place[0], ended.generation), max(seconds, 0.1)
        )


_OF_THE_TABLE = frozenset({"pk", "sk", DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, "parts", "req"})


def part_name(partition: str, generation: str, part: int) -> str:
    """What a part of an archived generation is called in cold storage."""
    tenant, session = parse_conversation_partition(partition)
    return f"conversations/{tenant}/{session}/{generation}/{part:06d}.jsonl"


def _line(item: Item) -> bytes:
    """A message's attributes as a line of JSON; bytes in base64."""
    fields: dict[str, Any] = {
        name: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in item.items()
        if name not in _OF_THE_TABLE
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
