"""Messages that no conversation shows any more, or not yet, and how they are deleted.

A marker names a generation of messages, or a range of one. It is written before the first message
outside of the transaction that shows them, and in the very transaction that hides them. So the
schedule finds them whatever crashes.
"""

import time
from itertools import islice

from functions.conversations.mapper import header_key
from functions.conversations.model import Conversation, RemovedRange
from functions.platform import conversation_keys
from functions.platform.bulk_writes import delete_items, write_parallel
from functions.platform.items import Item
from functions.platform.keys import Key, build_due_attributes
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed, Table
from functions.platform.value_parts import STAGED_FOR, ValueParts, get_value_name
from functions.platform.writes import Write, delete, put, update

_BATCH = 200  # messages between two looks at the time
_PRESENT = "attribute_exists(pk)"


def mark_deleted(conversation: Conversation, now: int) -> Write:
    """Mark a conversation's messages as hidden, to be deleted."""
    return put(orphan_key(conversation), {"messages": conversation.end} | _due(conversation, now))


def mark_pending(conversation: Conversation, now: int) -> Write:
    """Mark messages that are being written and that nothing shows yet."""
    return mark_deleted(conversation, now + STAGED_FOR)


def clear_pending(conversation: Conversation) -> Write:
    """Remove the marker in the transaction that shows the messages."""
    return delete(orphan_key(conversation), f"{_PRESENT} AND attribute_not_exists(closing)")


def mark_range(conversation: Conversation, removed: RemovedRange, now: int) -> Write:
    """Mark a range of messages as hidden, to be deleted."""
    item = {"first": removed.first, "end": removed.end} | _due(conversation, now)
    return put(range_key(conversation, removed), item)


def orphan_key(conversation: Conversation) -> Key:
    """Build the key of the marker of a conversation's messages."""
    return conversation_keys.build_orphaned_messages_key(
        header_key(conversation)[0], conversation.generation
    )


def range_key(conversation: Conversation, removed: RemovedRange) -> Key:
    """Build the key of the marker of a range of messages."""
    partition, _ = header_key(conversation)
    return conversation_keys.build_removed_range_key(
        partition, conversation.generation, removed.revision
    )


def _due(conversation: Conversation, due: int) -> Item:
    return build_due_attributes(header_key(conversation)[0], due)


class OrphanedMessages:
    """Deletes marked messages. Two may work on the same ones at once."""

    def __init__(self, table: Table, parts: ValueParts) -> None:
        self._table = table
        self._parts = parts

    def remove(self, key: Key, seconds: float) -> bool:
        """Delete the messages of a generation for at most so long; whether none are left.

        Args:
            key: of the marker; progress is kept there, for the next call.
        """
        deadline = time.monotonic() + seconds
        marker = self._close(key)
        if marker is None:
            return True
        generation = conversation_keys.parse_orphaned_messages(key[1])
        done = self._remove_messages(key, marker, deadline)
        if done < marker["messages"]:
            self._table.update(update(key, "SET done = :done", _PRESENT, done=done))
            return False
        if not self._parts.remove_below(key[0], generation, deadline):
            return False
        requests = self._table.query(
            key[0], conversation_keys.build_append_request_prefix(generation)
        )
        delete_items(self._table, requests)
        write_parallel(self._table, [delete(key)])
        return True

    def _close(self, key: Key) -> Item | None:
        """Keep a writer from showing the messages; None if the marker is gone."""
        try:
            return self._table.update(update(key, "SET closing = :yes", _PRESENT, yes=True))
        except ConditionFailed:
            return None

    def _remove_messages(self, key: Key, marker: Item, deadline: float) -> int:
        generation = conversation_keys.parse_orphaned_messages(key[1])
        done: int = marker.get("done", 0)
        while done < marker["messages"] and time.monotonic() < deadline:
            end = min(done + _BATCH * 5, marker["messages"])
            keys = (
                conversation_keys.build_message_key(key[0], generation, index)
                for index in range(done, end)
            )
            write_parallel(self._table, map(delete, keys))
            done = end
        return done

    def remove_range(self, key: Key, seconds: float) -> bool:
        """Delete the messages of a range for at most so long; whether none are left.

        The header lists the range until they are deleted: readers pass over it.

        Args:
            key: of the range's marker.
        """
        deadline = time.monotonic() + seconds
        marker = self._table.get(key)
        if marker is None:
            return True
        generation, revision = conversation_keys.parse_removed_range(key[1])
        _, first = conversation_keys.build_message_key(key[0], generation, marker["first"])
        _, last = conversation_keys.build_message_key(key[0], generation, marker["end"] - 1)
        found = self._table.query_from(key[0], first, last, _BATCH)
        while group := list(islice(found, _BATCH)):
            if time.monotonic() >= deadline:
                return False
            for name in filter(None, map(get_value_name, group)):
                if not self._parts.remove_below(key[0], name, deadline):
                    return False
            delete_items(self._table, group)
        removed = RemovedRange(marker["first"], marker["end"], revision)
        self._forget_range(key, generation, removed)
        return True

    @retry_on(ConditionFailed, "others are writing this conversation")
    def _forget_range(self, key: Key, generation: str, removed: RemovedRange) -> None:
        """Take a range whose messages are deleted off the header, and remove its marker."""
        header_at = conversation_keys.build_header_key(key[0])
        header = self._table.get(header_at) or {}
        before = header.get("removed", [])
        if header.get("generation") == generation and list(removed) in before:
            left = [each for each in before if each != list(removed)]
            expected = {"generation": generation, "before": before, "left": left}
            condition = "generation = :generation AND removed = :before"
            self._table.update(update(header_at, "SET removed = :left", condition, **expected))
        write_parallel(self._table, [delete(key)])
