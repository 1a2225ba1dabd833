"""What a task looks like after it is registered or changed; pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.errors import ValueTooLarge
from functions.platform.idempotency import RequestToken
from functions.platform.jsontext import compact_json
from functions.platform.limits import MAX_TASK_FIELDS_BYTES
from functions.tasks.model import ENDED, Policy, Status, Task

if TYPE_CHECKING:
    from functions.tasks.requests import NewTask, TaskChange


def new_task(
    new: NewTask,
    caller: Principal,
    assignee: str | None,
    coordinator: str | None,
    now: int,
    token: RequestToken,
) -> Task:
    """A task as it is registered.

    Raises:
        ValueTooLarge: the fields that memory doesn't use are over 128 KB.
    """
    policy = Policy() if new.memory_policy is None else new.memory_policy.policy
    return Task(
        id=new.id or keys.id_of("task", token.key),
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
        ended=now if new.status in ENDED else None,
        room=policy.max_entries,
        room_kb=policy.max_total_size_kb,
        parties=frozenset({caller.id} | {each for each in (assignee, coordinator) if each}),
        kept=_kept({}, new),
        request=token.stored,
    )


def changed(task: Task, change: TaskChange, now: int, token: RequestToken) -> Task:
    """The task after a change.

    Raises:
        ValueTooLarge: the fields that memory doesn't use are over 128 KB.
    """
    given = change.model_fields_set
    assignee = change.assigned_agent if "assigned_agent" in given else task.assignee
    status = change.status or task.status
    return replace(
        task,
        **_times(task, status, now),
        version=task.version + 1,
        status=status,
        assignee=assignee,
        policy=_policy(task.policy, change),
        parties=task.parties | ({assignee} if assignee else set()),
        kept=_kept(task.kept, change),
        request=token.stored,
    )


def _times(task: Task, status: Status, now: int) -> dict[str, Any]:
    times: dict[str, Any] = {"updated": now}
    if status == "running" and task.started is None:
        times["started"] = now
    if status in ENDED:
        times["ended"] = now
    return times


def _policy(policy: Policy, change: TaskChange) -> Policy:
    if change.memory_policy is None:
        return policy
    return replace(policy, **change.memory_policy.model_dump(exclude_unset=True))


def _kept(before: dict[str, Any], body: NewTask | TaskChange) -> dict[str, Any]:
    kept = {name: value for name, value in (before | body.kept).items() if value is not None}
    size = len(compact_json(kept, "body"))
    if size > MAX_TASK_FIELDS_BYTES:
        raise ValueTooLarge(
            "the task's own fields are too large; keep bulk data elsewhere",
            max=MAX_TASK_FIELDS_BYTES,
            actual=size,
        )
    return kept
