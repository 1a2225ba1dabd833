"""What is left of messages that nobody can read any more, and how it goes from storage.

A generation's remains are written down before its first message that isn't part of the write that
shows them, and in the very write that takes them out of sight. So whatever crashes, the schedule
finds them.
"""

import time

from functions.conversations.items import place_of
from functions.conversations.model import Conversation
from functions.conversations.store import ConversationStore, grouped
from functions.platform.conversation_keys import (
    build_append_request_prefix,
    build_message_key,
    build_orphaned_messages_key,
    parse_orphaned_messages,
)
from functions.platform.items import Item
from functions.platform.keys import Key, get_due_shard
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, delete, put, update

_STEP = 1000  # messages between two looks at the time
_STAGED_FOR = 15 * 60_000  # ms that a writer may take, far beyond a function's own limit


def gone(conversation: Conversation, now: int) -> Write:
    """Notes that a conversation's messages are out of sight and to be removed."""
    return _note(conversation, now)


def staged(conversation: Conversation, now: int) -> Write:
    """Notes that messages are being written which nothing shows yet."""
    return _note(conversation, now + _STAGED_FOR)


def shown(conversation: Conversation) -> Write:
    """Takes a note back, since the write that it goes with shows the messages."""
    partition, _ = place_of(conversation)
    key = build_orphaned_messages_key(partition, conversation.generation)
    return delete(key, "attribute_exists(pk) AND attribute_not_exists(closing)")


def _note(conversation: Conversation, due: int) -> Write:
    partition, _ = place_of(conversation)
    item = {
        "messages": conversation.count,
        DUE_ATTRIBUTE: due,
        DUE_SHARD_ATTRIBUTE: get_due_shard(partition),
    }
    return put(build_orphaned_messages_key(partition, conversation.generation), item)


class Remains:
    """Removes what is noted. Two may work on the same notes at once."""

    def __init__(self, table: Table, store: ConversationStore) -> None:
        self._table = table
        self._store = store

    def clear(self, key: Key, seconds: float) -> bool:
        """Goes on removing for at most so long; whether nothing is left."""
        deadline = time.monotonic() + seconds
        try:
            note = self._table.update(update(key, "SET closing = :yes", _PRESENT, yes=True))
        except ConditionFailed:
            return True
        reached = self._clear_messages(key, note, deadline)
        if reached < note["messages"]:
            self._table.update(update(key, "SET reached = :reached", _PRESENT, reached=reached))
            return False
        self._clear_requests(key)
        self._store.write_many([delete(key)])
        return True

    def _clear_messages(self, key: Key, note: Item, deadline: float) -> int:
        generation = parse_orphaned_messages(key[1])
        reached: int = note.get("reached", 0)
        while reached < note["messages"] and time.monotonic() < deadline:
            upto = min(reached + _STEP, note["messages"])
            places = (build_message_key(key[0], generation, at) for at in range(reached, upto))
            self._store.write_many(map(delete, places))
            reached = upto
        return reached

    def _clear_requests(self, key: Key) -> None:
        prefix = build_append_request_prefix(parse_orphaned_messages(key[1]))
        requests = self._table.query(key[0], prefix)
        for group in grouped((delete((each["pk"], each["sk"])) for each in requests), _STEP):
            self._store.write_many(group)


_PRESENT = "attribute_exists(pk)"
