"""What entries in a task's scope write and check on tasks and intents (RFC-0015 §2.1; contract §5).

The first transaction assumes that a task is registered and that the agent holds entries in it. Its
condition fails where that is wrong, or where the task doesn't take the entry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
from functions.tasks import intent_store, usage_store
from functions.tasks import rules as task_rules
from functions.tasks import store as task_store
from functions.tasks.authority import USE_INTENT
from functions.tasks.mapper import task_from_item
from functions.tasks.model import Task, TaskUsage


@dataclass(frozen=True, slots=True)
class TaskAssumptions:
    """What is known of the tasks in the scopes of entries: nothing, in the first attempt.

    Attributes:
        unregistered: tasks that nobody has registered; the write registers them.
        unjoined: tasks in which the agent holds no entry yet.
    """

    unregistered: frozenset[str] = frozenset()
    unjoined: frozenset[str] = frozenset()


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
    joined: list[str] = []
    for task in sorted(deltas.keys() | creates.keys()):
        delta, create = deltas.get(task), creates.get(task)
        usage = _to_usage(delta)
        if create is None:
            yield _build_adjustment(caller, transitions, task, usage)
        elif task in known.unregistered:
            joined.append(task)
            yield from _build_registration(caller, task, create, now, usage)
        elif delta is not None and delta.has_creates:
            is_joined = task not in known.unjoined
            joined += [] if is_joined else [task]
            intent = create.current.intent
            yield usage_store.reserve_usage(caller, task, intent, now, usage, is_counted=is_joined)
        elif delta is not None:
            yield _build_adjustment(caller, transitions, task, usage)
        else:
            yield usage_store.check_participation(caller, task, create.current.intent, now)
    if joined:
        yield task_store.add_to_task_set(caller.tenant, caller.id, *joined)
    yield from _build_intent_writes(caller, transitions, now, known.unregistered)


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
    yield task_store.add_task(caller.tenant, task, usage)
    if intent is not None:
        yield intent_store.list_under_intent(caller.tenant, task, intent)


def _build_adjustment(
    caller: Principal, transitions: Sequence[Transition], task: str, usage: TaskUsage
) -> Write:
    """Adjust a task's counters; a transaction holds the working memory of one agent."""
    entries = (transition.current for transition in transitions)
    agents = (each.agent for each in entries if each.task == task and each.policy.is_task_bound)
    return usage_store.adjust_usage(caller.tenant, next(agents, ""), task, usage)


def _build_intent_writes(
    caller: Principal, transitions: Sequence[Transition], now: int, unregistered: frozenset[str]
) -> Iterator[Write]:
    """Build the namings of intents that no registered task belongs to."""
    created = [each.new for each in transitions if each.new is not None and each.is_create]
    loose = [each for each in created if each.task is None or each.task in unregistered]
    for intent in sorted({each.intent for each in loose if each.intent is not None}):
        yield intent_store.name_intent(caller, intent, now)


def resolve_task_conflict(
    caller: Principal,
    transitions: Sequence[Transition],
    now: int,
    known: TaskAssumptions,
    failed: tuple[Key, Item | None],
) -> TaskAssumptions:
    """Return what a failed condition on a task's item says of the task.

    Args:
        failed: the key of an item whose condition failed, and the item; not necessarily a task's.

    Raises:
        AccessDenied: when the caller may not write in the task's scope.
        TaskClosed: when the task has ended.
        CapacityExceeded: when the entries exceed the task's limits.
        ValidationFailed: when the entries name another intent than the task's.
    """
    key, item = failed
    creates, deltas = find_scopes(transitions), count_task_changes(transitions)
    for task in deltas.keys() | creates.keys():
        if task_keys.build_task_key(caller.tenant, task) != key:
            continue
        if item is None:
            return replace(known, unregistered=known.unregistered | {task})
        if task in known.unregistered:
            return replace(known, unregistered=known.unregistered - {task})
        delta = deltas.get(task, CounterDelta())
        try:
            _assert_takes(caller, task_from_item(item), creates.get(task), delta, now)
        except ServiceError as error:
            raise error.at(_find_index(transitions, task)) from None
        return replace(known, unjoined=known.unjoined | {task})
    return known


def _assert_takes(
    caller: Principal, task: Task, create: Transition | None, delta: CounterDelta, now: int
) -> None:
    """Raise why a task doesn't take the entries; nothing if it only doesn't know the agent yet."""
    if create is not None:
        takes_part = not (delta.working or delta.attached) and caller.id in task.participants
        if not takes_part and not task_rules.may_write_memory(caller, task, now):
            raise AccessDenied("only a task's assignee, coordinator and grant holders write for it")
        if create.current.intent not in (None, task.intent):
            raise ValidationFailed("scope.intent_id", "is not the task's intent")
    if not delta.is_zero():
        task_rules.assert_open(task)
    free = (task.free_entries, task.free_bytes)
    assert_working_fits(delta, free, (task.max_entries, task.policy.max_bytes), None)


def _find_index(transitions: Sequence[Transition], task: str) -> int | None:
    return next(each.index for each in transitions if each.current.task == task)


def assert_intent_is_free(
    caller: Principal, transitions: Sequence[Transition], failed_key: Key
) -> None:
    """Raise `AccessDenied` when the failed condition is that of an entry's intent."""
    for transition in transitions:
        intent = transition.current.intent
        if intent is not None and task_keys.build_intent_key(caller.tenant, intent) == failed_key:
            raise AccessDenied(USE_INTENT.denied).at(transition.index)
