"""Contract §9: two calls that end one conversation's retention at once."""

from typing import Any
from unittest.mock import Mock

import pytest

from functions.conversations.archive import ConversationArchive
from functions.conversations.archive_store import ConversationArchiveStore
from functions.conversations.mapper import ConversationMapper, encode_header, header_key
from functions.conversations.model import Conversation
from functions.platform.items import decode_item, encode_item
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.values import ValueCodec

NOW = 1_900_000_000_000
ENDED = Conversation(
    "t1", "s1", "u", "a", (), (), (), b"{}", "g1", 2, 1, NOW - 9, NOW - 9, expires=NOW - 1
)
MESSAGES = [{"pk": "p", "sk": f"msg#g1#{index:012d}", "val": '{"a":1}'} for index in range(2)]


def end_retention(table: Any) -> Mock:
    """End the conversation's retention; returns the archive storage."""
    mapper, storage = ConversationMapper(ValueCodec(None)), Mock()
    store = ConversationArchiveStore(table, mapper)
    archive = ConversationArchive(store, mapper, Mock(), storage, lambda: NOW)
    assert archive.end_retention(header_key(ENDED), 5)
    return storage


@pytest.fixture
def table() -> Mock:
    """A table that holds the conversation."""
    found = Mock(spec=Table)
    found.get.side_effect = [decode_item(encode_item(encode_header(ENDED))), {}]
    found.query_from.return_value = iter(MESSAGES)
    return found


def test_it_is_exported_and_removed(table: Mock) -> None:
    ((name, lines), _) = end_retention(table).put.call_args
    assert (name.rpartition("/")[2], lines) == ("000000.jsonl", b'{"val":"{\\"a\\":1}"}\n' * 2)
    assert table.transact.called


def test_messages_that_another_call_removed_are_not_exported(table: Mock) -> None:
    table.query_from.return_value = iter(MESSAGES[1:])
    assert not end_retention(table).put.called
    assert not table.transact.called


def test_a_conversation_that_another_call_removed_is_done(table: Mock) -> None:
    table.transact.side_effect = TransactionConditionFailed({})
    assert end_retention(table).put.called
