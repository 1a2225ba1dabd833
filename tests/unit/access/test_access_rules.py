"""Test the answers of an explanation: a rule's name, or what forbids the access."""

import pytest

from functions.access.authority import EXPLAIN_ACCESS, AccessQuestion
from functions.access.service import NO_RULE, Check, Checks, decide_all
from functions.authorization.rules import Action, Rule, decide
from functions.identity.model import ADMIN, READ, Principal

ADA = Principal("acme", "ada", "agent", frozenset({READ}))
OPEN = Check(Action[None]("it.read", (Rule("everybody", lambda _caller, _: True),), ""), None)
CLOSED = Check(Action[None]("it.read", (Rule("nobody", lambda _caller, _: False),), ""), None)


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        (Checks((OPEN,)), (True, "everybody")),
        (Checks((CLOSED,)), (False, NO_RULE)),
        (Checks((OPEN, CLOSED)), (False, NO_RULE)),
        (Checks((OPEN,), "the task has ended"), (False, "the task has ended")),
    ],
)
def test_all_checks_must_hold(checks: Checks, expected: tuple[bool, str]) -> None:
    assert decide_all(ADA, READ, checks, 0) == expected


def test_a_missing_permission_and_an_expiry_come_first() -> None:
    blind, late = ADA._replace(permissions=frozenset()), ADA._replace(expires_at=5)
    assert decide_all(blind, READ, Checks((OPEN,)), 0) == (False, "lacks memory.read")
    assert decide_all(late, READ, Checks((OPEN,)), 4).allowed
    assert decide_all(late, READ, Checks((OPEN,)), 5) == (False, "the principal has expired")


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        (AccessQuestion("ada"), "oneself"),
        (AccessQuestion("bob", is_owner=True), "owner of the target"),
        (AccessQuestion("bob", is_coordinator=True), "coordinator of the target"),
        (AccessQuestion("bob"), None),
    ],
)
def test_who_asks_about_whom(question: AccessQuestion, rule: str | None) -> None:
    assert decide(ADA, EXPLAIN_ACCESS, question).rule == rule
    admin = ADA._replace(id="root", permissions=frozenset({ADMIN}))
    assert decide(admin, EXPLAIN_ACCESS, AccessQuestion("bob")).allowed
