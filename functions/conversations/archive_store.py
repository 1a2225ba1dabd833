"""Conversations whose retention is over: in the table, on their way out, and as archive records."""

from dataclasses import dataclass

from functions.conversations.mapper import ConversationMapper, header_key
from functions.conversations.model import Conversation
from functions.conversations.store import (
    AT_REVISION,
    ConversationChanged,
    at_revision,
    delete_writes,
)
from functions.platform import item_types
from functions.platform.conversation_keys import (
    build_archive_key,
    build_conversation_key,
    build_details_key,
    build_message_key,
)
from functions.platform.items import Item
from functions.platform.keys import Key, get_tenant
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table, TransactionConditionFailed
from functions.platform.writes import delete, put, update

_NOT_ARCHIVED = frozenset({"pk", "sk", DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, "parts", "request"})


@dataclass(frozen=True, slots=True)
class EndedConversation:
    """An expired conversation, as its items are, and how many parts have been exported."""

    conversation: Conversation
    header: Item
    details: Item
    parts: int


class ConversationArchiveStore:
    """Reads and writes expired conversations and the records of archived ones."""

    def __init__(self, table: Table, mapper: ConversationMapper) -> None:
        self._table = table
        self._mapper = mapper

    def get_ended(self, key: Key, now: int) -> EndedConversation | None:
        """Read an expired conversation, None if it is not there or not expired: two reads."""
        header = self._table.get(key)
        if header is None or header.get("expires", now + 1) > now:
            return None
        details = self._table.get(build_details_key(key[0])) or {}
        conversation = self._mapper.decode(get_tenant(key[0]), header)
        return EndedConversation(conversation, header, details, header.get("parts", 0))

    def read_items(self, ended: Conversation, first: int, last: int) -> list[Item]:
        """Read the attributes of the messages from one index to another, without their keys.

        Raises:
            ConversationChanged: one was removed meanwhile.
        """
        partition, _ = header_key(ended)
        _, start = build_message_key(partition, ended.generation, first)
        _, end = build_message_key(partition, ended.generation, last)
        items = list(self._table.query_from(partition, start, end, last - first + 1))
        if len(items) <= last - first:
            raise ConversationChanged
        return [_archived_attributes(item) for item in items]

    def set_parts(self, ended: Conversation, parts: int) -> None:
        """Write how many parts have been exported, so that the next call continues there.

        Raises:
            ConversationChanged: the conversation was changed since it was read.
        """
        at = at_revision(ended)
        write = update(header_key(ended), "SET parts = :parts", AT_REVISION, parts=parts, **at)
        try:
            self._table.update(write)
        except ConditionFailed as failed:
            raise ConversationChanged from failed

    def remove(self, ended: EndedConversation, now: int, *, archived: bool) -> None:
        """Hide a conversation and mark its messages to be removed.

        Args:
            archived: whether to leave a record by which its archive is found.

        Raises:
            ConversationChanged: the conversation was changed since it was read.
        """
        conversation = ended.conversation
        writes = delete_writes(conversation, now)
        if archived:
            key = build_archive_key(header_key(conversation)[0], now, conversation.generation)
            details = _archived_attributes(ended.details)
            writes.append(put(key, _archived_attributes(ended.header) | {"details": details}))
        try:
            self._table.transact(writes)
        except TransactionConditionFailed as refused:
            raise ConversationChanged from refused

    def get_newest(self, tenant: str, session: str) -> tuple[Conversation, Key] | None:
        """Read the newest archive record of a session, and its key: one query."""
        partition, _ = build_conversation_key(tenant, session)
        for item in self._table.query(partition, item_types.ARCHIVE.sort_prefix, newest_first=True):
            conversation = self._mapper.decode(tenant, item, item["details"])
            return conversation, (item["pk"], item["sk"])
        return None

    def delete(self, key: Key) -> None:
        """Delete an archive record."""
        self._table.transact([delete(key)])


def _archived_attributes(item: Item) -> Item:
    return {name: value for name, value in item.items() if name not in _NOT_ARCHIVED}
