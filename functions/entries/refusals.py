"""Why a write can't be: limits, roles and versions, as the refused transaction showed them."""

from functions.entries.model import Entry
from functions.entries.plan import Plan
from functions.entries.writes import Tally, Transition
from functions.platform.errors import (
    AccessDenied,
    CapacityExceeded,
    ServiceError,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.items import Item
from functions.platform.limits import DEFAULT_EPISODIC_ENTRIES, MAX_WORKING_ENTRIES, MAX_WORKING_KB
from functions.tasks import rules as task_rules
from functions.tasks.model import Task


def refuse_if_all_pinned(counters: Item, index: int) -> None:
    """Raises unless the index of what may be evicted is merely behind."""
    most = counters.get("ep_capacity", DEFAULT_EPISODIC_ENTRIES)
    count = most - counters.get("ep_room", most)
    if counters.get("ep_pinned", 0) >= count:
        raise CapacityExceeded("episodic_capacity", count, most).at(index)


def mismatch(present: Entry) -> VersionMismatch:
    """The refusal of a change that names another version than the present one."""
    return VersionMismatch(
        f"the entry is at version {present.version}; merge with it and try again",
        current=present,
        version=present.version,
    )


def assert_room(plan: Plan, task: Task, step: Transition | None, tally: Tally, index: int) -> None:
    """Raises what keeps the plan's entries out of a task; nothing if it is only unknown to it."""
    try:
        if step is not None:
            _assert_may_use(plan, task, step, tally)
        if tally.any():
            task_rules.assert_open(task)
        _assert_fits(task, tally)
    except ServiceError as error:
        error.at(index)
        raise


def _assert_may_use(plan: Plan, task: Task, step: Transition, tally: Tally) -> None:
    takes_part = not (tally.working or tally.attached) and plan.caller.id in task.parties
    if not takes_part and not task_rules.may_write_memory(plan.caller, task, plan.now):
        raise AccessDenied("only a task's assignee, coordinator and grant holders write for it")
    if step.either.intent not in (None, task.intent):
        raise ValidationFailed("scope.intent_id", "is not the task's intent")


def _assert_fits(task: Task, tally: Tally) -> None:
    for limit, more, room, most in (
        ("max_entries", tally.working, task.room, task.most_entries),
        ("max_total_size_kb", tally.working_kb, task.room_kb, task.policy.max_total_size_kb),
    ):
        if more > 0 and room < more:
            raise CapacityExceeded(limit, most - room, most)


def assert_working_fits(tally: Tally, item: Item, index: int) -> None:
    """Raises `CapacityExceeded` where an agent's working memory outside tasks is full."""
    for limit, more, room, most in (
        ("max_entries", tally.working, "wk_room", MAX_WORKING_ENTRIES),
        ("max_total_size_kb", tally.working_kb, "wk_room_kb", MAX_WORKING_KB),
    ):
        if more > 0 and more > item.get(room, most):
            raise CapacityExceeded(limit, most - item.get(room, most), most).at(index)
