"""Reads and writes of a conversation's messages."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from functions.conversations.mapper import ConversationMapper, header_key
from functions.conversations.model import Conversation, Message, RemovedRange
from functions.conversations.orphan_store import clear_pending, mark_pending, mark_range
from functions.conversations.rules import list_shown
from functions.conversations.store import ConversationChanged, change_writes
from functions.platform import value_parts
from functions.platform.bulk_writes import write_parallel
from functions.platform.conversation_keys import build_append_request_key, build_message_key
from functions.platform.errors import NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import MAX_TRANSACTION_BYTES
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, delete, put, put_new

_PAGE = 250  # messages a call, so that a page's end wastes little
_IN_TRANSACTION = 80  # messages at most that are part of the write that shows them
_PRESENT = "attribute_exists(pk)"
_VALUE = ("val", "data_key", "encrypted_version", "value_name", "value_parts", "value_is_text")


class StagedMessages(NamedTuple):
    """Messages that are encoded for a generation, whose large texts are stored already.

    Attributes:
        path: names their large texts; None if there are none.
        items: the attributes of those that are large, by their position.
    """

    generation: str
    texts: Sequence[bytes]
    path: str | None
    items: dict[int, Item]


class MessageStore:
    """Reads and writes the messages of all conversations."""

    def __init__(
        self, table: Table, mapper: ConversationMapper, parts: value_parts.ValueParts
    ) -> None:
        self._table = table
        self._mapper = mapper
        self._parts = parts

    # Reads

    def read(self, conversation: Conversation, first: int, limit: int | None) -> Iterator[Message]:
        """Read the messages from an index on, at most `limit`; removed ones are passed over.

        Raises:
            ConversationChanged: one was removed or changed meanwhile. Where messages had been
                removed before, that shows by `assert_unchanged` only.
        """
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
        partition, start = _message_key(conversation, first)
        _, last = _message_key(conversation, end - 1)
        return islice(
            self._table.query_from(partition, start, last, min(_PAGE, end - first)), end - first
        )

    def parse_index(self, item: Item) -> int:
        """Parse the index of a message from its item."""
        return self._mapper.parse_index(item)

    def join(self, item: Item) -> Item:
        """Give a message's item its text, if that is stored in parts: one call.

        Raises:
            ConversationChanged: the message was changed or removed meanwhile.
        """
        try:
            return self._parts.join(item)
        except value_parts.PartsMissing as missing:
            raise ConversationChanged from missing

    def assert_unchanged(self, conversation: Conversation) -> None:
        """Check that no message was removed since the header was read: one read.

        Raises:
            ConversationChanged: one was.
        """
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
            partition, first = _message_key(conversation, start)
            _, last = _message_key(conversation, end - 1)
            for item in self._table.query_from(partition, first, last, _PAGE, newest_first=True):
                yield self._mapper.parse_index(item)

    def count(self, conversation: Conversation, first: int, end: int) -> int:
        """Count the messages from one index to before another one."""
        if conversation.is_dense:
            return max(end - first, 0)
        return sum(
            1
            for start, stop in list_shown(conversation, first, end)
            for _ in self.read_items(conversation, start, stop)
        )

    def get(self, conversation: Conversation, index: int) -> Message | None:
        """Read one message; None if there is none: one read.

        Raises:
            ConversationChanged: the message was changed or removed meanwhile.
        """
        if not list_shown(conversation, index, min(index + 1, conversation.end)):
            return None
        item = self._table.get(_message_key(conversation, index))
        return None if item is None else self.decode(conversation, item)

    def decode(self, conversation: Conversation, item: Item) -> Message:
        """Decode a message: one call if its text is stored in parts.

        Raises:
            ConversationChanged: it was changed since the header was read.
        """
        if item.get("changed_at", 0) > conversation.revision:
            raise ConversationChanged
        return self._mapper.decode_message(conversation, self.join(item))

    # Writes

    def stage(self, conversation: Conversation, texts: Sequence[bytes]) -> StagedMessages:
        """Encode messages for a conversation's generation, and store the large ones' texts."""
        path = value_parts.create_value_name(conversation.generation)
        items, parts = self._encode_large(conversation, texts, path)
        if parts:
            self._parts.stage(header_key(conversation)[0], path, parts, conversation.updated)
        return StagedMessages(conversation.generation, texts, path if parts else None, items)

    def _encode_large(
        self, conversation: Conversation, texts: Sequence[bytes], path: str
    ) -> tuple[dict[int, Item], list[Write]]:
        items: dict[int, Item] = {}
        writes: list[Write] = []
        for position, text in enumerate(texts):
            if self._mapper.is_large(text):
                name = f"{path}#{position}"
                items[position], parts = self._mapper.encode_large(conversation, text, name)
                writes += parts
        return items, writes

    def append(
        self,
        before: Conversation,
        after: Conversation,
        staged: StagedMessages,
        token: RequestToken | None,
    ) -> None:
        """Append messages: one transaction, whatever the length of the conversation.

        Raises:
            ConversationChanged: another request was faster, or this one was carried out before.
        """
        writes = change_writes(before, after)
        for position in range(len(staged.texts)):
            writes.append(self._put(before, staged, position, before.end + position, token))
        if token is not None:
            marker = {
                "index": before.end,
                "messages": len(staged.texts),
                "request": token.stored,
                "revision": after.revision,
            }
            writes.append(put_new(_request_key(before, token), marker))
        if staged.path is not None:
            writes.append(value_parts.clear_staged(header_key(before)[0], staged.path))
        self._transact(writes)

    def _put(
        self,
        conversation: Conversation,
        staged: StagedMessages,
        position: int,
        index: int,
        token: RequestToken | None = None,
    ) -> Write:
        item = staged.items.get(position)
        if item is None:
            item = self._mapper.encode_message(conversation, staged.texts[position], index)
        request = None if token is None else token.stored
        return put_new(_message_key(conversation, index), item | {"request": request})

    def find_appended(
        self, conversation: Conversation, token: RequestToken
    ) -> list[Message] | None:
        """Find the messages that an earlier try of a request appended: one read, and theirs.

        Raises:
            NotFound: they were taken off since.
            IdempotencyConflict: the token's key came with another body.
        """
        marker = self._table.get(_request_key(conversation, token))
        if marker is None or not token.matches(marker["request"]):
            return None
        indexes = range(marker["index"], marker["index"] + marker["messages"])
        keys = [_message_key(conversation, index) for index in indexes]
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
        """Read the message that an earlier try of a request popped: one read.

        Raises:
            IdempotencyConflict: the token's key came with another request.
        """
        marker = self._table.get(_request_key(conversation, token))
        if marker is None or not token.matches(marker["request"]):
            return None
        return self._mapper.decode_message(conversation, self.join(marker), marker["index"])

    def read_last(self, conversation: Conversation) -> Item | None:
        """Read the item of the last message: one call."""
        return self._table.get(_message_key(conversation, self.find_last(conversation, 1)))

    def pop(
        self, before: Conversation, after: Conversation, last: Item, token: RequestToken | None
    ) -> None:
        """Remove the last message: one transaction.

        Its text in parts stays for a retry of the request, until the conversation is removed.

        Raises:
            ConversationChanged: another request was faster.
        """
        writes = [*change_writes(before, after), delete((last["pk"], last["sk"]), _PRESENT)]
        if token is not None:
            value = {name: last[name] for name in _VALUE if name in last}
            marker = value | {"index": self._mapper.parse_index(last), "request": token.stored}
            writes.append(put_new(_request_key(before, token), marker))
        elif value_parts.has_parts(last):
            name = value_parts.get_value_name(last) or ""
            writes.append(value_parts.mark_orphaned(last["pk"], name, after.updated))
        self._transact(writes)

    def change(self, before: Conversation, after: Conversation, message: Message) -> None:
        """Write a changed message in place of the one at its index: one transaction.

        Raises:
            ConversationChanged: another request was faster.
        """
        key = _message_key(before, message.index)
        present = self._table.get(key)
        if present is None:
            raise ConversationChanged
        staged = self.stage(after, [message.text])
        item = self._put(after, staged, 0, message.index).item or {}
        item |= {"changed_at": after.revision, "request": present.get("request")}
        writes = [*change_writes(before, after), put(key, item, _PRESENT)]
        if staged.path is not None:
            writes.append(value_parts.clear_staged(key[0], staged.path))
        if value_parts.has_parts(present):
            writes.append(
                value_parts.mark_orphaned(
                    key[0], value_parts.get_value_name(present) or "", after.updated
                )
            )
        self._transact(writes)

    def remove_range(self, before: Conversation, after: Conversation) -> RemovedRange:
        """Hide a range of messages, and mark them to be deleted: one transaction.

        Raises:
            ConversationChanged: another request was faster.
        """
        removed = after.removed[-1]
        self._transact([*change_writes(before, after), mark_range(after, removed, after.updated)])
        return removed

    def _transact(self, writes: Sequence[Write]) -> None:
        try:
            self._table.transact(writes)
        except ConditionFailed as refused:
            raise ConversationChanged from refused

    # Messages of a generation that nothing shows yet

    def prepare(self, new: Conversation, texts: Sequence[bytes], now: int) -> list[Write]:
        """Prepare all messages of a new generation; return what the write that shows them needs.

        Few messages are part of that write; others are stored before it.
        """
        puts = self._build_puts(new, texts, 0)
        size = sum(write.size for write in puts)
        if len(puts) <= _IN_TRANSACTION and size <= MAX_TRANSACTION_BYTES // 2:
            return puts
        self._table.put(mark_pending(new, now))
        write_parallel(self._table, puts)
        return [clear_pending(new)]

    def write_pending(self, pending: Conversation, texts: Sequence[bytes], first: int) -> None:
        """Write messages of a pending generation from an index on."""
        write_parallel(self._table, self._build_puts(pending, texts, first))

    def _build_puts(self, new: Conversation, texts: Sequence[bytes], first: int) -> list[Write]:
        path = value_parts.create_value_name(new.generation)
        items, puts = self._encode_large(new, texts, path)
        staged = StagedMessages(new.generation, texts, None, items)
        return puts + [
            self._put(new, staged, position, first + position) for position in range(len(texts))
        ]


def _message_key(conversation: Conversation, index: int) -> Key:
    return build_message_key(header_key(conversation)[0], conversation.generation, index)


def _request_key(conversation: Conversation, token: RequestToken) -> Key:
    return build_append_request_key(header_key(conversation)[0], conversation.generation, token.key)
