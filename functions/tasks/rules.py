"""Who may do what with a task or an intent, and what a change makes of a task; pure decisions
(contract §4, §5; RFC-0015 §6.5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from functions.identity.model import ADMIN, Principal
from functions.platform import keys
from functions.platform.errors import AccessDenied, TaskClosed, ValueTooLarge, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_TASK_FIELDS_BYTES
from functions.tasks.model import ENDED, RESULTS, Grant, Intent, Policy, Status, Task, TaskUsage
from functions.tasks.requests import NewTask, TaskChange


def is_coordinator(caller: Principal, task: Task) -> bool:
    """Whether the caller is the task's coordinator; a principal of kind agent never is."""
    return caller.may_coordinate and caller.id == task.coordinator


def is_assignee_or_coordinator(caller: Principal, task: Task) -> bool:
    """Whether the caller is the task's coordinator or present assignee."""
    return caller.id == task.assignee or is_coordinator(caller, task)


def find_grant(caller: Principal, task: Task, now: int) -> Grant | None:
    """Return the caller's grant on the task, if it has one that hasn't expired."""
    own = (each for each in task.grants if each.principal == caller.id and each.expires > now)
    return next(own, None)


def may_read_memory(caller: Principal, task: Task, now: int) -> bool:
    """Whether the caller reads all working memory of the task, inheritance aside."""
    return is_assignee_or_coordinator(caller, task) or find_grant(caller, task, now) is not None


def may_write_memory(caller: Principal, task: Task, now: int) -> bool:
    """Whether the caller may create working memory in the task's scope."""
    grant = find_grant(caller, task, now)
    has_write_grant = grant is not None and grant.access == "write"
    return is_assignee_or_coordinator(caller, task) or has_write_grant


def may_read_intent(caller: Principal, intent: Intent) -> bool:
    """Whether the caller reads the intent's tasks and log."""
    takes_part = caller.id == intent.owner or caller.id in intent.participants
    return takes_part or caller.id in intent.acl or ADMIN in caller.permissions


def may_set_acl(caller: Principal, intent: Intent) -> bool:
    """Whether the caller may replace the intent's access list."""
    return caller.id == intent.owner or ADMIN in caller.permissions


def may_list_agent_task(caller: Principal, task: Task) -> bool:
    """Whether the caller sees the task among an agent's open ones."""
    return caller.id in task.participants or ADMIN in caller.permissions


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
    if caller.id != task.assignee:
        raise AccessDenied("only its coordinator and its assignee change a task")
    if not fields <= RESULTS:
        raise AccessDenied("an assignee sets a task's status and results, its coordinator the rest")


def is_adoptable(task: Task, new: NewTask, assignee: str | None) -> bool:
    """Whether a coordinator may adopt this task by registering its id (contract §5)."""
    unclaimed = task.registered_by_write and task.coordinator is None and task.ended is None
    return unclaimed and task.assignee == assignee and task.intent in (None, new.intent_id)


def build_task(
    new: NewTask,
    caller: Principal,
    roles: tuple[str | None, str | None],
    now: int,
    token: RequestToken,
) -> Task:
    """Build a task as it is registered; one that is registered as ended has nothing to archive.

    Args:
        new: the request.
        caller: who registers it.
        roles: its assignee and coordinator.
        now: the time in epoch ms.
        token: the request's.

    Raises:
        ValueTooLarge: the fields that memory doesn't use are over 128 KB.
    """
    assignee, coordinator = roles
    policy = Policy() if new.memory_policy is None else new.memory_policy.policy
    ended = now if new.status in ENDED else None
    return Task(
        id=new.id or keys.build_id("task", token.key),
        intent=new.intent_id,
        status=new.status,
        version=1,
        created=now,
        updated=now,
        policy=policy,
        assignee=assignee,
        coordinator=coordinator,
        parent=new.parent_task_id,
        started=now if new.status == "running" else None,
        ended=ended,
        archived=ended,
        agents=frozenset() if assignee is None else frozenset({assignee}),
        free_entries=policy.max_entries,
        free_kb=policy.max_total_size_kb,
        participants=frozenset({caller.id} | {each for each in roles if each}),
        extra_fields=_merge_extra_fields({}, new.extra_fields),
        request=token.stored,
    )


def build_task_of_write(
    caller: Principal, task_id: str, intent: str | None, now: int, usage: TaskUsage
) -> Task:
    """Build the task that a write to an unregistered task registers (contract §5)."""
    policy = Policy()
    return Task(
        id=task_id,
        intent=intent,
        status="running",
        version=1,
        created=now,
        updated=now,
        policy=policy,
        assignee=caller.id,
        registered_by_write=True,
        free_entries=policy.max_entries - usage.entries,
        free_kb=policy.max_total_size_kb - usage.kb,
        participants=frozenset({caller.id}),
    )


def adopt_task(present: Task, wanted: Task) -> Task:
    """Return a task that a write registered as the registration wants it, with what it holds."""
    return replace(
        with_counters(wanted, present),
        version=present.version + 1,
        created=present.created,
        archived=None,
        participants=present.participants | wanted.participants,
        registered_by_write=False,
        adopted=wanted.created if present.intent is None else None,
    )


def with_counters(task: Task, present: Task) -> Task:
    """Return a task that counts what the stored one holds."""
    return replace(
        task,
        working_entries=present.working_entries,
        attached=present.attached,
        agents=present.agents | task.agents,
        counter_changes=present.counter_changes,
    )


def is_same_version(read: Task, present: Task) -> bool:
    """Whether a task is open, and at the version that was read; its counters may have changed."""
    return present.version == read.version and present.ended is None


def apply_change(task: Task, change: TaskChange, now: int, token: RequestToken) -> Task:
    """Return the task after a change.

    Raises:
        ValueTooLarge: the fields that memory doesn't use are over 128 KB.
    """
    given = change.model_fields_set
    assignee = change.assigned_agent if "assigned_agent" in given else task.assignee
    added = {assignee} if assignee else set[str]()
    status = change.status or task.status
    return replace(
        task,
        **_times(task, status, now),
        version=task.version + 1,
        status=status,
        assignee=assignee,
        policy=_merge_policy(task.policy, change),
        participants=task.participants | added,
        agents=task.agents | added,
        extra_fields=_merge_extra_fields(task.extra_fields, change.extra_fields),
        request=token.stored,
    )


def _times(task: Task, status: Status, now: int) -> dict[str, Any]:
    """The times that a change to a status sets."""
    times: dict[str, Any] = {"updated": now}
    if status == "running" and task.started is None:
        times["started"] = now
    if status in ENDED:
        times["ended"] = now
    return times


def _merge_policy(policy: Policy, change: TaskChange) -> Policy:
    if change.memory_policy is None:
        return policy
    return replace(policy, **change.memory_policy.model_dump(exclude_unset=True))


def _merge_extra_fields(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the fields that memory doesn't use; None takes one away."""
    merged = {name: value for name, value in {**before, **given}.items() if value is not None}
    size = len(dumps_checked(merged, "body"))
    if size > MAX_TASK_FIELDS_BYTES:
        raise ValueTooLarge(
            "the task's own fields are too large; keep bulk data elsewhere",
            max=MAX_TASK_FIELDS_BYTES,
            actual=size,
        )
    return merged
