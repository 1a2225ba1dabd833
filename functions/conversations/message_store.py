"""Reads and writes of a conversation's messages."""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from functions.conversations.mapper import (
    ConversationMapper,
    header_key,
    marker_key,
    parse_message_index,
)
from functions.conversations.model import Conversation, Message
from functions.conversations.rules import list_shown, read_uses
from functions.conversations.store import ConversationChanged, change_writes, transact
from functions.platform import item_types, staging
from functions.platform.bounded_pages import WantedPage
from functions.platform.bulk_writes import write_parallel
from functions.platform.errors import NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Digest, Key
from functions.platform.limits import MAX_TRANSACTION_BYTES
from functions.platform.newest_first import build_list_attributes, list_item_groups
from functions.platform.retry import retry_on
from functions.platform.sensitivity import ENCRYPTED
from functions.platform.staging import PartsMissing, Staging
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, delete, put, put_new, update

_PAGE = 250  # messages a call, so that a page's end wastes little
_IN_TRANSACTION = 80  # messages at most that are part of the write that shows them
_PRESENT = "attribute_exists(pk)"
_CLEANUP_SECONDS = 4.0  # that a request spends on deleting; the schedule does the rest
_DELETED_TOGETHER = 200
_VALUE = ("value", "data_key", "value_name", "value_parts", "value_is_text")


def build_key(conversation: Conversation, index: int) -> Key:
    """Build the key of a message of a conversation."""
    return item_types.MESSAGE.build_key_in(
        header_key(conversation)[0], generation=conversation.generation, index=index
    )


def _build_use_key(conversation: Conversation, index: int, reference: Digest) -> Key:
    return item_types.USE.build_key_in(
        header_key(conversation)[0],
        generation=conversation.generation,
        index=index,
        item=reference,
    )


def _put_uses(conversation: Conversation, index: int, text: bytes) -> list[Write]:
    """Build the rows that list a message under the items that it names, unless it is encrypted."""
    if conversation.sensitivity in ENCRYPTED:
        return []
    references, time = read_uses(text)
    writes = []
    for each in references:
        key = _build_use_key(conversation, index, each)
        listed_in = item_types.USE.build_group(conversation.tenant, item=each)
        at = conversation.created_at if time is None else time
        listed = build_list_attributes(listed_in, at, "".join(key))
        writes.append(put(key, {"session_id": conversation.session_id, **listed}))
    return writes


def build_request_key(conversation: Conversation, token: RequestToken) -> Key:
    """Build the key of the messages that a request appended or popped."""
    return item_types.APPEND_REQUEST.build_key_in(
        header_key(conversation)[0], generation=conversation.generation, request=token.key.hex()
    )


class MessageStore:
    """Reads and writes the messages of all conversations."""

    def __init__(self, table: Table, mapper: ConversationMapper, staging: Staging) -> None:
        self._table = table
        self._mapper = mapper
        self._staging = staging

    def read(self, conversation: Conversation, first: int, limit: int | None) -> Iterator[Message]:
        """Read at most `limit` messages from an index on, without removed ones."""
        end = conversation.end
        if conversation.is_dense and limit is not None:
            end = min(first + limit, end)
        return islice(self._read(conversation, first, end), limit)

    def _read(self, conversation: Conversation, first: int, end: int) -> Iterator[Message]:
        expected = first
        for item in self.read_items(conversation, first, end):
            message = self.decode(conversation, item)
            if conversation.is_dense and message.index != expected:
                raise ConversationChanged
            yield message
            expected += 1
        if conversation.is_dense and expected < end:
            raise ConversationChanged

    def read_items(
        self, conversation: Conversation, first: int, end: int, *, newest_first: bool = False
    ) -> Iterator[Item]:
        """Read the items of the messages in a range of indexes, without removed ones."""
        shown = list_shown(conversation, first, end)
        for start, stop in reversed(shown) if newest_first else shown:
            (partition, low), (_, high) = (
                build_key(conversation, each) for each in (start, stop - 1)
            )
            items = self._table.query(
                partition, low, high, min(_PAGE, stop - start), newest_first=newest_first
            )
            yield from islice(items, stop - start)

    def join(self, item: Item) -> Item:
        """Add the text to a message's item, if it is stored in parts: one call."""
        try:
            return self._staging.join(item)
        except PartsMissing as missing:
            raise ConversationChanged from missing

    def assert_unchanged(self, conversation: Conversation) -> None:
        """Check that no message was changed or removed since the header was read: one read."""
        header = self._table.get(header_key(conversation)) or {}
        now = (header.get("generation"), header.get("rewritten_at", 0))
        if now != (conversation.generation, conversation.rewritten_at):
            raise ConversationChanged

    def find_last(self, conversation: Conversation, count: int) -> int:
        """Find the index at which the newest `count` messages begin."""
        if conversation.is_dense:
            return max(conversation.end - count, 0)
        items = self.read_items(conversation, 0, conversation.end, newest_first=True)
        newest = [parse_message_index(item["sk"]) for item in islice(items, count)]
        return newest[-1] if newest else conversation.end

    def count(self, conversation: Conversation, first: int, end: int) -> int:
        """Count the messages in a range of indexes."""
        if conversation.is_dense:
            return max(end - first, 0)
        return sum(1 for _ in self.read_items(conversation, first, end))

    def find_other_author(
        self, conversation: Conversation, first: int, end: int, caller: str
    ) -> str | None:
        """Find another principal that appended one of these messages; None if there is none."""
        items = self.read_items(conversation, first, end)
        others = (item.get("created_by") for item in items)
        return next((each for each in others if each not in (None, caller)), None)

    def get(self, conversation: Conversation, index: int) -> Message | None:
        """Read one message; None if there is none: one read."""
        if not list_shown(conversation, index, min(index + 1, conversation.end)):
            return None
        return self._table.find(build_key(conversation, index), partial(self.decode, conversation))

    def decode(self, conversation: Conversation, item: Item) -> Message:
        """Decode a message: one call if its text is stored in parts."""
        if item.get("changed_at", 0) > conversation.revision:
            raise ConversationChanged
        return self._mapper.decode_message(conversation, self.join(item))

    def list_uses(self, tenant: str, reference: Digest, wanted: WantedPage) -> Iterator[list[Item]]:
        """List the messages that use an item of memory, newest first: two calls a group.

        It makes the same calls if no message uses the item.
        """
        none = [item_types.CONVERSATION.build_key(tenant, session="")]
        return list_item_groups(self._table, item_types.USE, wanted, tenant, none, item=reference)

    def get_many(self, wanted: Iterable[tuple[Conversation, int]]) -> dict[Key, Message]:
        """Read those messages that exist, by their keys: a call per 100."""
        heads = {build_key(head, index): head for head, index in wanted}
        return {
            key: self.decode(heads[key], item) for key, item in self._table.get_many(heads).items()
        }

    def find_appended(
        self, conversation: Conversation, token: RequestToken | None
    ) -> list[Message] | None:
        """Find the messages that an earlier try of a request appended: one read, and theirs."""
        marker = self._find_marker(conversation, token)
        if marker is None:
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
            raise NotFound("the messages of this request have been removed from the conversation")
        return messages

    def get_popped(self, conversation: Conversation, token: RequestToken | None) -> Message | None:
        """Read the message that an earlier try of a request popped: one read."""
        marker = self._find_marker(conversation, token)
        if token is None or marker is None:
            return None
        index = self._mapper.decode_value(conversation, marker["popped"], token.key.hex())
        return self._mapper.decode_message(conversation, self.join(marker), int(index))

    def _find_marker(self, conversation: Conversation, token: RequestToken | None) -> Item | None:
        if token is None:
            return None
        marker = self._table.get(build_request_key(conversation, token))
        return marker if marker is not None and token.matches(marker["request"]) else None

    def read_last(self, conversation: Conversation) -> Item | None:
        """Read the item of the last message: one call."""
        return self._table.get(build_key(conversation, self.find_last(conversation, 1)))

    # Writes

    def append(
        self,
        before: Conversation,
        after: Conversation,
        texts: Sequence[bytes],
        author: str,
        token: RequestToken | None,
    ) -> None:
        """Append messages: one transaction for any length of the conversation."""
        puts, shows = self._stage(after, texts, before.end, author, token)
        writes = [*change_writes(before, after), *puts, *shows]
        if token is not None:
            marker = {"index": before.end, "messages": len(texts), "request": token.stored}
            writes.append(put_new(build_request_key(before, token), marker))
        transact(self._table, writes)

    def _stage(
        self,
        after: Conversation,
        texts: Sequence[bytes],
        first: int,
        author: str | None,
        token: RequestToken | None = None,
    ) -> tuple[list[Write], list[Write]]:
        """Store the parts of large texts; return the puts of messages, and what shows the parts."""
        path, puts, parts = self._encode(after, texts, first, author, token)
        partition, now = header_key(after)[0], after.updated_at
        return puts, self._staging.stage_parts(partition, path, parts, now)

    def _encode(
        self,
        conversation: Conversation,
        texts: Sequence[bytes],
        first: int,
        author: str | None,
        token: RequestToken | None = None,
    ) -> tuple[str, list[Write], list[Write]]:
        """Encode messages from an index on.

        Returns the path of the parts of large texts, the puts of messages and their uses, and the
        puts of parts.
        """
        path = staging.create_value_name(conversation.generation)
        further = {"request": None if token is None else token.stored, "created_by": author}
        puts: list[Write] = []
        parts: list[Write] = []
        for index, text in enumerate(texts, first):
            key = build_key(conversation, index)
            value = self._mapper.encode_value(conversation, text, str(index))
            item, split_off = staging.split_value(key[0], f"{path}#{index}", value)
            puts += [put_new(key, item | further), *_put_uses(conversation, index, text)]
            parts += split_off
        return path, puts, parts

    def pop(
        self,
        before: Conversation,
        after: Conversation,
        last: Item,
        text: bytes,
        token: RequestToken | None,
        audit: Sequence[Write],
    ) -> None:
        """Remove the last message: one transaction, with its audit record if there is one.

        Parts of a large text stay until the conversation is removed, for a retry.
        """
        index = parse_message_index(last["sk"])
        writes = [*change_writes(before, after), delete((last["pk"], last["sk"]), _PRESENT), *audit]
        writes += [delete(_build_use_key(before, index, each)) for each in read_uses(text)[0]]
        if token is not None:
            value = {name: last[name] for name in _VALUE if name in last}
            popped = self._mapper.encode_value(before, str(index).encode(), token.key.hex())
            marker = value | {"popped": popped, "request": token.stored}
            writes.append(put_new(build_request_key(before, token), marker))
        else:
            writes += staging.hide_parts(last, after.updated_at)
        transact(self._table, writes)

    def change(
        self, before: Conversation, after: Conversation, message: Message, audit: Sequence[Write]
    ) -> None:
        """Write a changed message in place of the one at its index: one transaction."""
        key = build_key(before, message.index)
        present = self._table.get(key)
        if present is None:
            raise ConversationChanged
        puts, shows = self._stage(after, [message.text], message.index, message.created_by)
        kept = {"changed_at": after.revision, "request": present.get("request")}
        changed = put(key, (puts[0].item or {}) | kept, _PRESENT)
        writes = [*change_writes(before, after), changed, *shows, *audit]
        transact(self._table, [*writes, *staging.hide_parts(present, after.updated_at)])

    def remove_range(
        self, before: Conversation, after: Conversation, audit: Sequence[Write]
    ) -> None:
        """Hide a range of messages by one transaction, and delete them."""
        first, end, revision = after.removed[-1]
        key = item_types.REMOVED_RANGE.build_key_in(
            header_key(after)[0], generation=after.generation, revision=revision
        )
        hidden = staging.hide(key, after.updated_at, first=first, end=end)
        transact(self._table, [*change_writes(before, after), hidden, *audit])
        self.delete_range(key, _CLEANUP_SECONDS)

    def delete_range(self, key: Key, seconds: float) -> bool:
        """Delete the messages of a removed range for at most `seconds`; return True if all are.

        Until they are deleted, the header lists the range, and readers skip it.

        Args:
            key: of the range's marker.
        """
        marker = self._table.get(key)
        if marker is None:
            return True
        generation, _, revision = item_types.REMOVED_RANGE.parse(key[1]).partition("#")
        first, last = (
            item_types.MESSAGE.build_key_in(key[0], generation=generation, index=index)[1]
            for index in (marker["first"], marker["end"] - 1)
        )
        first_use, end_use = (
            item_types.USE.build_sort(generation=generation, index=index, item="")
            for index in (marker["first"], marker["end"])
        )
        found = chain(
            self._table.query(key[0], first_use, end_use, _DELETED_TOGETHER),
            self._table.query(key[0], first, last, _DELETED_TOGETHER),
        )
        if not self._staging.delete(found, time.monotonic() + seconds):
            return False
        self._forget_range(key, generation, [marker["first"], marker["end"], int(revision)])
        return True

    @retry_on(ConditionFailed, "others are writing this conversation")
    def _forget_range(self, key: Key, generation: str, removed: list[int]) -> None:
        """Remove a range from the header, and its marker, after its messages were deleted."""
        header_at = item_types.CONVERSATION.build_key_in(key[0])
        header = self._table.get(header_at) or {}
        before = header.get("removed", [])
        if header.get("generation") == generation and removed in before:
            left = [each for each in before if each != removed]
            expected = {"generation": generation, "before": before, "left": left}
            condition = "generation = :generation AND removed = :before"
            self._table.update(update(header_at, "SET removed = :left", condition, **expected))
        self._table.write_many([delete(key)])

    # Messages of a generation that no header shows yet

    def prepare(
        self, new: Conversation, texts: Sequence[bytes], author: str, now: int
    ) -> list[Write]:
        """Prepare the messages of a new generation; return the writes that show them.

        A few messages are part of that transaction; many are stored before it.
        """
        _, puts, parts = self._encode(new, texts, 0, author)
        writes = [*puts, *parts]
        size = sum(write.size for write in writes)
        if len(writes) <= _IN_TRANSACTION and size <= MAX_TRANSACTION_BYTES // 2:
            return writes
        return self._staging.stage(marker_key(new), writes, now)

    def write_pending(self, upload: Conversation, texts: Sequence[bytes], first: int) -> None:
        """Write messages of a pending generation from an index on."""
        _, puts, parts = self._encode(upload, texts, first, upload.created_by)
        write_parallel(self._table, [*puts, *parts])
