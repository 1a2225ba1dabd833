"""Writes of a conversation's messages."""

from collections.abc import Sequence
from typing import NamedTuple

from functions.conversations.mapper import header_key
from functions.conversations.message_reader import MessageReader, build_key, build_request_key
from functions.conversations.model import Conversation, Message, RemovedRange
from functions.conversations.orphan_store import clear_pending, mark_pending, mark_range
from functions.conversations.store import ConversationChanged, change_writes
from functions.platform import value_parts
from functions.platform.bulk_writes import write_parallel
from functions.platform.conversation_keys import parse_message_index
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.limits import MAX_TRANSACTION_BYTES
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write, delete, put, put_new

_IN_TRANSACTION = 80  # messages at most that are part of the write that shows them
_PRESENT = "attribute_exists(pk)"
_VALUE = ("value", "data_key", "value_name", "value_parts", "value_is_text")


class StagedMessages(NamedTuple):
    """Messages that are encoded for a generation, whose large texts are stored already.

    Attributes:
        shows: the writes that belong to the one that shows them, if any are large.
        items: the attributes of those that are large, by their position.
        author: who appends them; None if that is not known.
    """

    generation: str
    texts: Sequence[bytes]
    shows: Sequence[Write]
    items: dict[int, Item]
    author: str | None


class MessageStore(MessageReader):
    """Reads and writes the messages of all conversations."""

    def stage(
        self, conversation: Conversation, texts: Sequence[bytes], author: str | None
    ) -> StagedMessages:
        """Encode messages for a conversation's generation, and store the large ones' texts."""
        path = value_parts.create_value_name(conversation.generation)
        items, parts = self._encode_large(conversation, texts, path)
        partition, now = header_key(conversation)[0], conversation.updated_at
        shows = self._parts.stage(partition, path, parts, now)
        return StagedMessages(conversation.generation, texts, shows, items, author)

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
        """Append messages: one transaction, whatever the length of the conversation."""
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
            writes.append(put_new(build_request_key(before, token), marker))
        self._transact([*writes, *staged.shows])

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
            item = self._mapper.encode_value(conversation, staged.texts[position], str(index))
        request = None if token is None else token.stored
        further = {"request": request, "created_by": staged.author}
        return put_new(build_key(conversation, index), item | further)

    def pop(
        self,
        before: Conversation,
        after: Conversation,
        last: Item,
        token: RequestToken | None,
        audit: Sequence[Write],
    ) -> None:
        """Remove the last message: one transaction, with its audit record if there is one.

        Its text in parts stays for a retry of the request, until the conversation is removed.
        """
        writes = [*change_writes(before, after), delete((last["pk"], last["sk"]), _PRESENT), *audit]
        if token is not None:
            value = {name: last[name] for name in _VALUE if name in last}
            marker = value | {"index": parse_message_index(last["sk"]), "request": token.stored}
            writes.append(put_new(build_request_key(before, token), marker))
        else:
            writes += value_parts.mark_orphaned(last, after.updated_at)
        self._transact(writes)

    def change(
        self,
        before: Conversation,
        after: Conversation,
        message: Message,
        audit: Sequence[Write],
    ) -> None:
        """Write a changed message in place of the one at its index: one transaction."""
        key = build_key(before, message.index)
        present = self._table.get(key)
        if present is None:
            raise ConversationChanged
        staged = self.stage(after, [message.text], message.created_by)
        item = self._put(after, staged, 0, message.index).item or {}
        item |= {"changed_at": after.revision, "request": present.get("request")}
        writes = [*change_writes(before, after), put(key, item, _PRESENT), *staged.shows, *audit]
        self._transact([*writes, *value_parts.mark_orphaned(present, after.updated_at)])

    def remove_range(
        self, before: Conversation, after: Conversation, audit: Sequence[Write]
    ) -> RemovedRange:
        """Hide a range of messages, and mark them to be deleted: one transaction."""
        removed = after.removed[-1]
        self._transact(
            [*change_writes(before, after), mark_range(after, removed, after.updated_at), *audit]
        )
        return removed

    def _transact(self, writes: Sequence[Write]) -> None:
        try:
            self._table.transact(writes)
        except ConditionFailed as refused:
            raise ConversationChanged from refused

    # Messages of a generation that nothing shows yet

    def prepare(
        self, new: Conversation, texts: Sequence[bytes], author: str, now: int
    ) -> list[Write]:
        """Prepare all messages of a new generation; return what the write that shows them needs.

        Few messages are part of that write; others are stored before it.
        """
        puts = self._build_puts(new, texts, 0, author)
        size = sum(write.size for write in puts)
        if len(puts) <= _IN_TRANSACTION and size <= MAX_TRANSACTION_BYTES // 2:
            return puts
        self._table.put(mark_pending(new, now))
        write_parallel(self._table, puts)
        return [clear_pending(new)]

    def write_pending(
        self, pending: Conversation, texts: Sequence[bytes], first: int, author: str
    ) -> None:
        """Write messages of a pending generation from an index on."""
        write_parallel(self._table, self._build_puts(pending, texts, first, author))

    def _build_puts(
        self, new: Conversation, texts: Sequence[bytes], first: int, author: str
    ) -> list[Write]:
        path = value_parts.create_value_name(new.generation)
        items, puts = self._encode_large(new, texts, path)
        staged = StagedMessages(new.generation, texts, (), items, author)
        return puts + [
            self._put(new, staged, position, first + position) for position in range(len(texts))
        ]
