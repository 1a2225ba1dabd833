"""Who may do what with a task or an intent."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from functions.identity.model import Kind
from functions.platform.errors import AccessDenied, TaskClosed, VersionMismatch
from functions.tasks import rules
from functions.tasks.model import RESULTS, Task
from functions.tasks.requests import TaskChange
from tests.unit.tasks.making import NOW, TASK, new_task, principal

KINDS: tuple[Kind, ...] = get_args(Kind)


@pytest.mark.parametrize(
    ("kind", "expected"), [("agent", False), ("coordinator", True), ("user", True)]
)
def test_an_agent_is_never_a_coordinator(kind: Kind, expected: bool) -> None:
    assert rules.is_coordinator(principal("boss", kind), TASK) is expected
    assert not rules.is_coordinator(principal("other", kind), TASK)


@pytest.mark.parametrize("field", sorted(TaskChange.model_fields))
def test_an_assignee_changes_results_and_a_coordinator_all(field: str) -> None:
    rules.assert_may_change(principal("boss", "coordinator"), TASK, {field})
    if field in RESULTS:
        rules.assert_may_change(principal("alice"), TASK, {field})
    else:
        with pytest.raises(AccessDenied):
            rules.assert_may_change(principal("alice"), TASK, {field, "status"})


def test_a_coordinator_coordinates_what_it_registers() -> None:
    boss = principal("boss", "coordinator")
    assert rules.choose_roles(boss, new_task(assigned_agent="bob"), None) == ("bob", "boss")
    assert rules.choose_roles(boss, new_task(coordinator="chief"), None) == (None, "chief")


@pytest.mark.parametrize(
    "fields", [{"assigned_agent": "bob"}, {"coordinator": "boss"}, {"coordinator": "alice"}]
)
def test_an_agent_registers_for_itself_without_a_coordinator(fields: dict[str, str]) -> None:
    alice = principal("alice")
    assert rules.choose_roles(alice, new_task(), None) == ("alice", None)
    assert rules.choose_roles(alice, new_task(assigned_agent="alice"), None) == ("alice", None)
    with pytest.raises(AccessDenied):
        rules.choose_roles(alice, new_task(**fields), None)


def test_an_agents_sub_task_has_the_parents_coordinator() -> None:
    alice = principal("alice")
    assert rules.choose_roles(alice, new_task(assigned_agent="bob"), TASK) == ("bob", "boss")
    assert rules.choose_roles(alice, new_task(coordinator="boss"), TASK) == ("alice", "boss")
    for caller, fields in ((principal("bob"), {}), (alice, {"coordinator": "alice"})):
        with pytest.raises(AccessDenied):
            rules.choose_roles(caller, new_task(**fields), TASK)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parent", [TASK, None])
def test_only_a_parents_assignee_or_coordinator_allows_inheritance(
    kind: Kind, parent: Task | None
) -> None:
    inheriting = new_task(memory_policy={"inherit_from_parent": True})
    with pytest.raises(AccessDenied):
        rules.choose_roles(principal("stranger", kind), inheriting, parent)
    if parent is not None:
        assert rules.choose_roles(principal("alice", kind), inheriting, parent)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"registered_by_write": False}, False),
        ({"coordinator": "boss"}, False),
        ({"ended": NOW}, False),
        ({"assignee": "bob"}, False),
        ({"intent": None}, True),
        ({"intent": "intent_2"}, False),
    ],
)
def test_only_an_open_unclaimed_task_of_the_same_assignee_is_adopted(
    changes: dict[str, Any], expected: bool
) -> None:
    task = replace(TASK, coordinator=None, registered_by_write=True)
    assert rules.is_adoptable(replace(task, **changes), new_task(), "alice") is expected


def test_an_ended_task_takes_no_change() -> None:
    rules.assert_open(TASK)
    with pytest.raises(TaskClosed):
        rules.assert_open(replace(TASK, ended=NOW))


@pytest.mark.parametrize("version", [2, 4])
def test_a_change_names_the_present_version(version: int) -> None:
    rules.assert_version(TASK, 3)
    with pytest.raises(VersionMismatch):
        rules.assert_version(TASK, version)
