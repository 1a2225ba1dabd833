"""How entries are written: boldly at first, then with what each refusal taught.

The first transaction assumes the common case: the slot is free, the task is registered and knows
the agent. A refusal brings the items that stood in the way; they either are the answer to the
caller or say what the next transaction must do along: take an expired entry's slot, register a
task, join it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from functions.entries.items import EntryItems
from functions.entries.writes import (
    Tally,
    Transition,
    agent_tallies,
    agent_write,
    entry_write,
    index_writes,
    notice_write,
    task_tallies,
)
from functions.identity.model import Principal
from functions.platform.errors import BatchTooLarge, CapacityExceeded, ValidationFailed
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import MAX_ITEM_BYTES, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_WRITES
from functions.platform.writes import Write
from functions.tasks import writes as task_writes
from functions.tasks.model import Task
from functions.tasks.writes import Held

_ALWAYS_FIT = MAX_TRANSACTION_BYTES // MAX_ITEM_BYTES


@dataclass(frozen=True, slots=True)
class Plan:
    """What one transaction is to do, and what is known by now."""

    caller: Principal
    steps: tuple[Transition, ...]
    now: int
    along: dict[Key, Write] = field(default_factory=dict)  # first configurations of namespaces
    unregistered: frozenset[str] = frozenset()  # tasks
    unjoined: frozenset[str] = frozenset()  # tasks that don't know the agent yet
    making_room: tuple[Transition, ...] = ()  # what goes so that new episodic entries fit
    seen_room: int | None = None  # the room that this was decided on

    def writes(self, items: EntryItems) -> list[Write]:
        """All writes of the transaction.

        Raises:
            BatchTooLarge: more than DynamoDB takes at once.
        """
        steps = (*self.steps, *self.making_room)
        writes = [entry_write(items, step) for step in steps]
        for step in steps:
            writes.extend(index_writes(step))
            notice = notice_write(step, self.caller.id, self.now)
            writes.extend([] if notice is None else [notice])
        tenant = self.caller.tenant
        writes.extend(
            agent_write(tenant, agent, tally, self.now, self.seen_room)
            for agent, tally in self._agent_tallies(steps).items()
        )
        writes.extend(self._task_writes())
        writes.extend(self._intent_writes())
        writes.extend(self.along.values())
        _assert_fits(writes)
        return writes

    def _agent_tallies(self, steps: tuple[Transition, ...]) -> dict[str, Tally]:
        tallies = agent_tallies(steps)
        if self.seen_room is not None:
            # nothing may move, but the room that was seen is a condition
            tallies.setdefault(self.caller.id, Tally())
        return tallies

    def new_scopes(self) -> dict[str, Transition]:
        """The tasks that new entries name in their scope, each with the step that says most of it.

        Raises:
            ValidationFailed: two entries name one task with two intents.
        """
        scopes: dict[str, Transition] = {}
        for step in self.steps:
            if step.new is None or step.new.task is None or not _creates(step):
                continue
            known = scopes.setdefault(step.new.task, step).either.intent
            if step.new.intent not in (None, known):
                if known is not None:
                    raise ValidationFailed("scope.intent_id", "is not the task's intent")
                scopes[step.new.task] = step
        return scopes

    def _task_writes(self) -> Iterator[Write]:
        tallies = task_tallies((*self.steps, *self.making_room))
        scopes = self.new_scopes()
        joining: list[str] = []
        for task in sorted(tallies.keys() | scopes.keys()):
            tally, step = tallies.get(task), scopes.get(task)
            if task in self.unregistered and step is not None:
                joining.append(task)
                yield from self._registration(task, step, held_by(tally))
            elif tally is not None and tally.created and step is not None:
                joining += [task] if task in self.unjoined else []
                yield self._charge(task, step, held_by(tally))
            elif tally is not None:
                yield self._resize(task, held_by(tally))
            elif step is not None:
                intent = step.either.intent
                yield task_writes.check_part(self.caller, task, intent, self.now)
        if joining:
            yield task_writes.join(self.caller.tenant, self.caller.id, *joining)

    def _registration(self, task: str, step: Transition, held: Held) -> Iterator[Write]:
        tenant, intent = self.caller.tenant, step.either.intent
        registered = task_writes.registered_by_write(self.caller, task, intent, self.now, held)
        assert_room_left(registered, held, step.index)
        yield task_writes.add_task(tenant, registered, held)
        if intent is not None:
            yield task_writes.list_under_intent(tenant, registered, intent)

    def _charge(self, task: str, step: Transition, held: Held) -> Write:
        joined = task not in self.unjoined
        intent = step.either.intent
        return task_writes.charge(self.caller, task, intent, self.now, held, joined=joined)

    def _resize(self, task: str, held: Held) -> Write:
        """A transaction holds one agent's working memory; what else is attached counts alone."""
        every = [step.either for step in (*self.steps, *self.making_room)]
        agents = [each.agent for each in every if (each.task, each.tier) == (task, "working")]
        return task_writes.resize(self.caller.tenant, agents[0] if agents else "", task, held)

    def _intent_writes(self) -> Iterator[Write]:
        """Uses of intents that no registered task vouches for.

        Only who takes part in a task becomes a party of its intent; a mere use is none.
        """
        created = [step.new for step in self.steps if step.new is not None and _creates(step)]
        loose = [each for each in created if each.task is None or each.task in self.unregistered]
        joining = {each.intent for each in loose if each.task is not None}
        for intent in sorted({each.intent for each in loose if each.intent is not None}):
            parties = frozenset({self.caller.id}) if intent in joining else frozenset[str]()
            yield task_writes.use_intent(self.caller, intent, self.now, parties)

    def taking(self, step: Transition, occupant: Transition) -> "Plan":
        """The plan with an expired occupant's slot taken."""
        steps = tuple(occupant if each is step else each for each in self.steps)
        return replace(self, steps=steps)


def _assert_fits(writes: list[Write]) -> None:
    """Raises `BatchTooLarge` where DynamoDB would refuse a transaction's number or size."""
    if len(writes) > MAX_TRANSACTION_WRITES:
        message = "this is more than one atomic write can hold; split it, or use fewer tags"
        raise BatchTooLarge(message, max=MAX_TRANSACTION_WRITES, actual=len(writes))
    if len(writes) <= _ALWAYS_FIT:
        return
    size = sum(write.size for write in writes)
    if size > MAX_TRANSACTION_BYTES:
        message = "this is more than one atomic write can hold; split it into smaller batches"
        raise BatchTooLarge(message, max=MAX_TRANSACTION_BYTES, actual=size)


def held_by(tally: Tally | None) -> Held:
    """What a tally says of a task."""
    return Held() if tally is None else Held(tally.working, tally.working_kb, tally.attached)


def assert_room_left(task: Task, held: Held, index: int) -> None:
    """Raises `CapacityExceeded` where a task would begin with more than it holds."""
    for limit, more, room, most in (
        ("max_entries", held.entries, task.room, task.policy.max_entries),
        ("max_total_size_kb", held.kb, task.room_kb, task.policy.max_total_size_kb),
    ):
        if room < 0:
            raise CapacityExceeded(limit, most - room - more, most).at(index)


def _creates(step: Transition) -> bool:
    """Whether the step makes a new incarnation, in a free slot or in an expired entry's."""
    old, new = step.old, step.new
    return new is not None and (old is None or old.nonce != new.nonce)


def taken_from(
    item: Item | None, step: Transition, items: EntryItems, now: int
) -> Transition | None:
    """The step that takes the slot of an expired occupant; None if there is none."""
    if item is None or step.new is None or step.old is not None:
        return None
    occupant = items.entry_of(item)
    return replace(step, old=occupant) if occupant.expired(now) else None
