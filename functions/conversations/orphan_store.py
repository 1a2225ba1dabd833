"""Orphaned messages: what no conversation shows any more, or not yet, and how it is removed.

A marker names a generation of messages. It is written before the first message outside of the
transaction that shows them, and in the very transaction that hides them. So the schedule finds them
whatever crashes.
"""

import time
from collections.abc import Iterable, Iterator
from functools import partial

from functions.conversations.mapper import header_key
from functions.conversations.model import Conversation
from functions.platform.conversation_keys import (
    build_append_request_prefix,
    build_message_key,
    build_orphaned_messages_key,
    parse_orphaned_messages,
)
from functions.platform.items import Item
from functions.platform.keys import Key, get_due_shard
from functions.platform.limits import MAX_WRITE_ITEMS
from functions.platform.parallel import run_parallel
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, delete, put, update

_PARALLEL_CALLS = 8
_BATCH = 1000  # messages between two looks at the time
_PENDING_FOR = 15 * 60_000  # ms that a writer may take, far beyond a function's own limit
_PRESENT = "attribute_exists(pk)"


def mark_deleted(conversation: Conversation, now: int) -> Write:
    """Mark a conversation's messages as hidden, to be removed."""
    return _mark(conversation, now)


def mark_pending(conversation: Conversation, now: int) -> Write:
    """Mark messages that are being written and that nothing shows yet."""
    return _mark(conversation, now + _PENDING_FOR)


def clear_pending(conversation: Conversation) -> Write:
    """Remove the marker in the transaction that shows the messages."""
    return delete(orphan_key(conversation), f"{_PRESENT} AND attribute_not_exists(closing)")


def orphan_key(conversation: Conversation) -> Key:
    """Build the key of the marker of a conversation's messages."""
    return build_orphaned_messages_key(header_key(conversation)[0], conversation.generation)


def _mark(conversation: Conversation, due: int) -> Write:
    key = orphan_key(conversation)
    shard = get_due_shard(key[0])
    item = {"messages": conversation.count, DUE_ATTRIBUTE: due, DUE_SHARD_ATTRIBUTE: shard}
    return put(key, item)


class OrphanedMessages:
    """Removes marked messages. Two may work on the same ones at once."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def remove(self, key: Key, seconds: float) -> bool:
        """Remove messages for at most so long; whether none are left.

        Args:
            key: of the marker; progress is kept there, for the next call.
        """
        deadline = time.monotonic() + seconds
        try:
            marker = self._table.update(update(key, "SET closing = :yes", _PRESENT, yes=True))
        except ConditionFailed:
            return True
        done = self._remove_messages(key, marker, deadline)
        if done < marker["messages"]:
            self._table.update(update(key, "SET done = :done", _PRESENT, done=done))
            return False
        prefix = build_append_request_prefix(parse_orphaned_messages(key[1]))
        requests = self._table.query(key[0], prefix)
        write_many(self._table, (delete((each["pk"], each["sk"])) for each in requests))
        write_many(self._table, [delete(key)])
        return True

    def _remove_messages(self, key: Key, marker: Item, deadline: float) -> int:
        generation = parse_orphaned_messages(key[1])
        done: int = marker.get("done", 0)
        while done < marker["messages"] and time.monotonic() < deadline:
            end = min(done + _BATCH, marker["messages"])
            keys = (build_message_key(key[0], generation, index) for index in range(done, end))
            write_many(self._table, map(delete, keys))
            done = end
        return done


def write_many(table: Table, writes: Iterable[Write]) -> None:
    """Carry out writes without conditions, in several calls at once."""
    for group in _split(writes, MAX_WRITE_ITEMS * _PARALLEL_CALLS):
        chunks = _split(group, MAX_WRITE_ITEMS)
        run_parallel([partial(table.write_many, chunk) for chunk in chunks])


def _split(writes: Iterable[Write], size: int) -> Iterator[list[Write]]:
    group: list[Write] = []
    for write in writes:
        group.append(write)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
