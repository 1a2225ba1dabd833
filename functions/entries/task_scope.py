"""What entries in a task's scope write and check on tasks and intents (RFC-0015 §2.1; contract §5).

The first transaction assumes that a task is registered and that the agent holds entries in it. Its
condition fails where that is wrong, or where the task doesn't take the entry.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from functions.authorization.rules import is_allowed
from functions.entries.counters import CounterDelta, assert_working_fits, count_task_changes
from functions.entries.model import Transition
from functions.identity.model import Principal
from functions.platform import task_keys
from functions.platform.errors import (
    AccessDenied,
    ServiceError,
    ValidationFailed,
)
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.writes import Write
from functions.tasks import changes as task_changes
from functions.tasks import intent_store, lifecycle_store, usage_store
from functions.tasks import rules as task_rules
from functions.tasks.assignment_store import (
    build_own_tasks_error,
    hold_task,
    list_assignments,
    reserve_own_tasks,
)
from functions.tasks.authority import TAKE_PART, WRITE_MEMORY, TaskTarget, authorize_write
from functions.tasks.intent_authority import USE_INTENT
from functions.tasks.mapper import task_from_item
from functions.tasks.model import Grant, Membership, Task, TaskUsage

ReadMembership = Callable[[str], Membership]
"""Reads what the caller is in a task, by the task's id."""


@dataclass(frozen=True, slots=True)
class TaskAssumptions:
    """What is known of the tasks in the scopes of entries: nothing, in the first attempt.

    Attributes:
        unregistered: tasks that nobody has registered; the write registers them.
        unjoined: tasks in which the agent holds no entry yet.
        grants: those by which the agent writes, where it is neither assignee nor coordinator.
        joined: tasks in which the agent takes or took part otherwise.
        intents: those that are another one's; the agent may take part in them.
        unnamed: intents that nobody has named yet.
        uncoordinated: tasks without a coordinator; what they hold counts against the limits of
            each entry's agent, too (contract §5).
    """

    unregistered: frozenset[str] = frozenset()
    unjoined: frozenset[str] = frozenset()
    grants: Mapping[str, Grant] = field(default_factory=dict)
    joined: frozenset[str] = frozenset()
    intents: frozenset[str] = frozenset()
    unnamed: frozenset[str] = frozenset()
    uncoordinated: frozenset[str] = frozenset()

    @property
    def own_tasks(self) -> frozenset[str]:
        """The tasks without a coordinator, those that the write registers included."""
        return self.uncoordinated | self.unregistered


NOTHING_KNOWN = TaskAssumptions()


def build_task_writes(
    caller: Principal, transitions: Sequence[Transition], now: int, known: TaskAssumptions
) -> Iterator[Write]:
    """Build the writes and checks on the tasks and intents of the entries.

    Raises:
        ValidationFailed: when two new entries name one task with two intents.
        CapacityExceeded: when new entries exceed the limits of a task that they register.
    """
    deltas, creates = count_task_changes(transitions), find_scopes(transitions)
    changed = _find_changed_tasks(caller, transitions, now)
    for task in sorted(deltas.keys() | creates.keys() | changed):
        delta, create = deltas.get(task), creates.get(task)
        usage, grant = _to_usage(delta), known.grants.get(task)
        if create is not None and task in known.unregistered:
            yield from _build_registration(caller, task, create, now, usage)
        elif create is not None and delta is not None and delta.has_creates:
            is_counted = task not in known.unjoined
            intent, replaced = create.current.intent, _count_replaced(caller, transitions, task)
            own = _subtract(usage, replaced.values())
            yield from usage_store.reserve_usage(
                caller,
                task,
                intent,
                now,
                own,
                grant,
                is_counted=is_counted,
                is_coordinated=task not in known.uncoordinated,
                replaced=replaced,
            )
            if not is_counted:
                yield hold_task(caller.tenant, caller.id, task)
        elif task in changed:
            yield from usage_store.change_usage(caller, task, now, usage, grant)
        elif delta is not None:
            yield _build_adjustment(caller, transitions, task, usage)
        elif create is not None:
            intent, takes_part = create.current.intent, task in known.joined
            yield usage_store.check_participation(caller, task, intent, takes_part=takes_part)
    yield from _build_reservation(caller, creates.keys() & known.unregistered)
    yield from _build_intent_writes(caller, transitions, now, known)


def _build_reservation(caller: Principal, registered: Collection[str]) -> Iterator[Write]:
    """Count the tasks that the write registers; one write, since they count on one item."""
    if registered:
        yield reserve_own_tasks(caller.tenant, caller.id, len(registered))


def _count_replaced(
    caller: Principal, transitions: Sequence[Transition], task: str
) -> dict[str, TaskUsage]:
    """Return by how much others hold less of a task, since the caller's entries replace theirs."""
    replaced: dict[str, TaskUsage] = {}
    for transition in transitions:
        old = transition.old
        if transition.new is not None or old is None or old.task != task:
            continue
        if old.policy.is_task_bound and old.agent != caller.id:
            held = replaced.get(old.agent, TaskUsage())
            replaced[old.agent] = TaskUsage(held.entries - 1, held.size - old.size)
    return replaced


def _subtract(usage: TaskUsage, others: Iterable[TaskUsage]) -> TaskUsage:
    """Return the part of a task's usage that isn't others'."""
    entries, size = usage.entries, usage.size
    for each in others:
        entries, size = entries - each.entries, size - each.size
    return TaskUsage(entries, size, usage.attached)


def _find_changed_tasks(caller: Principal, transitions: Sequence[Transition], now: int) -> set[str]:
    """Return the tasks of working entries that their owner itself changes, replaces or deletes."""
    return {
        entry.task
        for transition in transitions
        if transition.new is not None or transition.reason == "deleted"
        for entry in (transition.old, None if transition.is_create else transition.new)
        if entry is not None
        and entry.task is not None
        and entry.policy.is_task_bound
        and entry.agent == caller.id
        and not (transition.is_create and entry.is_expired(now))
    }


def set_fence(transition: Transition, known: TaskAssumptions) -> Transition:
    """Fence a working entry that its owner writes by a grant, and no other one.

    Each write of a fenced entry checks its task; the assignee's own are one call.
    """
    new = transition.new
    if new is None or new.task is None or not new.policy.is_task_bound:
        return transition
    is_fenced = new.task in known.grants
    if new.is_fenced == is_fenced:
        return transition
    return replace(transition, new=new._replace(is_fenced=is_fenced))


def set_own(transition: Transition, known: TaskAssumptions) -> Transition:
    """Count a new working entry against its agent's limits, if its task has no coordinator."""
    new = transition.new
    if new is None or not transition.is_create or not new.policy.is_task_bound:
        return transition
    is_own = new.task in known.own_tasks
    return (
        transition if new.is_own == is_own else replace(transition, new=new._replace(is_own=is_own))
    )


def find_scopes(transitions: Sequence[Transition]) -> dict[str, Transition]:
    """Return the tasks that new entries name, each with the create that says most of its scope.

    Raises:
        ValidationFailed: when two entries name one task with two intents.
    """
    scopes: dict[str, Transition] = {}
    for transition in transitions:
        entry = transition.new
        if entry is None or entry.task is None or not transition.is_create:
            continue
        intent = scopes.setdefault(entry.task, transition).current.intent
        if entry.intent not in (None, intent):
            if intent is not None:
                raise ValidationFailed("scope.intent_id", "is not the task's intent")
            scopes[entry.task] = transition
    return scopes


def _to_usage(delta: CounterDelta | None) -> TaskUsage:
    return (
        TaskUsage()
        if delta is None
        else TaskUsage(delta.working, delta.working_bytes, delta.attached)
    )


def _build_registration(
    caller: Principal, task_id: str, create: Transition, now: int, usage: TaskUsage
) -> Iterator[Write]:
    intent = create.current.intent
    task = task_changes.build_task_of_write(caller, task_id, intent, now, usage)
    most = (task.policy.max_entries, task.policy.max_bytes)
    assert_working_fits(
        CounterDelta(working=usage.entries, working_bytes=usage.size), most, most, create.index
    )
    yield lifecycle_store.add_task(caller.tenant, task, usage)
    yield from list_assignments(caller.tenant, None, task)
    if intent is not None:
        yield intent_store.list_under_intent(caller.tenant, task, intent)


def _build_adjustment(
    caller: Principal, transitions: Sequence[Transition], task: str, usage: TaskUsage
) -> Write:
    """Adjust a task's counters; a transaction holds the working memory of one agent."""
    entries = (each for transition in transitions for each in (transition.old, transition.new))
    agents = (
        each.agent
        for each in entries
        if each is not None and each.task == task and each.policy.is_task_bound
    )
    return usage_store.adjust_usage(caller.tenant, next(agents, ""), task, usage)


def _build_intent_writes(
    caller: Principal, transitions: Sequence[Transition], now: int, known: TaskAssumptions
) -> Iterator[Write]:
    """Build the namings of intents that no registered task belongs to."""
    created = [each.new for each in transitions if each.new is not None and each.is_create]
    loose = [each for each in created if each.task is None or each.task in known.unregistered]
    for intent in sorted({each.intent for each in loose if each.intent is not None}):
        is_new, takes_part = intent in known.unnamed, intent in known.intents
        yield from intent_store.name_intent(
            caller, intent, now, is_new=is_new, takes_part=takes_part
        )


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
        caller: who writes.
        transitions: what it writes.
        now: the time in epoch ms.
        known: what was known of the tasks before.
        failed: the key of an item whose condition failed, and the item; not necessarily a task's.
        read_membership: asked where the caller is neither assignee nor coordinator.

    Raises:
        AccessDenied: when the caller may not write in the task's scope.
        TaskReassigned: when the task was the caller's, and isn't any more.
        TaskClosed: when the task has ended.
        CapacityExceeded: when the entries exceed the task's limits.
        ValidationFailed: when the entries name another intent than the task's.
    """
    key, item = failed
    attempt = _Attempt(caller, transitions, now)
    for task in attempt.tasks:
        if key == task_keys.build_grant_key(caller.tenant, task, caller.id):
            grants = {name: grant for name, grant in known.grants.items() if name != task}
            return replace(known, grants=grants)
        if key != task_keys.build_task_key(caller.tenant, task):
            continue
        if item is None:
            return replace(known, unregistered=known.unregistered | {task})
        if task in known.unregistered:
            return replace(known, unregistered=known.unregistered - {task})
        try:
            return attempt.resolve(task_from_item(item), known, read_membership)
        except ServiceError as error:
            raise error.at(_find_index(transitions, task)) from None
    return known


class _Attempt:
    """What the caller wanted of tasks, to compare with a task as it is stored."""

    def __init__(self, caller: Principal, transitions: Sequence[Transition], now: int) -> None:
        self._caller, self._now = caller, now
        self._deltas = count_task_changes(transitions)
        self._creates = find_scopes(transitions)
        self._changed = _find_changed_tasks(caller, transitions, now)
        self.tasks = self._deltas.keys() | self._creates.keys() | self._changed

    def resolve(
        self, task: Task, known: TaskAssumptions, read_membership: ReadMembership
    ) -> TaskAssumptions:
        """Return what the next attempt has to know of a task; raise why it takes nothing."""
        with_role = self._resolve_role(task, known, read_membership)
        if with_role is not known:
            return with_role
        create, delta = self._creates.get(task.id), self._deltas.get(task.id, CounterDelta())
        if create is not None and create.current.intent not in (None, task.intent):
            raise ValidationFailed("scope.intent_id", "is not the task's intent")
        if not delta.is_zero():
            task_rules.assert_open(task)
        free = (task.free_entries, task.free_bytes)
        assert_working_fits(delta, free, (task.max_entries, task.policy.max_bytes), None)
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
        if entry is not None and entry.task == task
    )


def assert_may_register(
    caller: Principal, transitions: Sequence[Transition], failed_keys: Collection[Key]
) -> None:
    """Raise `CapacityExceeded` when nothing failed but the limit of the caller's own tasks."""
    if set(failed_keys) == {task_keys.build_own_tasks_key(caller.tenant, caller.id)}:
        raise build_own_tasks_error().at(transitions[0].index)


def resolve_intent_conflict(
    caller: Principal,
    transitions: Sequence[Transition],
    known: TaskAssumptions,
    failed: tuple[Key, Item | None],
) -> TaskAssumptions:
    """Return what a failed condition on an intent, or on a participant of it, says of the intent.

    Raises:
        AccessDenied: when the intent isn't the caller's to use.
    """
    failed_key, item = failed
    for transition in transitions:
        intent = transition.current.intent
        if intent is None:
            continue
        if failed_key == task_keys.build_participant_key(caller.tenant, intent, caller.id):
            raise AccessDenied(USE_INTENT.denied).at(transition.index)
        if failed_key == task_keys.build_intent_key(caller.tenant, intent):
            if item is None or intent in known.unnamed:
                return replace(known, unnamed=known.unnamed ^ {intent})
            return replace(known, intents=known.intents | {intent})
    return known
