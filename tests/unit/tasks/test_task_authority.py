"""Test who may do what in a task: every rule, both ways."""

from dataclasses import replace
from typing import Any

import pytest

from functions.authorization.rules import decide, is_allowed
from functions.identity.model import ADMIN, Kind
from functions.platform.errors import AccessDenied, TaskClosed, TaskReassigned
from functions.tasks import authority
from functions.tasks.authority import (
    CHANGE_TASK,
    GRANT,
    LIST_GRANTS,
    READ_MEMORY,
    READ_TASK,
    TAKE_PART,
    WRITE_MEMORY,
    TaskTarget,
)
from functions.tasks.model import Grant, GrantAccess, Membership
from tests.unit.tasks.making import NOW, TASK, principal

ACTIONS = {
    "read": READ_MEMORY,
    "write": WRITE_MEMORY,
    "take part": TAKE_PART,
    "see": READ_TASK,
    "list": LIST_GRANTS,
    "grant": GRANT,
    "change": CHANGE_TASK,
}
EVERYTHING = set(ACTIONS)


def grant(access: GrantAccess, expires: int = NOW + 1, term: int | None = None) -> Membership:
    return Membership(grant=Grant("guest", access, expires, "boss", 0, term))


@pytest.mark.parametrize(
    ("who", "kind", "member", "expected"),
    [
        ("alice", "agent", Membership(), EVERYTHING),
        ("boss", "coordinator", Membership(), EVERYTHING),
        ("boss", "agent", Membership(), {"see", "take part"}),  # it registered the task
        ("guest", "agent", grant("read"), {"read", "see"}),
        ("guest", "agent", grant("write"), {"read", "write", "take part", "see"}),
        ("guest", "agent", grant("write", term=1), {"read", "write", "take part", "see"}),
        ("guest", "agent", grant("write", term=2), set()),
        ("guest", "agent", grant("write", expires=NOW), set()),
        ("heir", "agent", Membership(inherited_terms=frozenset({None})), {"read", "see"}),
        ("former", "agent", Membership(was_assignee=True), {"take part", "see"}),
        ("former", "user", Membership(was_coordinator=True), {"take part", "see"}),
        ("stranger", "coordinator", Membership(), set()),
        ("stranger", "user", Membership(), set()),
    ],
)
def test_each_member_of_a_task_may_do_its_own(
    who: str, kind: Kind, member: Membership, expected: set[str]
) -> None:
    target = TaskTarget(TASK, NOW, member)
    caller = principal(who, kind)
    assert {n for n, action in ACTIONS.items() if is_allowed(caller, action, target)} == expected


def test_an_administrator_sees_tasks_and_grants_and_no_memory() -> None:
    root = principal("root", "user", [ADMIN])
    allowed = {n for n, each in ACTIONS.items() if is_allowed(root, each, TaskTarget(TASK, NOW))}
    assert allowed == {"see", "list"}
    assert decide(root, LIST_GRANTS, TaskTarget(TASK, NOW)).rule == "holds memory.admin"


@pytest.mark.parametrize(
    ("member", "ended", "error"),
    [
        ({}, None, AccessDenied),
        ({"was_coordinator": True}, None, AccessDenied),
        ({"was_assignee": True}, None, TaskReassigned),
        ({"was_assignee": True}, NOW, TaskClosed),
    ],
)
def test_a_former_assignee_learns_that_the_task_is_anothers(
    member: dict[str, Any], ended: int | None, error: type[Exception]
) -> None:
    target = TaskTarget(replace(TASK, completed_at=ended), NOW, Membership(**member))
    with pytest.raises(error):
        authority.authorize_write(principal("former"), WRITE_MEMORY, target)
