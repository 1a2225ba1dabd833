"""Who may do what with a task, and what a change makes of it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, get_args

import pytest

from functions.identity.model import ADMIN, Kind, Principal
from functions.platform.errors import AccessDenied, TaskClosed, ValueTooLarge, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.tasks import rules
from functions.tasks.model import ENDED, RESULTS, Grant, Intent, Policy, Status, Task, TaskUsage
from functions.tasks.requests import NewTask, TaskChange

NOW = 1_000_000
TOKEN = RequestToken.create()
TASK = Task(
    id="task_1",
    intent="intent_1",
    status="pending",
    version=3,
    created=100,
    updated=200,
    policy=Policy(),
    assignee="alice",
    coordinator="boss",
    free_entries=100,
    free_kb=1024,
    agents=frozenset({"alice"}),
    participants=frozenset({"alice", "boss"}),
    grants=(
        Grant("reader", "read", NOW + 1),
        Grant("writer", "write", NOW + 1),
        Grant("expired", "write", NOW),
    ),
)
KINDS: tuple[Kind, ...] = get_args(Kind)


def principal(id: str, kind: Kind = "agent", permissions: Iterable[str] = ()) -> Principal:
    """A principal of the task's tenant."""
    return Principal("acme", id, kind, frozenset(permissions))


@pytest.mark.parametrize(
    ("kind", "expected"), [("agent", False), ("coordinator", True), ("user", True)]
)
def test_an_agent_is_never_a_coordinator(kind: Kind, expected: bool) -> None:
    assert rules.is_coordinator(principal("boss", kind), TASK) is expected
    assert not rules.is_coordinator(principal("other", kind), TASK)


@pytest.mark.parametrize(
    ("who", "kind", "reads", "writes"),
    [
        ("alice", "agent", True, True),
        ("boss", "coordinator", True, True),
        ("boss", "agent", False, False),
        ("reader", "agent", True, False),
        ("writer", "agent", True, True),
        ("expired", "agent", False, False),
        ("stranger", "coordinator", False, False),
        ("stranger", "user", False, False),
    ],
)
def test_memory_is_for_assignee_coordinator_and_grants(
    who: str, kind: Kind, reads: bool, writes: bool
) -> None:
    caller = principal(who, kind)
    assert rules.may_read_memory(caller, TASK, NOW) is reads
    assert rules.may_write_memory(caller, TASK, NOW) is writes


def test_an_administrator_reads_no_memory_by_its_permission() -> None:
    assert not rules.may_read_memory(principal("root", "user", [ADMIN]), TASK, NOW)


@pytest.mark.parametrize("field", sorted(TaskChange.model_fields))
def test_an_assignee_changes_results_and_a_coordinator_all(field: str) -> None:
    rules.assert_may_change(principal("boss", "coordinator"), TASK, {field})
    if field in RESULTS:
        rules.assert_may_change(principal("alice"), TASK, {field})
    else:
        with pytest.raises(AccessDenied):
            rules.assert_may_change(principal("alice"), TASK, {field, "status"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("who", ["reader", "writer", "stranger"])
def test_nobody_else_changes_a_task(who: str, kind: Kind) -> None:
    with pytest.raises(AccessDenied):
        rules.assert_may_change(principal(who, kind, [ADMIN]), TASK, {"status"})


@pytest.mark.parametrize(
    ("who", "permissions", "reads", "sets"),
    [
        ("owner", [], True, True),
        ("participant", [], True, False),
        ("listed", [], True, False),
        ("admin", [ADMIN], True, True),
        ("stranger", [], False, False),
    ],
)
def test_an_intent_is_for_owner_participants_access_list_and_administrators(
    who: str, permissions: list[str], reads: bool, sets: bool
) -> None:
    intent = Intent("i", "owner", frozenset({"participant"}), {"listed": "read"}, 1)
    caller = principal(who, "user", permissions)
    assert rules.may_read_intent(caller, intent) is reads
    assert rules.may_set_acl(caller, intent) is sets


def new_task(**fields: Any) -> NewTask:
    """A request to register a task."""
    return NewTask(intent_id="intent_1", **fields)


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
def test_only_a_parents_assignee_or_coordinator_lets_a_sub_task_inherit(
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


def test_an_adopted_task_keeps_what_it_holds_and_who_took_part() -> None:
    usage = TaskUsage(entries=2, kb=3)
    written = rules.build_task_of_write(principal("alice"), "task_1", None, 500, usage)
    written = replace(written, working_entries=2, counter_changes=4, agents=frozenset({"alice"}))
    roles = ("alice", "boss")
    wanted = rules.build_task(
        new_task(id="task_1"), principal("boss", "coordinator"), roles, NOW, TOKEN
    )
    adopted = rules.adopt_task(written, wanted)
    assert (adopted.created, adopted.version, adopted.in_intent_since) == (500, 2, NOW)
    assert (adopted.working_entries, adopted.counter_changes) == (2, 4)
    assert adopted.participants == {"alice", "boss"}
    assert (adopted.coordinator, adopted.registered_by_write) == ("boss", False)


@pytest.mark.parametrize("status", get_args(Status))
def test_a_status_sets_the_times_of_a_task(status: Status) -> None:
    changed = rules.apply_change(TASK, TaskChange(status=status), NOW, TOKEN)
    assert (changed.status, changed.version, changed.updated) == (status, 4, NOW)
    assert changed.started == (NOW if status == "running" else None)
    assert changed.ended == (NOW if status in ENDED else None)
    assert changed.awaits_archive is (status in ENDED)
    again = rules.apply_change(changed, TaskChange(status="running"), NOW + 1, TOKEN)
    assert again.started == (NOW if status == "running" else NOW + 1)


@pytest.mark.parametrize("status", get_args(Status))
def test_a_task_registered_as_ended_has_nothing_to_archive(status: Status) -> None:
    task = rules.build_task(
        new_task(status=status), principal("boss", "user"), ("alice", "boss"), NOW, TOKEN
    )
    assert (task.ended is not None) is (status in ENDED)
    assert not task.awaits_archive


def test_an_ended_task_takes_no_change() -> None:
    rules.assert_open(TASK)
    with pytest.raises(TaskClosed):
        rules.assert_open(replace(TASK, ended=NOW))


@pytest.mark.parametrize("version", [2, 4])
def test_a_change_names_the_present_version(version: int) -> None:
    rules.assert_version(TASK, 3)
    with pytest.raises(VersionMismatch):
        rules.assert_version(TASK, version)


def test_only_the_given_fields_of_a_policy_change() -> None:
    task = replace(TASK, policy=Policy(max_entries=7, archive_on_completion=False))
    change = TaskChange.model_validate({"memory_policy": {"max_total_size_kb": 9}})
    changed = rules.apply_change(task, change, NOW, TOKEN)
    assert changed.policy == Policy(max_entries=7, archive_on_completion=False, max_total_size_kb=9)


def test_a_new_assignee_takes_part_beside_the_earlier_ones() -> None:
    changed = rules.apply_change(TASK, TaskChange(assigned_agent="bob"), NOW, TOKEN)
    assert changed.assignee == "bob"
    assert changed.participants == {"alice", "bob", "boss"}
    assert changed.agents == {"alice", "bob"}
    freed = rules.apply_change(TASK, TaskChange(assigned_agent=None), NOW, TOKEN)
    assert freed.assignee is None
    assert freed.agents == {"alice"}


def test_extra_fields_are_merged_and_null_removes_one() -> None:
    task = replace(TASK, extra_fields={"name": "a", "output": 1})
    change = TaskChange.model_validate({"output": None, "error": "e"})
    assert rules.apply_change(task, change, NOW, TOKEN).extra_fields == {"name": "a", "error": "e"}


def test_extra_fields_have_a_limit() -> None:
    rules.apply_change(TASK, TaskChange(output="x" * 131_000), NOW, TOKEN)
    with pytest.raises(ValueTooLarge):
        rules.apply_change(TASK, TaskChange(output="x" * 131_072), NOW, TOKEN)


def test_counters_come_from_the_stored_task() -> None:
    stored = replace(TASK, working_entries=4, attached=1, counter_changes=9, agents=frozenset("c"))
    ended = replace(TASK, status="completed", ended=NOW, version=4)
    merged = rules.with_counters(ended, stored)
    assert (merged.working_entries, merged.attached, merged.counter_changes) == (4, 1, 9)
    assert merged.agents == {"alice", "c"}
    assert (merged.status, merged.version) == ("completed", 4)
    assert rules.is_same_version(TASK, stored)
    assert not rules.is_same_version(TASK, replace(stored, version=4))
    assert not rules.is_same_version(TASK, replace(stored, ended=NOW))
