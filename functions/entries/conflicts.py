"""Resolve the failed conditions of a transaction of entries.

The first attempt assumes the common case: the slot is free, the task is registered and knows the
agent, no limit is reached. A failed condition returns the item that caused it. The item leads
either to an error for the caller, or to what the next attempt also has to write.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from functions.authorization.rules import authorize, is_allowed
from functions.entries.agent_store import AgentUsage, to_usage
from functions.entries.capacity import apply_pinned_namespaces, plan_evictions
from functions.entries.counters import (
    CounterDelta,
    assert_working_fits,
    count_agent_changes,
    count_task_changes,
)
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, Transition
from functions.entries.store import EntryStore
from functions.entries.task_scope import TaskAssumptions, find_changed_tasks, find_scopes
from functions.entries.transaction_store import Transaction
from functions.identity.model import Principal
from functions.namespaces.authority import WRITE_MEMORY as WRITE_NAMESPACE
from functions.namespaces.store import Restrictions, RestrictionStore, decode_namespace
from functions.platform import item_types
from functions.platform.errors import (
    AccessDenied,
    EntryExists,
    EntryNotFound,
    ServiceError,
    Unauthenticated,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.tasks import rules as task_rules
from functions.tasks.authority import (
    TAKE_PART,
    USE_INTENT,
    WRITE_MEMORY,
    TaskTarget,
    authorize_write,
)
from functions.tasks.lifecycle_store import build_own_tasks_error
from functions.tasks.model import Membership, Task
from functions.tasks.store import TaskStore, task_from_item

ReadMembership = Callable[[str], Membership]
"""Reads the caller's role in a task, by the task's id."""


def resolve_task_conflict(
    transaction: Transaction, key: Key, item: Item | None, read_membership: ReadMembership
) -> TaskAssumptions:
    """Return what is known of the tasks after a failed condition on an item, of any type.

    Args:
        read_membership: asked where the caller is neither assignee nor coordinator.
    """
    caller, known = transaction.caller, transaction.tasks
    attempt = _Attempt(transaction)
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
            return attempt.resolve(task_from_item(item), read_membership)
        except ServiceError as error:
            if error.index is None:
                error.at(_find_index(transaction.transitions, task))
            raise
    return known


class _Attempt:
    """A transaction's writes to tasks, to compare with a stored task."""

    def __init__(self, transaction: Transaction) -> None:
        self._caller, self._now = transaction.caller, transaction.now
        self._transitions, self._known = transaction.transitions, transaction.tasks
        self._deltas = count_task_changes(self._transitions)
        self._creates = find_scopes(self._transitions)
        self._changed = find_changed_tasks(self._caller, self._transitions, self._now)
        self.tasks = self._deltas.keys() | self._creates.keys() | self._changed

    def resolve(self, task: Task, read_membership: ReadMembership) -> TaskAssumptions:
        """Return what the next attempt has to know of a task; raise if the task takes no writes."""
        known, with_role = self._known, self._resolve_role(task, read_membership)
        if with_role is not known:
            return with_role
        create, delta = self._creates.get(task.id), self._deltas.get(task.id, CounterDelta())
        if create is not None and create.current.intent_id not in (None, task.intent_id):
            raise ValidationFailed(
                "scope.intent_id", "is not the task's intent; leave it out, or give the task's"
            )
        if not delta.is_zero():
            task_rules.assert_open(task)
        free = (task.free_entries, task.free_bytes)
        most = (task.max_entries, task.memory_policy.max_bytes)
        assert_working_fits(self._transitions, count_task_changes, task.id, free, most)
        if delta.has_creates and (task.id in known.uncoordinated) != (task.coordinator is None):
            return replace(known, uncoordinated=known.uncoordinated ^ {task.id})
        # Every other condition of the task holds. So the agent has no counter in the task yet, and
        # the next attempt creates one.
        return replace(known, unjoined=known.unjoined | {task.id})

    def _resolve_role(self, task: Task, read_membership: ReadMembership) -> TaskAssumptions:
        """Return the role by which the caller writes, if it is a condition of the attempt."""
        known, delta = self._known, self._deltas.get(task.id, CounterDelta())
        writes = task.id in self._changed or delta.has_creates
        takes_part = task.id in self._creates and delta.is_zero() and task.id not in known.joined
        if not (writes or takes_part):
            return known
        action, target = WRITE_MEMORY if writes else TAKE_PART, TaskTarget(task, self._now)
        present = Membership(grant=known.grants.get(task.id)) if writes else target.member
        if is_allowed(self._caller, action, target._replace(member=present)):
            return known
        member = read_membership(task.id)
        authorize_write(self._caller, action, target._replace(member=member))
        if not writes:
            return replace(known, joined=known.joined | {task.id})
        if member.grant is None:
            raise AccessDenied(WRITE_MEMORY.denied)
        return replace(known, grants={**known.grants, task.id: member.grant})


def _find_index(transitions: Sequence[Transition], task: str) -> int | None:
    return next(
        transition.index
        for transition in transitions
        for entry in (transition.old, transition.new)
        if entry is not None and entry.task_id == task
    )


def resolve_intent_conflict(
    transaction: Transaction, key: Key, item: Item | None
) -> TaskAssumptions:
    """Return what is known of the intents after a failed condition on an item, of any type."""
    caller, known = transaction.caller, transaction.tasks
    for transition in transaction.transitions:
        intent = transition.current.intent_id
        if intent is None:
            continue
        if key == item_types.PARTICIPANT.build_key(
            caller.tenant, intent=intent, principal=caller.id
        ):
            raise AccessDenied(USE_INTENT.denied).at(transition.index)
        if key == item_types.INTENT.build_key(caller.tenant, intent=intent):
            if item is None or intent in known.unnamed:
                # The assumption was wrong: an intent that was assumed to be new has an item, or one
                # that was assumed to exist has none. The next attempt assumes the opposite.
                return replace(known, unnamed=known.unnamed ^ {intent})
            return replace(known, intents=known.intents | {intent})
    return known


FailedConditions = dict[Key, Item | None]


class IdempotentReplay(Exception):
    """The request was carried out before; `entries` are its results."""

    def __init__(self, entries: list[Entry]) -> None:
        super().__init__("already carried out")
        self.entries = entries


@dataclass(eq=False)
class ConflictResolver:
    """Builds the next attempt when conditions of a transaction failed."""

    _store: EntryStore
    _mapper: EntryMapper
    _tasks: TaskStore
    _restrictions: RestrictionStore

    def resolve(
        self, transaction: Transaction, failed: FailedConditions, token: RequestToken | None
    ) -> Transaction:
        """Return the transaction to try next."""
        caller = transaction.caller
        if item_types.PRINCIPAL.build_key(caller.tenant, principal=caller.id) in failed:
            raise Unauthenticated("this principal was revoked; ask for a new API key")
        transaction, errors = self._resolve_slots(transaction, failed, token)

        def read_membership(task: str) -> Membership:
            return self._tasks.get_membership(caller.tenant, task, caller.id)

        if failed.keys() == {item_types.OWN_TASKS.build_key(caller.tenant, agent=caller.id)}:
            raise build_own_tasks_error().at(transaction.transitions[0].index)
        for key, item in failed.items():
            try:
                transaction = _resolve_claim(transaction, key, item)
                tasks = resolve_task_conflict(transaction, key, item, read_membership)
                transaction = transaction.with_tasks(tasks)
                tasks = resolve_intent_conflict(transaction, key, item)
                transaction = transaction.with_tasks(tasks)
            except ServiceError as error:
                errors.append(error)
        if errors:  # of a batch, the one of the first element
            raise min(errors, key=lambda each: inf if each.index is None else each.index)
        # Two passes: the agent's tasks decide what counts against its limits, so they come first.
        for key, item in failed.items():  # the limits depend on the tasks
            transaction = self._resolve_capacity(transaction, key, item)
        return transaction

    def _resolve_slots(
        self, transaction: Transaction, failed: FailedConditions, token: RequestToken | None
    ) -> tuple[Transaction, list[ServiceError]]:
        transitions: list[Transition] = []
        replayed: list[Entry] = []
        errors: list[ServiceError] = []
        for transition in transaction.transitions:
            transitions.append(transition)
            if transition.item_key not in failed:
                continue
            item = failed[transition.item_key]
            occupant = self._mapper.find_entry(item)
            if transition.is_create and (occupant is None or occupant.is_expired(transaction.now)):
                transitions[-1] = replace(transition, old=occupant)
            elif (
                occupant is not None and token is not None and token.matches(occupant.request_token)
            ):
                replayed.append(occupant)
            else:
                errors.append(self._find_slot_error(transaction, transition, occupant))
        if len(replayed) == len(transitions):
            self.authorize_repetition(transaction.caller, replayed, transaction.now)
            raise IdempotentReplay(replayed)
        if replayed and not errors:
            raise EntryExists(
                "the entries were changed after this request; use a new Idempotency-Key"
            )
        return replace(transaction, transitions=tuple(transitions)), errors

    def _find_slot_error(
        self, transaction: Transaction, transition: Transition, occupant: Entry | None
    ) -> ServiceError:
        try:
            self.authorize_fenced(transaction.caller, occupant, transaction.now)
        except ServiceError as error:
            return error.at(transition.index)
        return _to_slot_error(transition, occupant)

    def find_taken(
        self, transitions: Iterable[Transition], now: int, token: RequestToken
    ) -> ServiceError | None:
        """Find the first create whose slot has another request's entry: one call a hundred."""
        creates = [each for each in transitions if each.is_create]
        found = self._store.get_many([each.item_key for each in creates])
        for create in creates:
            occupant = found.get(create.item_key)
            if not (
                occupant is None
                or occupant.is_expired(now)
                or token.matches(occupant.request_token)
            ):
                return _to_slot_error(create, occupant)
        return None

    def authorize_repetition(self, caller: Principal, entries: Iterable[Entry], now: int) -> None:
        """Check that the tasks of entries still allow writes of a caller that repeats a request."""
        bound = [each.task_id for each in entries if each.policy.is_task_bound]
        for task in self._tasks.get_many(caller.tenant, set(filter(None, bound))):
            member = self._tasks.get_membership(caller.tenant, task.id, caller.id)
            authorize_write(caller, WRITE_MEMORY, TaskTarget(task, now, member))

    def authorize_fenced(self, caller: Principal, entry: Entry | None, now: int) -> None:
        """Check the task of a fenced entry of the caller, before its conflict is reported."""
        if entry is not None and entry.is_fenced and entry.agent_id == caller.id:
            self.authorize_repetition(caller, (entry,), now)

    def _resolve_capacity(
        self, transaction: Transaction, key: Key, item: Item | None
    ) -> Transaction:
        caller, evictions = transaction.caller, transaction.evictions
        evicted = {each.item_key for each in evictions.transitions}
        for agent in count_agent_changes(transaction.transitions):
            if key in evicted:  # another request removed, read or wrote it
                reserved = transaction.reserved or 0
                left = (evictions.free_capacity or 0) - reserved
                usage = AgentUsage(episodic_room=left, episodic_reserved=reserved)
                return self.evict(transaction, agent, usage)
            if key == item_types.AGENT.build_key(caller.tenant, agent=agent):
                return self._fit(transaction, agent, item)
        return transaction

    def examine(self, transaction: Transaction) -> Transaction:
        """Return the transaction with its evictions under guardrails, before any attempt."""
        caller = transaction.caller
        item, restrictions, _ = self._restrictions.read(caller.tenant, caller.id)
        return self._fit(transaction, caller.id, item, restrictions)

    def _fit(
        self,
        transaction: Transaction,
        agent: str,
        item: Item | None,
        restrictions: Restrictions | None = None,
    ) -> Transaction:
        """Fit the transaction into an agent's limits by its settings and guardrails."""
        tenant = transaction.caller.tenant
        if restrictions is None:
            restrictions = self._restrictions.find_each(tenant, {agent: item})[agent]
        usage = to_usage(item, restrictions.max_episodic)
        free = (usage.working_room, usage.working_room_bytes)
        most = (usage.working_max_entries, usage.working_max_bytes)
        assert_working_fits(transaction.transitions, count_agent_changes, agent, free, most)
        transitions = apply_pinned_namespaces(
            transaction.transitions, agent, usage.episodic_pinned_namespaces
        )
        fitted = replace(transaction, transitions=transitions, reserved=usage.episodic_reserved)
        return self.evict(fitted, agent, usage)

    def evict(self, transaction: Transaction, agent: str, usage: AgentUsage) -> Transaction:
        """Return the transaction with its evictions, given the agent's usage."""
        tenant, now = transaction.caller.tenant, transaction.now
        evictions = plan_evictions(self._store, tenant, agent, usage, transaction.transitions, now)
        return replace(transaction, evictions=evictions)


def _to_slot_error(transition: Transition, occupant: Entry | None) -> ServiceError:
    if occupant is not None and transition.is_create:
        message = (
            "an entry has this namespace and key; change it at its version, or replace it by PUT"
        )
        error = EntryExists(message, current=occupant, version=occupant.version)
        return error.at(transition.index)
    if occupant is None or transition.old is None or occupant.nonce != transition.old.nonce:
        return EntryNotFound().at(transition.index)
    return to_version_mismatch(occupant).at(transition.index)


def to_version_mismatch(current: Entry) -> VersionMismatch:
    """Return the error of a change that names another version than the entry's."""
    return VersionMismatch.of("the entry", current.version, current)


def _resolve_claim(transaction: Transaction, key: Key, item: Item | None) -> Transaction:
    failed = next((claim for claim in transaction.claims if claim.key == key), None)
    if failed is None:
        return transaction
    if item is not None:
        target = failed.target._replace(configured=decode_namespace(item))
        authorize(transaction.caller, WRITE_NAMESPACE, target)
    remaining = tuple(claim for claim in transaction.claims if claim is not failed)
    return replace(transaction, claims=remaining)
