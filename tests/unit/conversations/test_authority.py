"""Test who may do what with conversations and agents' states."""

from typing import Any

import pytest

from functions.authorization.rules import Action, decide
from functions.conversations.authority import (
    CHANGE_CONVERSATION,
    CHANGE_STATE,
    DELETE_CONVERSATION,
    DELETE_STATE,
    READ_CONVERSATION,
    READ_STATE,
)
from functions.conversations.model import StateAddress
from functions.conversations.requests import NewConversation
from functions.conversations.rules import build_conversation
from functions.identity.model import ADMIN, Principal
from functions.platform.validation import validate

_CONVERSATION = (READ_CONVERSATION, CHANGE_CONVERSATION, DELETE_CONVERSATION)
_STATE = (READ_STATE, CHANGE_STATE, DELETE_STATE)
_BODY = {"user_id": "user_1", "agent_participants": ["bob"], "shared_with": ["carol"]}


def principal(id: str, agent_type: str | None = None, *permissions: str) -> Principal:
    return Principal("t1", id, "agent", frozenset(permissions), agent_type=agent_type)


def decide_all(caller: Principal, actions: tuple[Action[Any], ...], target: object) -> list[bool]:
    return [decide(caller, action, target).allowed for action in actions]


@pytest.mark.parametrize(
    ("caller", "allowed"),
    [
        (principal("alice"), [True, True, True]),  # who stored it
        (principal("user_1"), [True, True, True]),
        (principal("bob"), [True, True, True]),
        (principal("carol"), [True, False, False]),
        (principal("dave"), [False, False, False]),
        (principal("root", None, ADMIN), [False, False, True]),
    ],
    ids=lambda each: each.id if isinstance(each, Principal) else "",
)
def test_who_may_use_a_conversation(caller: Principal, allowed: list[bool]) -> None:
    new = validate(NewConversation, _BODY)
    found = build_conversation(principal("alice"), "s1", new, 1)
    assert decide_all(caller, _CONVERSATION, found) == allowed


@pytest.mark.parametrize(
    ("caller", "allowed"),
    [
        (principal("sdr"), [True, True, True]),
        (principal("alice", "sdr"), [True, True, True]),
        (principal("user_1"), [True, False, False]),
        (principal("bob", "other"), [False, False, False]),
        (principal("root", None, ADMIN), [False, False, True]),
    ],
    ids=lambda each: each.id if isinstance(each, Principal) else "",
)
def test_who_may_use_a_state(caller: Principal, allowed: list[bool]) -> None:
    assert decide_all(caller, _STATE, StateAddress("sdr", "user_1", "k")) == allowed


def test_an_administrator_is_named_as_such() -> None:
    decision = decide(principal("root", None, ADMIN), DELETE_STATE, StateAddress("a", "b", "c"))
    assert decision.rule == "holds memory.admin"
