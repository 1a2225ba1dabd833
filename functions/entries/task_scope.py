"""Define what entries in a task's scope write and check on tasks and intents (RFC-0015 §2.1).

The first transaction assumes that a task is registered and that the agent holds entries in it. Its
condition fails if an assumption is wrong, or if the task doesn't accept the entry.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from functions.entries.counters import (
    CounterDelta,
    assert_working_fits,
    count_task_changes,
)
from functions.entries.model import Transition
from functions.identity.model import Principal
from functions.platform.errors import ValidationFailed
from functions.platform.writes import Write
from functions.tasks import intent_store, lifecycle_store
from functions.tasks import rules as task_rules
from functions.tasks import store as task_store
from functions.tasks.lifecycle_store import list_task, reserve_own_tasks
from functions.tasks.model import Grant, TaskUsage


@dataclass(frozen=True, slots=True)
class TaskAssumptions:
    """Knowledge of the tasks in the scopes of entries: nothing, in the first attempt.

    Attributes:
        unregistered: tasks without an item; the write registers them.
        unjoined: tasks in which the agent holds no entry yet.
        grants: the grants by which the agent writes, if it is neither assignee nor coordinator.
        joined: tasks in which the agent takes or took part otherwise.
        intents: intents of other principals; the agent may take part in them.
        unnamed: intents without an item; the write creates them.
        uncoordinated: tasks without a coordinator; their entries count against the limits of each
            entry's agent, too.
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
        """The tasks without a coordinator, including those that the write registers."""
        return self.uncoordinated | self.unregistered


NOTHING_KNOWN = TaskAssumptions()


def build_task_writes(
    caller: Principal, transitions: Sequence[Transition], now: int, known: TaskAssumptions
) -> Iterator[Write]:
    """Build the writes and checks on the tasks and intents of the entries."""
    deltas, creates = count_task_changes(transitions), find_scopes(transitions)
    changed = find_changed_tasks(caller, transitions, now)
    for task in sorted(deltas.keys() | creates.keys() | changed):
        delta, create = deltas.get(task, CounterDelta()), creates.get(task)
        held, grant = _count_held(transitions, task), known.grants.get(task)
        if create is not None and task in known.unregistered:
            yield from _build_registration(caller, transitions, task, create)
        elif create is not None and delta.has_creates:
            is_counted = task not in known.unjoined
            yield from task_store.reserve_usage(
                caller,
                task,
                create.current.intent_id,
                now,
                held,
                delta.attached,
                grant,
                is_counted=is_counted,
                is_coordinated=task not in known.uncoordinated,
            )
            if not is_counted:
                yield task_store.hold_task(caller.tenant, caller.id, task)
        elif task in changed:
            yield from task_store.change_usage(caller, task, now, held, delta.attached, grant)
        elif task in deltas:
            yield task_store.adjust_usage(caller.tenant, task, held, delta.attached)
        elif create is not None:
            intent, takes_part = create.current.intent_id, task in known.joined
            yield task_store.check_participation(caller, task, intent, takes_part=takes_part)
    yield from _build_reservation(caller, creates.keys() & known.unregistered)
    yield from _build_intent_writes(caller, transitions, now, known)


def _build_reservation(caller: Principal, registered: Collection[str]) -> Iterator[Write]:
    """Count the tasks that the write registers: one write, since one item has the count."""
    if registered:
        yield reserve_own_tasks(caller.tenant, caller.id, len(registered))


def _count_held(transitions: Sequence[Transition], task: str) -> dict[str, TaskUsage]:
    """Return the growth of each agent's part of a task's working memory.

    Example: bob takes over a task and puts the entry "plan" of 40 bytes in the place of alice's of
    50 bytes. bob holds 1 entry and 40 bytes more, alice 1 and 50 less.
    """
    held: defaultdict[str, TaskUsage] = defaultdict(TaskUsage)
    for transition in transitions:
        for sign, entry in ((-1, transition.old), (1, transition.new)):
            if entry is not None and entry.task_id == task and entry.policy.is_task_bound:
                entries, size, _ = held[entry.agent_id]
                held[entry.agent_id] = TaskUsage(entries + sign, size + sign * entry.value_bytes)
    return {agent: usage for agent, usage in held.items() if usage != TaskUsage()}


def find_changed_tasks(caller: Principal, transitions: Sequence[Transition], now: int) -> set[str]:
    """Return the tasks of working entries that their owner itself changes, replaces or deletes."""
    return {
        entry.task_id
        for transition in transitions
        if transition.new is not None or transition.reason == "deleted"
        for entry in (transition.old, None if transition.is_create else transition.new)
        if entry is not None
        and entry.task_id is not None
        and entry.policy.is_task_bound
        and entry.agent_id == caller.id
        and not (transition.is_create and entry.is_expired(now))
    }


def set_flags(transition: Transition, known: TaskAssumptions) -> Transition:
    """Fence a working entry that its owner writes by a grant; mark a new one in an own task.

    Each write of a fenced entry checks its task; other entries are written by one call. Entries in
    a task without a coordinator count against their agent's limits, too.
    """
    new = transition.new
    if new is None or not new.policy.is_task_bound:
        return transition
    is_own = new.task_id in known.own_tasks if transition.is_create else new.is_in_own_task
    flagged = new._replace(is_fenced=new.task_id in known.grants, is_in_own_task=is_own)
    return transition if flagged == new else replace(transition, new=flagged)


def find_scopes(transitions: Sequence[Transition]) -> dict[str, Transition]:
    """Return the tasks that new entries name, each with the create of the most complete scope."""
    scopes: dict[str, Transition] = {}
    for transition in transitions:
        entry = transition.new
        if entry is None or entry.task_id is None or not transition.is_create:
            continue
        intent = scopes.setdefault(entry.task_id, transition).current.intent_id
        if entry.intent_id not in (None, intent):
            if intent is not None:
                raise ValidationFailed(
                    "scope.intent_id", "is not the task's intent; leave it out, or give the task's"
                )
            scopes[entry.task_id] = transition
    return scopes


def _build_registration(
    caller: Principal, transitions: Sequence[Transition], task_id: str, create: Transition
) -> Iterator[Write]:
    """Build the registration of a task by a create; the task gets the entry's creation time."""
    entry, delta = create.current, count_task_changes(transitions)[task_id]
    usage = TaskUsage(delta.working, delta.working_bytes, delta.attached)
    task = task_rules.build_task_of_write(caller, task_id, entry.intent_id, entry.created_at, usage)
    most = (task.memory_policy.max_entries, task.memory_policy.max_bytes)
    assert_working_fits(transitions, count_task_changes, task_id, most, most)
    yield lifecycle_store.add_task(caller.tenant, task, usage)
    yield from list_task(caller.tenant, None, task)
    if entry.intent_id is not None:
        yield intent_store.list_under_intent(caller.tenant, task, entry.intent_id)


def _build_intent_writes(
    caller: Principal, transitions: Sequence[Transition], now: int, known: TaskAssumptions
) -> Iterator[Write]:
    created = [each.new for each in transitions if each.new is not None and each.is_create]
    loose = [each for each in created if each.task_id is None or each.task_id in known.unregistered]
    for intent in sorted({each.intent_id for each in loose if each.intent_id is not None}):
        is_new, takes_part = intent in known.unnamed, intent in known.intents
        yield from intent_store.name_intent(
            caller, intent, now, is_new=is_new, takes_part=takes_part
        )
