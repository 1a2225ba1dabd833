"""Decide on tasks: roles, states, versions and changes; pure."""

from dataclasses import replace
from typing import Any

from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.errors import (
    AccessDenied,
    CapacityExceeded,
    NotFound,
    TaskClosed,
    ValidationFailed,
    ValueTooLarge,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_SUB_TASKS, MAX_TASK_FIELDS_BYTES
from functions.tasks.model import ENDED, Policy, Task, TaskUsage
from functions.tasks.requests import EXTRA_FIELDS, NewTask, TaskChange


def is_coordinator(caller: Principal, task: Task) -> bool:
    """Tell whether the caller is the task's coordinator; a principal of kind agent never is."""
    return caller.may_coordinate and caller.id == task.coordinator


def is_assignee_or_coordinator(caller: Principal, task: Task) -> bool:
    return caller.id == task.assigned_agent or is_coordinator(caller, task)


def assert_can_coordinate(kind: str | None) -> None:
    """Check that a principal of this kind may coordinate; None is no principal."""
    if kind not in ("coordinator", "user"):
        raise AccessDenied("only a coordinator or user can coordinate a task")


def assert_takes_sub_task(caller: Principal, parent: Task) -> None:
    """Check the maximum number of sub-tasks of a task's assignee."""
    if not caller.may_coordinate and parent.sub_tasks >= MAX_SUB_TASKS:
        remedy = "let the coordinator register more"
        raise CapacityExceeded("sub_tasks", parent.sub_tasks, MAX_SUB_TASKS, remedy)


def assert_open(task: Task) -> None:
    """Check that a task can be changed."""
    if task.completed_at is not None:
        raise TaskClosed(f"the task has ended ({task.status}), and can't be changed")


def version_mismatch(present: Task) -> VersionMismatch:
    """Build the error of a change that another one has preceded."""
    return VersionMismatch.of("the task", present.version, present)


def choose_roles(
    caller: Principal, new: NewTask, parent: Task | None
) -> tuple[str | None, str | None]:
    """Return the assignee and coordinator of a task that the caller may register."""
    if caller.may_coordinate:
        return new.assigned_agent, new.coordinator or caller.id
    return new.assigned_agent or caller.id, None if parent is None else parent.coordinator


def build_task(
    new: NewTask,
    caller: Principal,
    roles: tuple[str | None, str | None],
    now: int,
    token: RequestToken,
) -> Task:
    """Build a new task; if it is registered as ended, there is nothing to archive."""
    assignee, coordinator = roles
    policy = Policy() if new.memory_policy is None else new.memory_policy.policy
    ended = now if new.status in ENDED else None
    return Task(
        id=new.id or keys.build_id("task", token.key),
        intent_id=new.intent_id,
        status=new.status,
        version=1,
        created_at=now,
        updated_at=now,
        memory_policy=policy,
        assigned_agent=assignee,
        coordinator=coordinator,
        parent_task_id=new.parent_task_id,
        started_at=now if new.status == "running" else None,
        completed_at=ended,
        archived_at=ended,
        registered_by=caller.id,
        is_of_agents=not caller.may_coordinate,
        delegates=None if new.delegates is None else tuple(dict.fromkeys(new.delegates)),
        free_entries=policy.max_entries,
        free_bytes=policy.max_bytes,
        extra_fields=_merge_extra_fields({}, new),
        request=token.stored,
    )


def build_task_of_write(
    caller: Principal, task_id: str, intent: str | None, now: int, usage: TaskUsage
) -> Task:
    """Build the task that a write to an unregistered task registers."""
    policy = Policy()
    return Task(
        id=task_id,
        intent_id=intent,
        status="running",
        version=1,
        created_at=now,
        updated_at=now,
        memory_policy=policy,
        assigned_agent=caller.id,
        free_entries=policy.max_entries - usage.entries,
        free_bytes=policy.max_bytes - usage.size,
        registered_by=caller.id,
    )


def end_before_take_over(present: Task, now: int) -> Task:
    """End an agent's own task; its memory is archived to the agent's own log."""
    return replace(
        present,
        updated_at=now,
        completed_at=now,
        version=present.version + 1,
        status="cancelled",
        intent_id=None,
        adopted_at=now,
        leaving=(),
        memory_policy=present.memory_policy._replace(archive_on_completion=True),
    )


def task_not_found() -> NotFound:
    """Build the error for a task that does not exist in this tenant."""
    return NotFound("no task has this id; check it, or create the task first")


def keeps_memory(present: Task, wanted: Task) -> bool:
    """Tell whether an adoption keeps the task's memory; else it only takes the id."""
    is_of_coordinator = present.coordinator in (None, wanted.coordinator)
    return is_of_coordinator and present.assigned_agent == wanted.assigned_agent


def adopt_task(present: Task, wanted: Task) -> Task:
    """Return a task of agents after its adoption by a registration, with its counts.

    Its end and its fields are dropped. Grants of its assignee end with the term. If it doesn't keep
    its memory, it is a new task.
    """
    adopted = replace(
        with_present_state(wanted, present),
        version=present.version + 1,
        archived_at=None,
        term=present.term + 1,
    )
    if not keeps_memory(present, wanted):
        return adopted
    is_moved = present.intent_id != wanted.intent_id
    adopted_at = wanted.created_at if is_moved else present.adopted_at
    return replace(adopted, created_at=present.created_at, adopted_at=adopted_at)


def with_present_state(task: Task, present: Task) -> Task:
    """Return a task with the stored one's counts and guardrails."""
    return replace(
        task,
        held=present.held,
        attached=present.attached,
        counter_changes=present.counter_changes,
        entry_cap=present.entry_cap,
        archive_required=present.archive_required,
    )


def assert_consistent(change: TaskChange, task_id: str) -> None:
    """Check that the fields of a change agree with each other, and with the id in the path."""
    if not change.model_fields_set - {"task_id"}:
        raise ValidationFailed("body", "must have a field to change")
    if "note" in change.model_fields_set and change.assigned_agent is None:
        raise ValidationFailed("body", "a note needs `assigned_agent`")
    if change.task_id not in (None, task_id):
        raise ValidationFailed("task_id", "must be the id in the path")


def is_same_version(read: Task, present: Task) -> bool:
    """Tell whether a task is open, and has the version that was read.

    Its counts and guardrails may have changed.
    """
    return present.version == read.version and present.completed_at is None


def apply_change(task: Task, change: TaskChange, now: int, token: RequestToken) -> Task:
    """Return the task after a change.

    If it gets its first coordinator, a new term begins, and its agent's fields are dropped.
    """
    given = change.model_fields_set
    assignee = change.assigned_agent if "assigned_agent" in given else task.assigned_agent
    coordinator = change.coordinator or task.coordinator
    status = change.status or task.status
    is_handed_over = assignee != task.assigned_agent
    is_adopted = task.coordinator is None and coordinator is not None
    policy, extra_fields = (Policy(), {}) if is_adopted else (task.memory_policy, task.extra_fields)
    return replace(
        task,
        updated_at=now,
        started_at=now if status == "running" and task.started_at is None else task.started_at,
        completed_at=now if status in ENDED else task.completed_at,
        version=task.version + 1,
        status=status,
        assigned_agent=assignee,
        coordinator=coordinator,
        registered_by=coordinator if is_adopted else task.registered_by,
        delegates=tuple(dict.fromkeys(change.delegates or ()))
        if "delegates" in given
        else task.delegates,
        hand_over_note=change.note if is_handed_over or change.note else task.hand_over_note,
        # Example: alice grants carol read access in term 1. The hand-over to bob starts term 2, in
        # which her grant isn't valid; a grant of the coordinator has no term and stays.
        term=task.term + (is_handed_over or is_adopted),
        parent_term=None if is_handed_over else task.parent_term,
        guarded_by=task.guarded_by
        if coordinator == task.coordinator
        else _find_guarding(task, coordinator),
        # The entries of principals that leave are fenced after this write. An end needs no fence,
        # since nothing is written for an ended task.
        leaving=() if status in ENDED else _find_leaving(task, assignee, coordinator),
        memory_policy=policy
        if change.memory_policy is None
        else policy._replace(**change.memory_policy.model_dump(exclude_unset=True)),
        extra_fields=_merge_extra_fields(extra_fields, change)
        if given & EXTRA_FIELDS
        else extra_fields,
        request=token.stored,
    )


def _find_guarding(task: Task, coordinator: str | None) -> tuple[str, ...]:
    before = dict.fromkeys((*task.guarded_by, *filter(None, (task.coordinator,))))
    return tuple(each for each in before if each != coordinator)


def _find_leaving(task: Task, assignee: str | None, coordinator: str | None) -> tuple[str, ...]:
    """Return former assignees and coordinators without a role, whose entries must be fenced."""
    before = dict.fromkeys((*task.leaving, task.assigned_agent, task.coordinator))
    return tuple(each for each in before if each and each not in (assignee, coordinator))


def _merge_extra_fields(before: dict[str, Any], body: NewTask | TaskChange) -> dict[str, Any]:
    """Merge the fields that memory doesn't use; None removes one."""
    given = body.model_dump(include=set(EXTRA_FIELDS), exclude_unset=True)
    merged = {name: value for name, value in {**before, **given}.items() if value is not None}
    size = len(dumps_checked(merged, "body"))
    if size > MAX_TASK_FIELDS_BYTES:
        raise ValueTooLarge(
            "the task's own fields are too large; keep bulk data elsewhere",
            max=MAX_TASK_FIELDS_BYTES,
            actual=size,
        )
    return merged
