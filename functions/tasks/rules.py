"""Who may do what with a task or an intent (contract §4, §5); pure decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.identity.model import ADMIN, Principal
from functions.platform.errors import AccessDenied, TaskClosed
from functions.tasks.model import RESULTS, Grant, Intent, Task

if TYPE_CHECKING:
    from functions.tasks.requests import NewTask


def coordinates(caller: Principal, task: Task) -> bool:
    """Whether the caller is the task's coordinator; an agent never is."""
    return caller.may_coordinate and caller.id == task.coordinator


def directs(caller: Principal, task: Task) -> bool:
    """Whether the caller is the task's coordinator or present assignee."""
    return caller.id == task.assignee or coordinates(caller, task)


def grant_of(caller: Principal, task: Task, now: int) -> Grant | None:
    """The caller's grant on the task, if it holds now."""
    held = (each for each in task.grants if each.principal == caller.id and each.expires > now)
    return next(held, None)


def may_read_memory(caller: Principal, task: Task, now: int) -> bool:
    """Whether the caller reads all working memory of the task, inheritance aside."""
    return directs(caller, task) or grant_of(caller, task, now) is not None


def may_write_memory(caller: Principal, task: Task, now: int) -> bool:
    """Whether the caller may create working memory in the task's scope."""
    grant = grant_of(caller, task, now)
    return directs(caller, task) or (grant is not None and grant.access == "write")


def may_read_intent(caller: Principal, intent: Intent) -> bool:
    """Whether the caller reads the intent's tasks and log."""
    member = caller.id == intent.owner or caller.id in intent.parties
    return member or caller.id in intent.acl or ADMIN in caller.permissions


def assert_open(task: Task) -> None:
    """Raises `TaskClosed` if the task has ended."""
    if task.ended is not None:
        raise TaskClosed(f"the task has ended ({task.status}); it takes no more changes")


def roles(caller: Principal, new: NewTask, parent: Task | None) -> tuple[str | None, str | None]:
    """The assignee and coordinator of a task that the caller registers (contract §5).

    Raises:
        AccessDenied: the caller would make authority that it doesn't have.
    """
    if new.memory_policy and new.memory_policy.inherit_from_parent:
        assert_may_inherit(caller, parent)
    if caller.may_coordinate:
        return new.assigned_agent, new.coordinator or caller.id
    if parent is not None:
        return _agents_sub_task(caller.id, new, parent)
    if new.assigned_agent not in (None, caller.id) or new.coordinator is not None:
        raise AccessDenied("an agent registers a task for itself alone, without a coordinator")
    return caller.id, None


def assert_may_inherit(caller: Principal, parent: Task | None) -> None:
    """Raises `AccessDenied` unless the caller may let a sub-task inherit from this parent."""
    if parent is None or not directs(caller, parent):
        raise AccessDenied("only the parent's coordinator or assignee lets a sub-task inherit")


def _agents_sub_task(caller: str, new: NewTask, parent: Task) -> tuple[str | None, str | None]:
    if caller != parent.assignee:
        raise AccessDenied("an agent registers sub-tasks of a task that it is assigned to")
    if new.coordinator not in (None, parent.coordinator):
        raise AccessDenied("a sub-task that an agent registers has its parent's coordinator")
    return new.assigned_agent or caller, parent.coordinator


def assert_may_change(caller: Principal, task: Task, fields: set[str]) -> None:
    """Checks who changes what: all by the coordinator, results by the assignee.

    Raises:
        AccessDenied: not the caller's to change.
    """
    if coordinates(caller, task):
        return
    if caller.id != task.assignee:
        raise AccessDenied("only its coordinator and its assignee change a task")
    if not fields <= RESULTS:
        raise AccessDenied("an assignee sets a task's status and results, its coordinator the rest")


def adoptable(task: Task, new: NewTask, assignee: str | None) -> bool:
    """Whether a coordinator may adopt this task by registering its id (contract §5)."""
    unclaimed = task.by_write and task.coordinator is None and task.ended is None
    return unclaimed and task.assignee == assignee and task.intent in (None, new.intent_id)
