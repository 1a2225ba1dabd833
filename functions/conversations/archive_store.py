"""Expired conversations: in the table, as archive records, and as files.

A file has messages as lines of JSON; large texts have files of their own. A line holds a message as
it is stored in the table, so encrypted text stays encrypted.
"""

import base64
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from functions.conversations.mapper import decode_header, header_key, parse_message_index
from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation
from functions.conversations.store import (
    AT_REVISION,
    ConversationChanged,
    at_revision,
    delete_writes,
    transact,
)
from functions.platform import item_types
from functions.platform.archive_storage import ArchiveStorage
from functions.platform.bounded_pages import WantedPage
from functions.platform.errors import Unavailable
from functions.platform.items import Item
from functions.platform.json_text import loads
from functions.platform.keys import Key, encode_timestamp, get_tenant, hash_name
from functions.platform.newest_first import build_list_attributes, list_items
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.staging import PartsMissing, Staging, has_parts
from functions.platform.table import Table
from functions.platform.writes import Write, delete, put, update

_NOT_ARCHIVED = frozenset(
    {
        *("pk", "sk", DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE, "parts"),
        *("request", "requests", "requested_at", "changed_at", "rewritten_at"),
        *("removed", "lister"),
    }
)


class EndedConversation(NamedTuple):
    """The items of an expired conversation, and the number of parts exported so far."""

    conversation: Conversation
    header: Item
    details: Item
    parts: int


class ConversationArchiveStore:
    """Reads and writes expired conversations and the records of archived ones."""

    def __init__(self, table: Table, messages: MessageStore, staging: Staging) -> None:
        self._table = table
        self._messages = messages
        self._staging = staging

    def get_ended(self, key: Key, now: int) -> EndedConversation | None:
        """Read an expired conversation; None if it is missing or not expired: two reads."""
        header = self._table.get(key)
        if header is None or header.get("expires_at", now + 1) > now:
            return None
        details = self._table.get(item_types.CONVERSATION_DETAILS.build_key_in(key[0])) or {}
        try:
            details = self._staging.join(details)
        except PartsMissing as missing:
            raise ConversationChanged from missing
        conversation = decode_header(get_tenant(key[0]), header)
        return EndedConversation(conversation, header, details, header.get("parts", 0))

    def read_items(self, ended: Conversation, first: int, end: int) -> Iterator[Item]:
        """Read the messages from one index to before another one, each as it is archived.

        Each has its `index`, and its complete text in `value`.
        """
        for item in self._messages.read_items(ended, first, end):
            index = parse_message_index(item["sk"])
            yield get_archived_attributes(self._messages.join(item)) | {"index": index}

    def assert_present(self, ended: Conversation) -> None:
        """Check that no other call has removed an expired conversation: one read."""
        header = self._table.get(header_key(ended)) or {}
        if (header.get("generation"), header.get("revision")) != (ended.generation, ended.revision):
            raise ConversationChanged

    def set_parts(self, ended: Conversation, parts: int) -> None:
        """Write the number of exported parts, where the next call continues."""
        at, key = at_revision(ended), header_key(ended)
        write = update(key, "SET parts = :parts", AT_REVISION, parts=parts, **at)
        if not self._table.try_write(write):
            raise ConversationChanged

    def remove(self, ended: EndedConversation, now: int, record: Item | None) -> None:
        """Hide a conversation and mark its messages to be removed."""
        conversation = ended.conversation
        writes = delete_writes(conversation, now)
        if record is not None:
            expired = ended.header["expires_at"]
            key = item_types.ARCHIVE.build_key_in(
                header_key(conversation)[0],
                expired=encode_timestamp(expired),
                generation=conversation.generation,
            )
            listed_in = item_types.ARCHIVE.build_group(conversation.tenant)
            listed = build_list_attributes(listed_in, expired, "".join(key))
            writes.append(put(key, record | listed))
        transact(self._table, writes)

    def list_all(self, tenant: str, wanted: WantedPage) -> Iterator[Item]:
        """List the records of a tenant's archives, the last expired first, by an index."""
        return list_items(self._table, item_types.ARCHIVE, wanted, tenant)

    def list_records(self, tenant: str, session: str) -> Iterator[Item]:
        """Read the records of a session's archives, the newest first: a query."""
        partition = item_types.ARCHIVE.build_partition(tenant, session=session)
        return self._table.query(partition, item_types.ARCHIVE.sort_prefix, newest_first=True)

    def delete(self, key: Key, *further: Write) -> None:
        """Delete an archive record, together with further writes."""
        self._table.transact([delete(key), *further])


def get_archived_attributes(item: Item) -> Item:
    """Get the attributes of an item that are archived."""
    return {name: value for name, value in item.items() if name not in _NOT_ARCHIVED}


PART = 500  # indexes of messages; at their largest some 45 MB in base64
DETAILS = "metadata"


def count_parts(conversation: Conversation) -> int:
    """Count the files of lines that a conversation has."""
    return -(-conversation.end // PART)


class ArchiveFiles:
    """Reads and writes the files of archived conversations."""

    def __init__(self, archive_storage: ArchiveStorage | None) -> None:
        self._storage = archive_storage

    @property
    def is_available(self) -> bool:
        """Tell whether there is storage for archives."""
        return self._storage is not None

    def write_part(self, conversation: Conversation, part: int, items: Iterable[Item]) -> None:
        """Write the lines of a part's messages, whose large texts are split off."""
        self._required.put(_part_name(conversation, part), b"".join(map(_render_line, items)))

    def read_part(self, conversation: Conversation, part: int) -> Iterator[Item]:
        """Read the messages of a part, without their large texts."""
        return map(_parse_line, self._required.get(_part_name(conversation, part)).splitlines())

    def split(self, conversation: Conversation, name: str | int, item: Item) -> Item:
        """Write a large text into a separate file; return the item without it.

        Args:
            name: the file's name: a message's index, or `DETAILS`.
        """
        if not has_parts(item):
            return item
        value = item["value"]
        data = value.encode() if isinstance(value, str) else value
        self._required.put(_text_name(conversation, name), data)
        return {name: attribute for name, attribute in item.items() if name != "value"}

    def join(self, conversation: Conversation, name: str | int, item: Item) -> Item:
        """Add the text to an item, if `split` wrote it into a file."""
        if not has_parts(item):
            return item
        data = self._required.get(_text_name(conversation, name))
        return item | {"value": data.decode() if item["value_is_text"] else data}

    def delete(self, conversation: Conversation) -> None:
        """Delete all remaining files of a conversation."""
        for name in list(self._required.list_names(f"{_folder(conversation)}/")):
            self._required.delete(name)

    @property
    def _required(self) -> ArchiveStorage:
        if self._storage is None:
            raise Unavailable("this deployment has no archive; its operator can set ARCHIVE_BUCKET")
        return self._storage


def _folder(conversation: Conversation) -> str:
    session = hash_name("session", conversation.session_id)
    return f"conversations/{conversation.tenant}/{session}/{conversation.generation}"


def _part_name(conversation: Conversation, part: int) -> str:
    return f"{_folder(conversation)}/{part:06d}.jsonl"


def _text_name(conversation: Conversation, name: str | int) -> str:
    return f"{_folder(conversation)}/{name}.text"


def _render_line(item: Item) -> bytes:
    """Render a message's attributes as a line of JSON; bytes in base64."""
    fields: dict[str, Any] = {
        name: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in item.items()
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def _parse_line(line: bytes) -> Item:
    fields: dict[str, Any] = loads(line)
    return {
        name: base64.b64decode(value["base64"]) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
