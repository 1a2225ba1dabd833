"""Test what registration, adoption and a change make of a task."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from functions.platform.errors import ValueTooLarge
from functions.tasks import rules
from functions.tasks.model import ENDED, Policy, Status, TaskUsage
from functions.tasks.requests import TaskChange
from tests.unit.tasks.making import NOW, TASK, TOKEN, new_task, principal


def test_an_adopted_task_keeps_what_it_holds_and_who_took_part() -> None:
    usage = TaskUsage(entries=2, size=3)
    written = rules.build_task_of_write(principal("alice"), "task_1", None, 500, usage)
    written = replace(written, held={"a": 2}, counter_changes=4)
    roles = ("alice", "boss")
    wanted = rules.build_task(
        new_task(id="task_1"), principal("boss", "coordinator"), roles, NOW, TOKEN
    )
    adopted = rules.adopt_task(written, wanted)
    assert (adopted.created_at, adopted.version, adopted.in_intent_since) == (500, 2, NOW)
    assert (adopted.working_entries, adopted.counter_changes) == (2, 4)
    assert adopted.term == written.term + 1
    assert (adopted.coordinator, adopted.term) == ("boss", 2)


@pytest.mark.parametrize("status", get_args(Status))
def test_a_status_sets_the_times_of_a_task(status: Status) -> None:
    changed = rules.apply_change(TASK, TaskChange(status=status), NOW, TOKEN)
    assert (changed.status, changed.version, changed.updated_at) == (status, 4, NOW)
    assert changed.started_at == (NOW if status == "running" else None)
    assert changed.completed_at == (NOW if status in ENDED else None)
    assert changed.awaits_archive is (status in ENDED)
    again = rules.apply_change(changed, TaskChange(status="running"), NOW + 1, TOKEN)
    assert again.started_at == (NOW if status == "running" else NOW + 1)


@pytest.mark.parametrize("status", get_args(Status))
def test_a_task_registered_as_ended_has_nothing_to_archive(status: Status) -> None:
    task = rules.build_task(
        new_task(status=status), principal("boss", "user"), ("alice", "boss"), NOW, TOKEN
    )
    assert (task.completed_at is not None) is (status in ENDED)
    assert not task.awaits_archive


def test_only_the_given_fields_of_a_policy_change() -> None:
    task = replace(TASK, memory_policy=Policy(max_entries=7, archive_on_completion=False))
    change = TaskChange.model_validate({"memory_policy": {"max_total_size_kb": 9}})
    changed = rules.apply_change(task, change, NOW, TOKEN)
    assert changed.memory_policy == Policy(
        max_entries=7, archive_on_completion=False, max_total_size_kb=9
    )


@pytest.mark.parametrize(
    ("change", "leaving"),
    [
        ({"assigned_agent": "bob"}, ("alice",)),
        ({"assigned_agent": None}, ("alice",)),
        ({"coordinator": "chief"}, ("boss",)),
        ({"assigned_agent": "bob", "coordinator": "alice"}, ("boss",)),
        ({"assigned_agent": "alice"}, ()),
        ({"assigned_agent": "bob", "status": "cancelled"}, ()),
    ],
)
def test_who_leaves_an_open_task_is_to_be_fenced(
    change: dict[str, Any], leaving: tuple[str, ...]
) -> None:
    changed = rules.apply_change(TASK, TaskChange(**change), NOW, TOKEN)
    assert changed.leaving == leaving
    assert changed.term == TASK.term + (changed.assigned_agent != "alice")


def test_who_comes_back_is_not_fenced_and_who_left_before_still_is() -> None:
    pending = replace(TASK, assigned_agent="bob", leaving=("alice", "carol"))
    changed = rules.apply_change(pending, TaskChange(assigned_agent="alice"), NOW, TOKEN)
    assert changed.leaving == ("carol", "bob")


def test_extra_fields_are_merged_and_null_removes_one() -> None:
    task = replace(TASK, extra_fields={"name": "a", "output": 1})
    change = TaskChange.model_validate({"output": None, "error": "e"})
    assert rules.apply_change(task, change, NOW, TOKEN).extra_fields == {
        "name": "a",
        "error": "e",
    }


def test_extra_fields_have_a_limit() -> None:
    rules.apply_change(TASK, TaskChange(output="x" * 131_000), NOW, TOKEN)
    with pytest.raises(ValueTooLarge):
        rules.apply_change(TASK, TaskChange(output="x" * 131_072), NOW, TOKEN)


def test_counters_and_guardrails_come_from_the_stored_task() -> None:
    stored = replace(TASK, held={"c": 4}, attached=1, counter_changes=9, entry_cap=5)
    ended = replace(TASK, status="completed", completed_at=NOW, version=4)
    merged = rules.with_present_state(ended, stored)
    assert (merged.working_entries, merged.attached, merged.counter_changes) == (4, 1, 9)
    assert (merged.status, merged.version, merged.entry_cap) == ("completed", 4, 5)
    assert rules.is_same_version(TASK, stored)
    assert not rules.is_same_version(TASK, replace(stored, version=4))
    assert not rules.is_same_version(TASK, replace(stored, completed_at=NOW))
