"""Two calls that end one conversation's retention at once."""

from typing import Any
from unittest.mock import Mock

import pytest

from functions.conversations.archive import ConversationArchive
from functions.conversations.archive_store import ArchiveFiles, ConversationArchiveStore
from functions.conversations.mapper import ConversationMapper, encode_header, header_key
from functions.conversations.message_store import MessageStore
from functions.conversations.model import Conversation
from functions.platform.items import decode_item, encode_item
from functions.platform.staging import Staging
from functions.platform.table import ConditionFailed, Table
from functions.platform.values import ValueCodec

NOW = 1_900_000_000_000
ENDED = Conversation(
    "t1", "s1", "u", "a", b"{}", "g1", 2, 2, 1, NOW - 9, NOW - 9, expires_at=NOW - 1
)
HEADER = decode_item(encode_item(encode_header(ENDED)))
MESSAGES = [{"pk": "p", "sk": f"msg#g1#{index:012d}", "value": '{"a":1}'} for index in range(2)]


def end_retention(table: Any) -> Mock:
    """End the conversation's retention; returns the archive storage."""
    mapper, storage, parts = ConversationMapper(ValueCodec(None)), Mock(), Staging(table)
    store = ConversationArchiveStore(table, MessageStore(table, mapper, parts), parts)
    files = ArchiveFiles(storage)
    archive = ConversationArchive(store, mapper, Mock(), files, Mock(), lambda: NOW)
    assert archive.end_retention(header_key(ENDED), 5)
    return storage


@pytest.fixture
def table() -> Mock:
    """A table that holds the conversation."""
    found = Mock(spec=Table)
    found.get.side_effect = [HEADER, {}, HEADER]
    found.query.return_value = iter(MESSAGES)
    return found


def test_it_is_exported_and_removed(table: Mock) -> None:
    ((name, lines), _) = end_retention(table).put.call_args
    assert (name.rpartition("/")[2], lines) == (
        "000000.jsonl",
        b"".join(b'{"value":"{\\"a\\":1}","index":%d}\n' % n for n in (0, 1)),
    )
    assert table.transact.called


def test_messages_that_another_call_removed_are_not_exported(table: Mock) -> None:
    table.get.side_effect = [HEADER, {}, None]
    assert not end_retention(table).put.called
    assert not table.transact.called


def test_a_conversation_that_another_call_removed_is_done(table: Mock) -> None:
    table.transact.side_effect = ConditionFailed({})
    assert end_retention(table).put.called
