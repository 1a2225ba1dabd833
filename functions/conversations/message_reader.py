"""Reads of a conversation's messages."""

from collections.abc import Iterator
from itertools import islice

from functions.conversations.mapper import ConversationMapper, header_key
from functions.conversations.model import Conversation, Message
from functions.conversations.rules import list_shown
from functions.conversations.store import ConversationChanged
from functions.platform.conversation_keys import (
    build_append_request_key,
    build_message_key,
    parse_message_index,
)
from functions.platform.errors import NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.staging import PartsMissing, Staging
from functions.platform.table import Table

_PAGE = 250  # messages a call, so that a page's end wastes little


class MessageReader:
    """Reads the messages of all conversations."""

    def __init__(self, table: Table, mapper: ConversationMapper, staging: Staging) -> None:
        self._table = table
        self._mapper = mapper
        self._staging = staging

    def read(self, conversation: Conversation, first: int, limit: int | None) -> Iterator[Message]:
        """Read the messages from an index on, at most `limit`; removed ones are passed over."""
        if conversation.is_dense:
            return self._read_dense(conversation, first, limit)
        return islice(self._read_sparse(conversation, first), limit)

    def _read_dense(
        self, conversation: Conversation, first: int, limit: int | None
    ) -> Iterator[Message]:
        end = conversation.end if limit is None else min(first + limit, conversation.end)
        expected = first
        if first < end:
            for item in self.read_items(conversation, first, end):
                message = self.decode(conversation, item)
                if message.index != expected:
                    raise ConversationChanged
                yield message
                expected += 1
        if expected < end:
            raise ConversationChanged

    def _read_sparse(self, conversation: Conversation, first: int) -> Iterator[Message]:
        for start, end in list_shown(conversation, first, conversation.end):
            for item in self.read_items(conversation, start, end):
                yield self.decode(conversation, item)

    def read_items(self, conversation: Conversation, first: int, end: int) -> Iterator[Item]:
        """Read the items of the messages from one index to before another one."""
        partition, start = build_key(conversation, first)
        _, last = build_key(conversation, end - 1)
        return islice(
            self._table.query_from(partition, start, last, min(_PAGE, end - first)), end - first
        )

    def join(self, item: Item) -> Item:
        """Give a message's item its text, if that is stored in parts: one call."""
        try:
            return self._staging.join(item)
        except PartsMissing as missing:
            raise ConversationChanged from missing

    def assert_unchanged(self, conversation: Conversation) -> None:
        """Check that no message was removed since the header was read: one read."""
        header = self._table.get(header_key(conversation)) or {}
        now = (header.get("generation"), header.get("removed_at", 0))
        if now != (conversation.generation, conversation.removed_at):
            raise ConversationChanged

    def find_last(self, conversation: Conversation, count: int) -> int:
        """Find the index at which the newest `count` messages begin."""
        if conversation.is_dense:
            return max(conversation.end - count, 0)
        newest = list(islice(self._read_backwards(conversation), count))
        return newest[-1] if newest else conversation.end

    def _read_backwards(self, conversation: Conversation) -> Iterator[int]:
        for start, end in reversed(list_shown(conversation, 0, conversation.end)):
            partition, first = build_key(conversation, start)
            _, last = build_key(conversation, end - 1)
            for item in self._table.query_from(partition, first, last, _PAGE, newest_first=True):
                yield parse_message_index(item["sk"])

    def count(self, conversation: Conversation, first: int, end: int) -> int:
        """Count the messages from one index to before another one."""
        if conversation.is_dense:
            return max(end - first, 0)
        return sum(
            1
            for start, stop in list_shown(conversation, first, end)
            for _ in self.read_items(conversation, start, stop)
        )

    def find_other_author(
        self, conversation: Conversation, first: int, end: int, caller: str
    ) -> str | None:
        """Find another principal that appended one of these messages; None if there is none."""
        for start, stop in list_shown(conversation, first, end):
            for item in self.read_items(conversation, start, stop):
                if item.get("created_by") not in (None, caller):
                    return str(item["created_by"])
        return None

    def get(self, conversation: Conversation, index: int) -> Message | None:
        """Read one message; None if there is none: one read."""
        if not list_shown(conversation, index, min(index + 1, conversation.end)):
            return None
        item = self._table.get(build_key(conversation, index))
        return None if item is None else self.decode(conversation, item)

    def decode(self, conversation: Conversation, item: Item) -> Message:
        """Decode a message: one call if its text is stored in parts."""
        if item.get("changed_at", 0) > conversation.revision:
            raise ConversationChanged
        return self._mapper.decode_message(conversation, self.join(item))

    def find_appended(
        self, conversation: Conversation, token: RequestToken
    ) -> list[Message] | None:
        """Find the messages that an earlier try of a request appended: one read, and theirs."""
        marker = self._table.get(build_request_key(conversation, token))
        if marker is None or not token.matches(marker["request"]):
            return None
        indexes = range(marker["index"], marker["index"] + marker["messages"])
        keys = [build_key(conversation, index) for index in indexes]
        found = self._table.get_many(keys)
        messages = [
            self._mapper.decode_message(conversation, self.join(found[key]))
            for key in keys
            if key in found and found[key].get("request") == marker["request"]
        ]
        if len(messages) < len(keys):
            raise NotFound("the messages of this request were taken off the conversation since")
        return messages

    def get_popped(self, conversation: Conversation, token: RequestToken) -> Message | None:
        """Read the message that an earlier try of a request popped: one read."""
        marker = self._table.get(build_request_key(conversation, token))
        if marker is None or not token.matches(marker["request"]):
            return None
        index = self._mapper.decode_index(conversation, marker["popped"], token.key.hex())
        return self._mapper.decode_message(conversation, self.join(marker), index)

    def read_last(self, conversation: Conversation) -> Item | None:
        """Read the item of the last message: one call."""
        return self._table.get(build_key(conversation, self.find_last(conversation, 1)))


def build_key(conversation: Conversation, index: int) -> Key:
    """Build the key of a message of a conversation."""
    return build_message_key(header_key(conversation)[0], conversation.generation, index)


def build_request_key(conversation: Conversation, token: RequestToken) -> Key:
    """Build the key of what a request appended or took off."""
    return build_append_request_key(header_key(conversation)[0], conversation.generation, token.key)
