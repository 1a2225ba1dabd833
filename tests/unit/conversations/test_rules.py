"""Test what writes make of conversations, messages and states."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from functions.conversations.model import Conversation, Message, RemovedRange
from functions.conversations.requests import (
    ConversationChange,
    MessageChange,
    NewConversation,
    NewMessage,
    NewMessages,
)
from functions.conversations.rules import (
    build_conversation,
    build_texts,
    change_conversation,
    change_message,
    is_repeated,
    list_shown,
    migrate_message,
    record_request,
    supersede,
)
from functions.identity.model import Kind, Principal
from functions.platform.errors import (
    IdempotencyConflict,
    ValidationFailed,
    ValueTooLarge,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.validation import validate

NOW = 1_900_000_000_000
AT = "2030-03-17T17:46:40.000Z"


def principal(id: str, kind: Kind = "agent") -> Principal:
    return Principal("t1", id, kind, frozenset())


def build(caller: str = "alice", **fields: Any) -> Conversation:
    """The conversation that a body asks for."""
    new = validate(NewConversation, {"user_id": "user_1"} | fields)
    return build_conversation(principal(caller), "s1", new, NOW)


def documents(*messages: Any, schema: str = "1.0") -> list[Any]:
    new = [validate(NewMessage, message) for message in messages]
    return [orjson.loads(each) for each in build_texts(new, schema, NOW)]


def test_a_conversation_expires_by_its_time_to_live() -> None:
    made = build(ttl="duration:P1D")
    assert made.expires_at == NOW + 86_400_000
    assert not made.has_expired(NOW + 86_399_999)
    assert made.has_expired(NOW + 86_400_000)
    assert not build().has_expired(10 * NOW)


def test_a_replacement_keeps_creator_and_creation() -> None:
    old = replace(build(), revision=4, created_at=NOW - 5)
    new = supersede(old, build("bob", tags=["t", "t"]))
    assert (new.created_by, new.created_at, new.revision, new.tags) == ("alice", NOW - 5, 5, ("t",))


def test_a_message_gets_a_timestamp_and_metadata() -> None:
    given = {"role": "user", "content": [1], "timestamp": AT, "metadata": {"n": 2**70}}
    plain = {"role": "user", "content": "a"}
    full = plain | {"timestamp": AT, "metadata": {}}
    assert documents(plain, given | {"metadata": {"n": 2}}) == [
        full,
        given | {"metadata": {"n": 2}},
    ]
    assert documents(plain, schema="0.9") == [plain]


def test_a_message_that_is_too_large_is_named() -> None:
    new = [NewMessage(role="user", content=text) for text in ("a", "x" * 4_200_000)]
    with pytest.raises(ValueTooLarge) as raised:
        build_texts(new, "1.0", NOW)
    assert (raised.value.index, raised.value.members["max"]) == (1, 4_194_304)


@pytest.mark.parametrize(
    ("caller", "given", "participants"),
    [
        ("alice", [], ("alice",)),
        ("alice", ["bob", "alice"], ("bob", "alice")),
        ("user_1", ["bob"], ("bob",)),
    ],
)
def test_who_stores_a_conversation_takes_part_in_it(
    caller: str, given: list[str], participants: tuple[str, ...]
) -> None:
    assert build(caller, agent_participants=given).agent_participants == participants


def test_only_given_fields_change() -> None:
    old = build(tags=["a"], metadata={"m": 1}, ttl="duration:P1D")
    change = validate(ConversationChange, {"tags": ["b"]})
    new = change_conversation(old, change, NOW + 5)
    assert (new.tags, new.metadata, new.expires_at) == (("b",), old.metadata, old.expires_at)
    assert (new.revision, new.updated_at, new.details_at) == (2, NOW + 5, old.details_at)
    later = change_conversation(
        new, validate(ConversationChange, {"metadata": {}, "ttl": None}), NOW
    )
    assert (later.metadata, later.expires_at, later.details_at) == (b"{}", None, 3)


def test_a_changed_message_keeps_its_timestamp() -> None:
    (text,) = build_texts([NewMessage(role="user", content="pin")], "1.0", NOW)
    change = validate(MessageChange, {"content": None})
    changed = change_message(Message(3, text), change, "ada", 0)
    assert orjson.loads(changed.text) == {
        "role": "user", "content": None, "timestamp": AT, "metadata": {}
    }  # fmt: skip


@pytest.mark.parametrize(
    ("removed", "first", "end", "shown"),
    [
        ([], 0, 5, [(0, 5)]),
        ([(1, 2)], 0, 5, [(0, 1), (2, 5)]),
        ([(2, 4), (0, 1)], 0, 5, [(1, 2), (4, 5)]),
        ([(0, 9)], 0, 5, []),
        ([(0, 3), (1, 2)], 2, 5, [(3, 5)]),
        ([(7, 9)], 0, 5, [(0, 5)]),
        ([], 5, 5, []),
    ],
)
def test_removed_ranges_are_passed_over(
    removed: list[tuple[int, int]], first: int, end: int, shown: list[tuple[int, int]]
) -> None:
    ranges = tuple(RemovedRange(*each, 2) for each in removed)
    assert list_shown(replace(build(), removed=ranges), first, end) == shown


def test_a_repeated_request_is_recognized_while_it_is_the_latest() -> None:
    token, other = (RequestToken(bytes([n]) * 16, bytes(8)) for n in (1, 2))
    stored = record_request(build(), token)
    assert is_repeated(stored, token)
    assert not is_repeated(stored, None)
    assert not is_repeated(stored, other)
    with pytest.raises(IdempotencyConflict):
        is_repeated(stored, token._replace(body=b"x" * 8))
    with pytest.raises(VersionMismatch):
        is_repeated(replace(stored, revision=2), token)


def test_a_message_of_the_old_schema_is_completed() -> None:
    old = build(version="0.9")
    stored = Message(3, b'{"role":"user","content":"a"}')
    migrated = migrate_message(old, stored)
    assert (migrated.index, orjson.loads(migrated.text)) == (
        3,
        {"role": "user", "content": "a", "timestamp": AT, "metadata": {}},
    )
    assert migrate_message(build(), stored) is stored


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"version": "7.1"}, "version"),
        ({"session_id": "another"}, "session_id"),
        ({"ttl": "duration:never"}, "ttl"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
    ],
)
def test_a_malformed_conversation_is_rejected(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        build(**fields)
    assert [each["field"] for each in raised.value.members["errors"]] == [field]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"role": "user"},
        {"messages": []},
        {"role": "user", "content": "a", "messages": []},
    ],
)
def test_one_message_or_a_list_of_some_is_appended(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        validate(NewMessages, body)
