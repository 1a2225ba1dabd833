"""Roles, states and versions of tasks; pure decisions."""

from functions.identity.model import Principal
from functions.platform.errors import AccessDenied, CapacityExceeded, TaskClosed, VersionMismatch
from functions.platform.limits import MAX_SUB_TASKS
from functions.tasks.model import Task
from functions.tasks.requests import NewTask


def is_coordinator(caller: Principal, task: Task) -> bool:
    """Tell whether the caller is the task's coordinator; a principal of kind agent never is."""
    return caller.may_coordinate and caller.id == task.coordinator


def is_assignee_or_coordinator(caller: Principal, task: Task) -> bool:
    return caller.id == task.assigned_agent or is_coordinator(caller, task)


def assert_can_coordinate(kind: str | None) -> None:
    """Check that a principal of this kind may coordinate; None is no principal."""
    if kind not in ("coordinator", "user"):
        raise AccessDenied("only a principal of kind coordinator or user coordinates a task")


def assert_takes_sub_task(caller: Principal, parent: Task) -> None:
    """Check that a task's assignee hasn't registered all the sub-tasks that it may."""
    if not caller.may_coordinate and parent.sub_tasks >= MAX_SUB_TASKS:
        remedy = "let the coordinator register more"
        raise CapacityExceeded("sub_tasks", parent.sub_tasks, MAX_SUB_TASKS, remedy)


def assert_open(task: Task) -> None:
    """Check that a task takes changes."""
    if task.completed_at is not None:
        raise task_closed(task)


def task_closed(task: Task) -> TaskClosed:
    """Build the error of a change to a task that has ended."""
    return TaskClosed(f"the task has ended ({task.status}), and can't be changed")


def assert_version(task: Task, version: int) -> None:
    """Check that the caller has read the present version."""
    if version != task.version:
        raise version_mismatch(task)


def version_mismatch(present: Task) -> VersionMismatch:
    """Build the error of a change that another one preceded."""
    return VersionMismatch.of("the task", present.version, present)


def choose_roles(
    caller: Principal, new: NewTask, parent: Task | None
) -> tuple[str | None, str | None]:
    """Return the assignee and coordinator of a task that the caller may register."""
    if caller.may_coordinate:
        return new.assigned_agent, new.coordinator or caller.id
    return new.assigned_agent or caller.id, None if parent is None else parent.coordinator


def choose_parent_term(caller: Principal, task: Task, parent: Task | None) -> int | None:
    """Return the parent's term with which a sub-task's inheritance ends.

    None where it doesn't: its coordinator registers it, or it is for another agent.
    """
    if parent is None or is_coordinator(caller, parent) or task.assigned_agent != caller.id:
        return None
    return parent.term
