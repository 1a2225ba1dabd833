"""Define what one transaction of entries is to do, and the writes that it takes."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

from functions.entries.capacity import NO_EVICTIONS, Evictions
from functions.entries.counters import CounterDelta, count_agent_changes
from functions.entries.mapper import EntryMapper
from functions.entries.model import Transition
from functions.entries.task_scope import (
    NOTHING_KNOWN,
    TaskAssumptions,
    build_task_writes,
    set_fence,
    set_own,
)
from functions.entries.transition_store import (
    build_counter_write,
    build_entry_write,
    build_index_writes,
    build_tombstone_write,
    build_vector_writes,
)
from functions.identity.model import Actor, Principal
from functions.identity.store import check_principal
from functions.namespaces.store import NamespaceClaim
from functions.platform import item_types
from functions.platform.errors import BatchTooLarge
from functions.platform.keys import Key
from functions.platform.limits import MAX_ITEM_BYTES, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_WRITES
from functions.platform.writes import Write

_ALWAYS_FIT = MAX_TRANSACTION_BYTES // MAX_ITEM_BYTES


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction, with what earlier attempts have found out.

    Attributes:
        extra_writes: other writes, by their keys.
        claims: first configurations of namespaces.
        reserved: the part of the caller's episodic capacity that guardrails forbid; None until
            they are read.
        actor: who is said to do it; the caller, unless given.
    """

    caller: Principal
    transitions: tuple[Transition, ...]
    now: int
    extra_writes: dict[Key, Write] = field(default_factory=dict)
    claims: tuple[NamespaceClaim, ...] = ()
    tasks: TaskAssumptions = NOTHING_KNOWN
    evictions: Evictions = NO_EVICTIONS
    actor: Actor | None = None
    reserved: int | None = None

    def with_tasks(self, tasks: TaskAssumptions) -> Self:
        """Return the transaction with what is known of its tasks."""
        transitions = tuple(set_own(each, tasks) for each in self.transitions)
        return replace(self, tasks=tasks, transitions=transitions)

    @property
    def names_tasks(self) -> bool:
        """Tell whether a task or an intent has to know of what is written."""
        transitions = (*self.transitions, *self.evictions.transitions)
        entries = (each for both in transitions for each in (both.old, both.new))
        return any(each is not None and (each.task_id or each.intent_id) for each in entries)

    @property
    def caller_key(self) -> Key:
        return item_types.PRINCIPAL.build_key(self.caller.tenant, principal=self.caller.id)

    def build_writes(self, mapper: EntryMapper, further: Iterable[Write] = ()) -> list[Write]:
        """Build all writes of the transaction, with further ones."""
        tenant, now = self.caller.tenant, self.now
        written, in_tasks = self.transitions, self.names_tasks
        if in_tasks:
            written = tuple(set_fence(each, self.tasks) for each in written)
        transitions = (*written, *self.evictions.transitions)
        writes = [build_entry_write(mapper, each) for each in transitions]
        for transition in transitions:
            writes.extend(build_index_writes(transition))
            if transition.new is not None and transition.new.packed_vector is not None:
                writes.extend(build_vector_writes(transition))
            if transition.old is not None:
                tombstone = build_tombstone_write(transition, self.actor or self.caller.actor, now)
                writes.extend([] if tombstone is None else [tombstone])
        is_counted = any(each.current.policy.is_private for each in transitions)
        deltas = count_agent_changes(transitions) if is_counted else {}
        if self.evictions.free_capacity is not None:  # a condition, even where nothing changes
            deltas.setdefault(self.caller.id, CounterDelta())
        writes.extend(
            build_counter_write(
                tenant, agent, delta, now, self.evictions.free_capacity, self.reserved
            )
            for agent, delta in deltas.items()
        )
        if in_tasks:
            writes.extend(build_task_writes(self.caller, transitions, now, self.tasks))
        writes.extend(self.extra_writes.values())
        writes.extend(write for claim in self.claims for write in claim.writes)
        if self.claims:  # a revoked principal, whose key is remembered, becomes no curator
            writes.append(check_principal(self.caller))
        writes.extend(further)
        _assert_fits(writes)
        return writes


def _assert_fits(writes: list[Write]) -> None:
    """Raise `BatchTooLarge` when there are too many writes for one transaction, or too large."""
    if len(writes) > MAX_TRANSACTION_WRITES:
        message = "this is more than one atomic write can hold; split it, or use fewer tags"
        raise BatchTooLarge(message, max=MAX_TRANSACTION_WRITES, actual=len(writes))
    if len(writes) <= _ALWAYS_FIT:
        return
    size = sum(write.size for write in writes)
    if size > MAX_TRANSACTION_BYTES:
        message = "this is more than one atomic write can hold; split it into smaller batches"
        raise BatchTooLarge(message, max=MAX_TRANSACTION_BYTES, actual=size)
