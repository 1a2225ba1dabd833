"""Define what failed conditions on tasks and intents say of them, in a transaction of entries.

The item that comes with a failed condition is either the answer to the caller, as an error, or says
what the next attempt has to assume (`functions.entries.task_scope`).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from functions.authorization.rules import is_allowed
from functions.entries.counters import (
    CounterDelta,
    assert_working_fits,
    count_changes_of_task,
    count_task_changes,
)
from functions.entries.model import Transition
from functions.entries.task_scope import TaskAssumptions, find_changed_tasks, find_scopes
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.errors import AccessDenied, ServiceError, ValidationFailed
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.tasks import rules as task_rules
from functions.tasks.assignment_store import build_own_tasks_error
from functions.tasks.authority import TAKE_PART, WRITE_MEMORY, TaskTarget, authorize_write
from functions.tasks.intent_authority import USE_INTENT
from functions.tasks.mapper import task_from_item
from functions.tasks.model import Membership, Task

ReadMembership = Callable[[str], Membership]
"""Reads what the caller is in a task, by the task's id."""


def resolve_task_conflict(
    caller: Principal,
    transitions: Sequence[Transition],
    now: int,
    known: TaskAssumptions,
    failed: tuple[Key, Item | None],
    read_membership: ReadMembership,
) -> TaskAssumptions:
    """Return what a failed condition on a task's item, or on a grant, says of the task.

    Args:
        transitions: what it writes.
        now: the time in epoch ms.
        known: what was known of the tasks before.
        failed: the key of an item whose condition failed, and the item; not necessarily a task's.
        read_membership: asked where the caller is neither assignee nor coordinator.
    """
    key, item = failed
    attempt = _Attempt(caller, transitions, now)
    for task in attempt.tasks:
        if key == item_types.GRANT.build_key(caller.tenant, task=task, principal=caller.id):
            grants = {name: grant for name, grant in known.grants.items() if name != task}
            return replace(known, grants=grants)
        if key != item_types.TASK.build_key(caller.tenant, task=task):
            continue
        if item is None:
            return replace(known, unregistered=known.unregistered | {task})
        if task in known.unregistered:
            return replace(known, unregistered=known.unregistered - {task})
        try:
            return attempt.resolve(task_from_item(item), known, read_membership)
        except ServiceError as error:
            if error.index is None:
                error.at(_find_index(transitions, task))
            raise
    return known


class _Attempt:
    """Tells what the caller wanted of tasks, to compare with a task as it is stored."""

    def __init__(self, caller: Principal, transitions: Sequence[Transition], now: int) -> None:
        self._caller, self._transitions, self._now = caller, transitions, now
        self._deltas = count_task_changes(transitions)
        self._creates = find_scopes(transitions)
        self._changed = find_changed_tasks(caller, transitions, now)
        self.tasks = self._deltas.keys() | self._creates.keys() | self._changed

    def resolve(
        self, task: Task, known: TaskAssumptions, read_membership: ReadMembership
    ) -> TaskAssumptions:
        """Return what the next attempt has to know of a task; raise why it takes nothing."""
        with_role = self._resolve_role(task, known, read_membership)
        if with_role is not known:
            return with_role
        create, delta = self._creates.get(task.id), self._deltas.get(task.id, CounterDelta())
        if create is not None and create.current.intent_id not in (None, task.intent_id):
            raise ValidationFailed("scope.intent_id", "is not the task's intent")
        if not delta.is_zero():
            task_rules.assert_open(task)
        free = (task.free_entries, task.free_bytes)
        most = (task.max_entries, task.memory_policy.max_bytes)
        assert_working_fits(self._transitions, partial(count_changes_of_task, task.id), free, most)
        if delta.has_creates and (task.id in known.uncoordinated) != (task.coordinator is None):
            return replace(known, uncoordinated=known.uncoordinated ^ {task.id})
        return replace(known, unjoined=known.unjoined | {task.id})

    def _resolve_role(
        self, task: Task, known: TaskAssumptions, read_membership: ReadMembership
    ) -> TaskAssumptions:
        """Return by which role the caller writes, if the role is a condition of the attempt."""
        delta = self._deltas.get(task.id, CounterDelta())
        if task.id in self._changed or delta.has_creates:
            return self._resolve_write(task, known, read_membership)
        if task.id in self._creates and delta.is_zero() and task.id not in known.joined:
            return self._resolve_participation(task, known, read_membership)
        return known

    def _resolve_write(
        self, task: Task, known: TaskAssumptions, read_membership: ReadMembership
    ) -> TaskAssumptions:
        present = Membership(grant=known.grants.get(task.id))
        if is_allowed(self._caller, WRITE_MEMORY, TaskTarget(task, self._now, present)):
            return known
        member = read_membership(task.id)
        authorize_write(self._caller, WRITE_MEMORY, TaskTarget(task, self._now, member))
        if member.grant is None:
            raise AccessDenied(WRITE_MEMORY.denied)
        return replace(known, grants={**known.grants, task.id: member.grant})

    def _resolve_participation(
        self, task: Task, known: TaskAssumptions, read_membership: ReadMembership
    ) -> TaskAssumptions:
        if is_allowed(self._caller, TAKE_PART, TaskTarget(task, self._now)):
            return known
        member = read_membership(task.id)
        authorize_write(self._caller, TAKE_PART, TaskTarget(task, self._now, member))
        return replace(known, joined=known.joined | {task.id})


def _find_index(transitions: Sequence[Transition], task: str) -> int | None:
    return next(
        transition.index
        for transition in transitions
        for entry in (transition.old, transition.new)
        if entry is not None and entry.task_id == task
    )


def assert_may_register(
    caller: Principal, transitions: Sequence[Transition], failed_keys: Collection[Key]
) -> None:
    """Raise `CapacityExceeded` when nothing failed but the limit of the caller's own tasks."""
    if set(failed_keys) == {item_types.OWN_TASKS.build_key(caller.tenant, agent=caller.id)}:
        raise build_own_tasks_error().at(transitions[0].index)


def resolve_intent_conflict(
    caller: Principal,
    transitions: Sequence[Transition],
    known: TaskAssumptions,
    failed: tuple[Key, Item | None],
) -> TaskAssumptions:
    """Return what a failed condition on an intent, or on its participant, says of it."""
    failed_key, item = failed
    for transition in transitions:
        intent = transition.current.intent_id
        if intent is None:
            continue
        if failed_key == item_types.PARTICIPANT.build_key(
            caller.tenant, intent=intent, principal=caller.id
        ):
            raise AccessDenied(USE_INTENT.denied).at(transition.index)
        if failed_key == item_types.INTENT.build_key(caller.tenant, intent=intent):
            if item is None or intent in known.unnamed:
                return replace(known, unnamed=known.unnamed ^ {intent})
            return replace(known, intents=known.intents | {intent})
    return known
