"""The end of a conversation's retention: to archive storage first, then out of the table.

What is encrypted stays so on its way: lines hold messages as the table does.
"""

import base64
import time
from collections.abc import Iterator
from typing import Any

import orjson

from functions.conversations.archive_store import ConversationArchiveStore, EndedConversation
from functions.conversations.mapper import ConversationMapper, header_key
from functions.conversations.model import BuildPage, Conversation, Message, Page
from functions.conversations.orphan_store import OrphanedMessages, orphan_key
from functions.conversations.rules import assert_may_read, assert_may_write, migrate_message
from functions.conversations.store import ConversationChanged
from functions.identity.model import Principal
from functions.platform.archive_storage import ArchiveStorage
from functions.platform.clock import Clock
from functions.platform.conversation_keys import parse_conversation_partition
from functions.platform.errors import NotFound, Unavailable
from functions.platform.items import Item
from functions.platform.keys import Key

_PART = 500  # messages; at their largest some 45 MB in base64
_LEAST_SECONDS = 0.1


class ConversationArchive:
    """Archives expired conversations, reads archives back and deletes them.

    Without archive storage, expired conversations are only removed.
    """

    def __init__(
        self,
        store: ConversationArchiveStore,
        mapper: ConversationMapper,
        orphans: OrphanedMessages,
        storage: ArchiveStorage | None,
        clock: Clock,
    ) -> None:
        self._store = store
        self._mapper = mapper
        self._orphans = orphans
        self._storage = storage
        self._clock = clock

    def end_retention(self, key: Key, seconds: float) -> bool:
        """Archive and remove an expired conversation for at most so long; whether it is done.

        Args:
            key: of the conversation's header.
        """
        deadline = time.monotonic() + seconds
        ended = self._store.get_ended(key, self._clock())
        if ended is None:
            return True
        try:
            if not self._export(ended, deadline):
                return False
            self._store.remove(ended, self._clock(), archived=self._storage is not None)
        except ConversationChanged:
            return True  # another call has ended or replaced it
        left = max(deadline - time.monotonic(), _LEAST_SECONDS)
        return self._orphans.remove(orphan_key(ended.conversation), left)

    def _export(self, ended: EndedConversation, deadline: float) -> bool:
        """Export the parts that are missing; whether all are exported by the deadline."""
        conversation = ended.conversation
        for part in range(ended.parts, _count_parts(conversation)):
            if self._storage is None:
                return True
            if time.monotonic() >= deadline:
                return False
            first, last = part * _PART, min((part + 1) * _PART, conversation.count) - 1
            lines = map(_render_line, self._store.read_items(conversation, first, last))
            self._storage.put(_part_name(conversation, part), b"".join(lines))
            self._store.set_parts(conversation, part + 1)
        return True

    def read(
        self,
        caller: Principal,
        session: str,
        first: int,
        limit: int | None,
        build_page: BuildPage[Page],
    ) -> tuple[Conversation, Page]:
        """Read an archived conversation, and a page of its messages from `first` on.

        Raises:
            NotFound: there is no archive of this session.
            AccessDenied: the caller could not have read the conversation.
        """
        found, _ = self._newest(caller, session)
        assert_may_read(caller, found)
        end = found.count if limit is None else min(first + limit, found.count)
        messages = self._read_messages(found, first, end)
        return found, build_page(migrate_message(found, message) for message in messages)

    def delete(self, caller: Principal, session: str) -> None:
        """Delete the newest archive of a session: its parts, then its record.

        Raises:
            NotFound: there is no archive of this session.
            AccessDenied: the caller is not an owner of the conversation.
        """
        found, key = self._newest(caller, session)
        assert_may_write(caller, found)
        for part in range(_count_parts(found)):
            self._required_storage.delete(_part_name(found, part))
        self._store.delete(key)

    def _newest(self, caller: Principal, session: str) -> tuple[Conversation, Key]:
        newest = self._store.get_newest(caller.tenant, session)
        if newest is None:
            raise NotFound("no conversation of this session is archived")
        return newest

    def _read_messages(self, archived: Conversation, first: int, end: int) -> Iterator[Message]:
        for part in range(first // _PART, -(-end // _PART)):
            lines = self._required_storage.get(_part_name(archived, part)).splitlines()
            for index, line in enumerate(lines, part * _PART):
                if first <= index < end:
                    yield self._mapper.decode_message(archived, _parse_line(line), index)

    @property
    def _required_storage(self) -> ArchiveStorage:
        if self._storage is None:
            raise Unavailable("no cold storage is set; the operator sets ARCHIVE_BUCKET")
        return self._storage


def _count_parts(conversation: Conversation) -> int:
    return -(-conversation.count // _PART)


def _part_name(conversation: Conversation, part: int) -> str:
    tenant, session = parse_conversation_partition(header_key(conversation)[0])
    return f"conversations/{tenant}/{session}/{conversation.generation}/{part:06d}.jsonl"


def _render_line(item: Item) -> bytes:
    """Render a message's attributes as a line of JSON; bytes in base64."""
    fields: dict[str, Any] = {
        name: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in item.items()
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def _parse_line(line: bytes) -> Item:
    fields: dict[str, Any] = orjson.loads(line)
    return {
        name: base64.b64decode(value["base64"]) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
