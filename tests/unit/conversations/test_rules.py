"""Contract §9: what conversations and states become, and who may read and write them."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from functions.conversations.model import Conversation, Message, State, StateAddress
from functions.conversations.requests import NewConversation, NewMessage, NewMessages, NewState
from functions.conversations.rules import (
    assert_may_read,
    assert_may_write,
    assert_may_write_state,
    build_conversation,
    build_messages,
    may_read_state,
    migrate_message,
    supersede,
)
from functions.identity.model import Kind, Principal
from functions.platform.errors import AccessDenied, ValidationFailed, ValueTooLarge
from functions.platform.validation import validate

NOW = 1_900_000_000_000
AT = "2030-03-17T17:46:40.000Z"
ADDRESS = StateAddress("alice", "user_1", "k")


def principal(id: str, kind: Kind = "agent") -> Principal:
    """A principal of the tenant."""
    return Principal("t1", id, kind, frozenset())


def build(caller: str = "alice", **fields: Any) -> Conversation:
    """The conversation that a body asks for."""
    new = validate(NewConversation, {"user_id": "user_1"} | fields)
    return build_conversation(principal(caller), "s1", new, NOW)


def documents(*messages: Any, schema: str = "1.0") -> list[Any]:
    """Messages as they are stored."""
    new = [validate(NewMessage, message) for message in messages]
    return [orjson.loads(each.text) for each in build_messages(new, schema, NOW)]


def is_allowed(check: Any, *arguments: Any) -> bool:
    """Whether a check lets the caller pass."""
    try:
        check(*arguments)
    except AccessDenied:
        return False
    return True


@pytest.mark.parametrize(
    ("caller", "reads", "writes"),
    [
        ("alice", True, True),  # its creator
        ("user_1", True, True),  # its user
        ("bob", True, True),  # a participant
        ("carol", True, False),  # it is shared with her
        ("dave", False, False),
    ],
)
def test_who_may_use_a_conversation(caller: str, reads: bool, writes: bool) -> None:
    found = build(agent_participants=["bob"], shared_with=["carol"])
    assert is_allowed(assert_may_read, principal(caller), found) == reads
    assert is_allowed(assert_may_write, principal(caller), found) == writes


@pytest.mark.parametrize(
    ("caller", "kind", "author", "reads", "writes"),
    [
        ("alice", "agent", "alice", True, True),
        ("alice", "agent", "boss", True, True),  # her own, which another one made
        ("bob", "agent", "alice", False, False),
        ("user_1", "user", "alice", True, False),
        ("boss", "coordinator", "alice", False, False),
        ("boss", "coordinator", "boss", True, True),
    ],
)
def test_who_may_use_a_state(
    caller: str, kind: Kind, author: str, reads: bool, writes: bool
) -> None:
    state, who = State(ADDRESS, b"1", 1, NOW, NOW, author), principal(caller, kind)
    assert may_read_state(who, state) == reads
    assert is_allowed(assert_may_write_state, who, ADDRESS, state) == writes


@pytest.mark.parametrize("kind", ["agent", "coordinator", "user"])
def test_who_may_make_a_state_for_another_agent(kind: Kind) -> None:
    allowed = is_allowed(assert_may_write_state, principal("boss", kind), ADDRESS, None)
    assert allowed == (kind != "agent")


def test_a_conversation_expires_by_its_time_to_live() -> None:
    made = build(ttl="duration:P1D")
    assert made.expires == NOW + 86_400_000
    assert not made.has_expired(NOW + 86_399_999)
    assert made.has_expired(NOW + 86_400_000)
    assert not build().has_expired(10 * NOW)


def test_a_replacement_keeps_creator_and_creation() -> None:
    old = replace(build(), revision=4, created=NOW - 5)
    new = supersede(old, build("bob", tags=["t", "t"]))
    assert (new.creator, new.created, new.revision, new.tags) == ("alice", NOW - 5, 5, ("t",))


def test_a_message_gets_a_timestamp_and_metadata() -> None:
    given = {"role": "user", "content": [1], "timestamp": AT, "metadata": {"n": 2**70}}
    plain = {"role": "user", "content": "a"}
    full = plain | {"timestamp": AT, "metadata": {}}
    assert documents(plain, given | {"metadata": {"n": 2}}) == [
        full,
        given | {"metadata": {"n": 2}},
    ]
    assert documents(plain, schema="0.9") == [plain]


def test_messages_take_the_next_indexes() -> None:
    new = [NewMessage(role="user", content=text) for text in "ab"]
    assert [each.index for each in build_messages(new, "1.0", NOW, first=7)] == [7, 8]


def test_a_message_that_is_too_large_is_named() -> None:
    new = [NewMessage(role="user", content=text) for text in ("a", "x" * 70_000)]
    with pytest.raises(ValueTooLarge) as raised:
        build_messages(new, "1.0", NOW, first=7)
    assert (raised.value.index, raised.value.members["max"]) == (1, 65_536)


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
        ({"user_id": ""}, "user_id"),
        ({"version": "7.1"}, "version"),
        ({"session_id": "another"}, "session_id"),
        ({"nonsense": 1}, "nonsense"),
        ({"metadata": [1]}, "metadata"),
        ({"messages": [{"role": "user"}]}, "messages.0.content"),
        ({"messages": [{"role": "", "content": "a"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": "a", "timestamp": "yesterday"}]},
         "messages.0.timestamp"),
        ({"ttl": "duration:never"}, "ttl"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
    ],
)  # fmt: skip
def test_a_malformed_conversation_is_rejected(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        build(**fields)
    assert [each["field"] for each in raised.value.members["errors"]] == [field]


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (NewMessages, {}),
        (NewMessages, {"role": "user"}),
        (NewMessages, {"messages": []}),
        (NewMessages, {"role": "user", "content": "a", "messages": []}),
        (NewState, {}),
        (NewState, {"value": 1, "more": 2}),
        (NewState, {"value": 1, "sensitivity": "x"}),
    ],
)
def test_a_malformed_body_is_rejected(model: Any, body: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        validate(model, body)
