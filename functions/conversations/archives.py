"""Conversations in cold storage, read back and removed (contract §9)."""

import base64
from collections.abc import Iterator
from typing import Any

import orjson

from functions.conversations import rules
from functions.conversations.items import ConversationItems, place_of
from functions.conversations.model import Conversation, Message, Page, Take
from functions.conversations.retention import MESSAGES_PER_PART, part_name
from functions.identity.model import Principal
from functions.platform.cold import ColdStorage
from functions.platform.conversation_keys import build_conversation_key
from functions.platform.errors import NotFound, Unavailable
from functions.platform.item_types import ARCHIVE
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.table import Table
from functions.platform.writes import delete


class Archives:
    """The archives of a tenant's conversations, each under its session: the newest one shows."""

    def __init__(self, table: Table, items: ConversationItems, cold: ColdStorage | None) -> None:
        self._table = table
        self._items = items
        self._cold = cold

    def read(
        self, caller: Principal, session: str, first: int, most: int | None, take: Take[Page]
    ) -> tuple[Conversation, Page]:
        """An archived conversation, and what `take` makes of its messages from `first` on.

        Raises:
            NotFound: there is no archive of this session.
            AccessDenied: the caller could not have read the conversation.
        """
        found, _ = self._newest(caller, session)
        rules.assert_may_read(caller, found)
        last = found.count if most is None else min(first + most, found.count)
        messages = self._messages(found, first, last)
        return found, take(rules.migrated(found, message) for message in messages)

    def delete(self, caller: Principal, session: str) -> None:
        """Removes the newest archive of a session: its parts, then the note of it.

        Raises:
            NotFound: there is no archive of this session.
            AccessDenied: the caller isn't among the conversation's owners.
        """
        found, place = self._newest(caller, session)
        rules.assert_may_write(caller, found)
        partition, _ = place_of(found)
        for part in range(-(-found.count // MESSAGES_PER_PART)):
            self._storage.delete(part_name(partition, found.generation, part))
        self._table.transact([delete(place)])

    def _newest(self, caller: Principal, session: str) -> tuple[Conversation, Key]:
        partition, _ = build_conversation_key(caller.tenant, session)
        for item in self._table.query(partition, ARCHIVE.sort_prefix, newest_first=True):
            found = self._items.conversation(caller.tenant, item, item["details"])
            return found, (item["pk"], item["sk"])
        raise NotFound("no conversation of this session is archived")

    def _messages(self, archived: Conversation, first: int, last: int) -> Iterator[Message]:
        """The messages from one index up to another, a part at a time."""
        partition, _ = place_of(archived)
        part = first // MESSAGES_PER_PART
        while part * MESSAGES_PER_PART < last:
            lines = self._storage.get(part_name(partition, archived.generation, part))
            for index, line in enumerate(lines.splitlines(), part * MESSAGES_PER_PART):
                if first <= index < last:
                    yield self._items.message_of(archived, _item(line) | {"sk": f"#{index}"})
            part += 1

    @property
    def _storage(self) -> ColdStorage:
        if self._cold is None:
            raise Unavailable("no cold storage is set; the operator sets ARCHIVE_BUCKET")
        return self._cold


def _item(line: bytes) -> Item:
    fields: dict[str, Any] = orjson.loads(line)
    return {
        name: base64.b64decode(value["base64"]) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
