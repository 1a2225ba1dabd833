"""Test who registers, adopts and changes tasks, by the rules of each action."""

from dataclasses import replace

import pytest

from functions.authorization.rules import decide, is_allowed
from functions.identity.model import ADMIN, Kind, Principal
from functions.tasks.authority import (
    ADOPT_TASK,
    CHANGE_TASK,
    LET_INHERIT,
    REGISTER_TASK,
    Registration,
    TaskTarget,
)
from functions.tasks.model import RESULTS, Status, Task
from functions.tasks.requests import TaskChange
from tests.unit.tasks.making import NOW, TASK, principal

ALICE = principal("alice")
BOSS = principal("boss", "coordinator")
DELEGATING = replace(TASK, delegates=("bob",))
OPEN_TO_ALL = replace(TASK, delegates=("*",))
OWN = replace(TASK, coordinator=None)


@pytest.mark.parametrize("kind", ["coordinator", "user"])
def test_coordinators_and_users_register_for_anybody(kind: Kind) -> None:
    new = Registration("alice", None, TASK, names_delegates=True)
    assert is_allowed(principal("c", kind), REGISTER_TASK, new)
    assert is_allowed(principal("c", kind), REGISTER_TASK, new._replace(coordinator="c"))


def test_only_users_and_admins_name_another_coordinator() -> None:
    new = Registration("alice", "chief")
    assert not is_allowed(BOSS, REGISTER_TASK, new)
    assert is_allowed(principal("u", "user"), REGISTER_TASK, new)
    assert is_allowed(replace_permissions(BOSS), REGISTER_TASK, new)


def replace_permissions(holder: Principal) -> Principal:
    """Give a principal `memory.admin`, too."""
    return holder._replace(permissions=holder.permissions | {ADMIN})


@pytest.mark.parametrize(
    ("fields", "assignee", "expected"),
    [
        ({"assigned_agent"}, "bob", True),
        ({"assigned_agent", "note"}, "bob", True),
        ({"assigned_agent", "note", "output"}, "bob", True),
        ({"assigned_agent"}, "carl", False),
        ({"assigned_agent"}, None, False),
        ({"assigned_agent", "status"}, "bob", False),
        ({"assigned_agent", "delegates"}, "bob", False),
        ({"assigned_agent", "coordinator"}, "bob", False),
    ],
)
def test_an_assignee_hands_over_to_a_delegate(
    fields: set[str], assignee: str | None, expected: bool
) -> None:
    target = TaskTarget(DELEGATING, NOW, fields=frozenset(fields), assignee=assignee)
    assert is_allowed(ALICE, CHANGE_TASK, target) == expected
    assert not is_allowed(principal("bob"), CHANGE_TASK, target)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (Registration(None), True),
        (Registration("alice"), True),
        (Registration("alice", parent=OWN), True),
        (Registration("bob"), False),
        (Registration(None, "alice"), False),
        (Registration(None, "boss"), False),
        (Registration(None, names_delegates=True), False),
        (Registration("bob", parent=OWN), False),
        (Registration("alice", parent=replace(OWN, assigned_agent="bob")), False),
        (Registration(None, parent=TASK), True),
        (Registration("alice", "boss", TASK), True),
        (Registration("alice", "rival", TASK), False),
        (Registration("bob", parent=TASK), False),
        (Registration("bob", parent=DELEGATING), True),
        (Registration("carl", parent=DELEGATING), False),
        (Registration("carl", parent=OPEN_TO_ALL), True),
        (Registration("bob", "alice", DELEGATING), False),
        (Registration("bob", parent=DELEGATING, names_delegates=True), False),
        (Registration("bob", parent=replace(DELEGATING, coordinator=None)), False),
        (Registration("alice", parent=replace(OPEN_TO_ALL, assigned_agent="bob")), False),
    ],
)
def test_an_agent_registers_for_itself_and_for_delegates(new: Registration, expected: bool) -> None:
    assert is_allowed(ALICE, REGISTER_TASK, new) is expected


@pytest.mark.parametrize("kind", ["agent", "coordinator", "user"])
def test_only_a_parents_assignee_or_coordinator_lets_a_sub_task_inherit(kind: Kind) -> None:
    target = TaskTarget(TASK, NOW)
    assert not is_allowed(principal("stranger", kind), LET_INHERIT, target)
    assert is_allowed(principal("alice", kind), LET_INHERIT, target)
    assert is_allowed(principal("boss", kind), LET_INHERIT, target) is (kind != "agent")


@pytest.mark.parametrize(
    ("kind", "task", "expected"),
    [
        ("coordinator", OWN, True),
        ("user", replace(OWN, completed_at=NOW, intent_id="other"), True),
        ("agent", OWN, False),
        ("coordinator", TASK, False),
    ],
)
def test_coordinators_and_users_adopt_a_task_without_coordinator(
    kind: Kind, task: Task, expected: bool
) -> None:
    assert is_allowed(principal("boss", kind), ADOPT_TASK, task) is expected


@pytest.mark.parametrize("field", sorted(TaskChange.model_fields))
def test_a_coordinator_changes_all_and_an_assignee_its_results(field: str) -> None:
    target = TaskTarget(TASK, NOW, fields=frozenset({field}), status="failed")
    assert decide(BOSS, CHANGE_TASK, target).rule == "coordinator of the task"
    assert is_allowed(ALICE, CHANGE_TASK, target) is (field in RESULTS)
    both = target._replace(fields=frozenset({field, "status"}))
    assert is_allowed(ALICE, CHANGE_TASK, both) is (field in RESULTS)
    assert not is_allowed(principal("stranger", "user"), CHANGE_TASK, target)


@pytest.mark.parametrize("kind", ["agent", "user"])
@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"assigned_agent"}, None, True),
        ({"coordinator", "assigned_agent"}, None, True),
        ({"status"}, "cancelled", True),
        ({"status"}, "completed", False),
        ({"memory_policy"}, None, False),
        ({"status", "output"}, "cancelled", False),
        ({"delegates"}, None, False),
    ],
)
def test_an_administrator_repairs_a_task(
    kind: Kind, fields: set[str], status: Status | None, expected: bool
) -> None:
    target = TaskTarget(TASK, NOW, fields=frozenset(fields), status=status)
    assert is_allowed(principal("root", kind, [ADMIN]), CHANGE_TASK, target) is expected
