"""Who may do what with a task or an intent; pure decisions (contract §4, §5)."""

from functions.identity.model import Principal
from functions.platform.errors import AccessDenied, TaskClosed, VersionMismatch
from functions.tasks.model import RESULTS, Task
from functions.tasks.requests import NewTask


def is_coordinator(caller: Principal, task: Task) -> bool:
    """Whether the caller is the task's coordinator; a principal of kind agent never is."""
    return caller.may_coordinate and caller.id == task.coordinator


def is_assignee_or_coordinator(caller: Principal, task: Task) -> bool:
    """Whether the caller is the task's coordinator or present assignee."""
    return caller.id == task.assignee or is_coordinator(caller, task)


def assert_open(task: Task) -> None:
    """Check that a task takes changes.

    Raises:
        TaskClosed: it has ended.
    """
    if task.ended is not None:
        raise task_closed(task)


def task_closed(task: Task) -> TaskClosed:
    """Build the error of a change to a task that has ended."""
    return TaskClosed(f"the task has ended ({task.status}); it takes no more changes")


def assert_version(task: Task, version: int) -> None:
    """Check that the caller has read the present version.

    Raises:
        VersionMismatch: the task is at another version.
    """
    if version != task.version:
        raise version_mismatch(task)


def version_mismatch(present: Task) -> VersionMismatch:
    """Build the error of a change that another one preceded."""
    return VersionMismatch(
        f"the task is at version {present.version}; read it and try again",
        current=present,
        version=present.version,
    )


def choose_roles(
    caller: Principal, new: NewTask, parent: Task | None
) -> tuple[str | None, str | None]:
    """Return the assignee and coordinator of a task that the caller registers (contract §5).

    Raises:
        AccessDenied: the caller would give authority that it doesn't have.
    """
    if new.memory_policy and new.memory_policy.inherit_from_parent:
        assert_may_inherit(caller, parent)
    if caller.may_coordinate:
        return new.assigned_agent, new.coordinator or caller.id
    if parent is not None:
        return _choose_sub_task_roles(caller.id, new, parent)
    if new.assigned_agent not in (None, caller.id) or new.coordinator is not None:
        raise AccessDenied("an agent registers a task for itself alone, without a coordinator")
    return caller.id, None


def choose_parent_term(caller: Principal, task: Task, parent: Task | None) -> int | None:
    """Return the parent's term with which a sub-task's inheritance ends (contract §5).

    None where it doesn't: its coordinator registers it, or it is for another agent.
    """
    if parent is None or is_coordinator(caller, parent) or task.assignee != caller.id:
        return None
    return parent.term


def assert_may_inherit(caller: Principal, parent: Task | None) -> None:
    """Check that the caller may let a sub-task inherit from this parent.

    Raises:
        AccessDenied: it is neither the parent's coordinator nor its assignee.
    """
    if parent is None or not is_assignee_or_coordinator(caller, parent):
        raise AccessDenied("only the parent's coordinator or assignee lets a sub-task inherit")


def _choose_sub_task_roles(
    caller: str, new: NewTask, parent: Task
) -> tuple[str | None, str | None]:
    if caller != parent.assignee:
        raise AccessDenied("an agent registers sub-tasks of a task that it is assigned to")
    if new.coordinator not in (None, parent.coordinator):
        raise AccessDenied("a sub-task that an agent registers has its parent's coordinator")
    return new.assigned_agent or caller, parent.coordinator


def assert_may_change(caller: Principal, task: Task, fields: set[str]) -> None:
    """Check who changes what: the coordinator all fields, the assignee the results.

    Raises:
        AccessDenied: one of the fields isn't the caller's to change.
    """
    if is_coordinator(caller, task):
        return
    if not fields <= RESULTS:
        raise AccessDenied("an assignee sets a task's status and results, its coordinator the rest")


def is_adoptable(task: Task, new: NewTask, assignee: str | None) -> bool:
    """Whether a coordinator may adopt this task by registering its id (contract §5)."""
    unclaimed = task.registered_by_write and task.coordinator is None and task.ended is None
    return unclaimed and task.assignee == assignee and task.intent in (None, new.intent_id)
