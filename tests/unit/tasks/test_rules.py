"""Roles, states and versions of tasks."""

from dataclasses import replace

import pytest

from functions.identity.model import Kind
from functions.platform.errors import TaskClosed
from functions.tasks import rules
from tests.unit.tasks.making import NOW, TASK, new_task, principal


@pytest.mark.parametrize(
    ("kind", "expected"), [("agent", False), ("coordinator", True), ("user", True)]
)
def test_an_agent_is_never_a_coordinator(kind: Kind, expected: bool) -> None:
    assert rules.is_coordinator(principal("boss", kind), TASK) is expected
    assert not rules.is_coordinator(principal("other", kind), TASK)


def test_a_coordinator_coordinates_what_it_registers() -> None:
    boss = principal("boss", "coordinator")
    assert rules.choose_roles(boss, new_task(assigned_agent="bob"), None) == ("bob", "boss")
    assert rules.choose_roles(boss, new_task(coordinator="chief"), None) == (None, "chief")


def test_an_agents_task_has_its_parents_coordinator() -> None:
    alice = principal("alice")
    assert rules.choose_roles(alice, new_task(), None) == ("alice", None)
    assert rules.choose_roles(alice, new_task(), TASK) == ("alice", "boss")
    assert rules.choose_roles(alice, new_task(assigned_agent="bob"), TASK) == ("bob", "boss")


def test_an_ended_task_takes_no_change() -> None:
    rules.assert_open(TASK)
    with pytest.raises(TaskClosed):
        rules.assert_open(replace(TASK, completed_at=NOW))
