"""Build the transaction that changes entries, write it, and resolve failed conditions.

The first attempt assumes the common case: the slot is free, the task is registered and knows the
agent, no limit is reached. A failed condition brings the item that caused it. That item is either
the answer to the caller, as an error, or says what the next attempt has to write as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.entries.agent_store import AgentUsage, build_counter_write, to_usage
from functions.entries.authority import CHANGE_ENTRY, DELETE_ENTRY
from functions.entries.capacity import (
    NO_EVICTIONS,
    Evictions,
    apply_pinned_namespaces,
    find_expired,
    plan_evictions,
)
from functions.entries.counters import CounterDelta, assert_working_fits, count_agent_changes
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, Transition
from functions.entries.store import (
    EntryStore,
    build_entry_write,
    build_index_writes,
    build_tombstone_write,
    build_vector_writes,
)
from functions.entries.task_scope import (
    NOTHING_KNOWN,
    TaskAssumptions,
    assert_may_register,
    build_task_writes,
    find_scopes,
    resolve_intent_conflict,
    resolve_task_conflict,
    set_fence,
    set_own,
)
from functions.identity.model import SERVICE, Actor, Principal
from functions.namespaces.authority import WRITE_MEMORY
from functions.namespaces.store import NamespaceClaim, namespace_from_item
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.errors import (
    BatchTooLarge,
    CapacityExceeded,
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
from functions.platform.limits import MAX_ITEM_BYTES, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_WRITES
from functions.platform.retry import Backoff
from functions.platform.table import Table, TransactionConditionFailed
from functions.platform.task_keys import build_principal_key
from functions.platform.writes import Write, check
from functions.tasks.model import Membership
from functions.tasks.store import TaskStore
from functions.vectors.client_vector_store import ClientVectorStore
from functions.vectors.packing import count_numbers

_ATTEMPTS = 100  # of which many are needed only where many requests evict at once
_LONGEST_WAIT = 0.1  # seconds
_ALWAYS_FIT = MAX_TRANSACTION_BYTES // MAX_ITEM_BYTES
_MAX_REMEMBERED = 10_000  # agents, tasks

_Failed = dict[Key, Item | None]


@dataclass(frozen=True, slots=True)
class Transaction:
    """What one transaction is to do, and what is known by now.

    Attributes:
        extra_writes: other writes, by their keys.
        claims: first configurations of namespaces.
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

    def with_tasks(self, tasks: TaskAssumptions) -> Self:
        """Return the transaction with what is known of its tasks."""
        transitions = tuple(set_own(each, tasks) for each in self.transitions)
        return replace(self, tasks=tasks, transitions=transitions)

    @property
    def caller_key(self) -> Key:
        """The key of the caller's principal."""
        return build_principal_key(self.caller.tenant, self.caller.id)

    def build_writes(self, mapper: EntryMapper, records: Iterable[Write] = ()) -> list[Write]:
        """Build all writes of the transaction, with the audit records of it.

        Raises:
            BatchTooLarge: when they are more than DynamoDB takes at once.
        """
        tenant, now = self.caller.tenant, self.now
        transitions = (
            *(set_fence(each, self.tasks) for each in self.transitions),
            *self.evictions.transitions,
        )
        writes = [build_entry_write(mapper, each) for each in transitions]
        for transition in transitions:
            writes.extend(build_index_writes(transition))
            writes.extend(build_vector_writes(transition))
            tombstone = build_tombstone_write(transition, self.actor or self.caller.actor, now)
            writes.extend([] if tombstone is None else [tombstone])
        deltas = count_agent_changes(transitions)
        if self.evictions.free_capacity is not None:  # a condition, even where nothing changes
            deltas.setdefault(self.caller.id, CounterDelta())
        writes.extend(
            build_counter_write(tenant, agent, delta, now, self.evictions.free_capacity)
            for agent, delta in deltas.items()
        )
        writes.extend(build_task_writes(self.caller, transitions, now, self.tasks))
        writes.extend(self.extra_writes.values())
        writes.extend(write for claim in self.claims for write in claim.writes)
        if self.claims:  # a revoked principal, whose key is remembered, becomes no curator
            writes.append(check(self.caller_key, "attribute_exists(pk)"))
        writes.extend(records)
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


class _IdempotentReplay(Exception):
    """The request was carried out before; `entries` are as it left them."""

    def __init__(self, entries: list[Entry]) -> None:
        super().__init__("already carried out")
        self.entries = entries


class EntryWriter:
    """Writes transactions of entries: every change but an owner's of one value or its tags."""

    def __init__(
        self,
        table: Table,
        mapper: EntryMapper,
        store: EntryStore,
        tasks: TaskStore,
        audit: AuditTrail,
        vectors: ClientVectorStore,
        clock: Clock,
    ) -> None:
        self._table = table
        self._mapper = mapper
        self._store = store
        self._tasks = tasks
        self._audit = audit
        self._vectors = vectors
        self._clock = clock
        self._full_agents: set[tuple[str, str]] = set()  # at capacity when they last wrote
        self._own_tasks: set[tuple[str, str]] = set()  # without a coordinator when last written to

    def commit(self, transaction: Transaction, token: RequestToken | None = None) -> list[Entry]:
        """Write a transaction, all or nothing; remove expired entries where a limit is reached.

        Args:
            token: the request's, if entries carry it.

        Returns:
            the entries as the request left them, now or when it was carried out before.

        Raises:
            EntryExists: when a slot is taken.
            EntryNotFound: when an entry to change or remove doesn't exist any more.
            VersionMismatch: when it has another version.
            CapacityExceeded: when a limit is reached.
            Unauthenticated: when the caller would be a namespace's curator, and was revoked.
            AccessDenied, TaskClosed, TaskReassigned, ValidationFailed: when a task, an intent or
                a namespace doesn't take the entry, or its vector has another length than the
                others of the namespace.
            BatchTooLarge: when there are too many writes for one transaction.
        """
        self._claim_vector_lengths(transaction)
        try:
            try:
                return self._commit(transaction, token)
            except CapacityExceeded:
                if not self._remove_expired(transaction):
                    raise
                return self._commit(transaction, token)
        except _IdempotentReplay as replay:
            return replay.entries

    def _claim_vector_lengths(self, transaction: Transaction) -> None:
        """Check the length of each new vector; the first one of a namespace decides."""
        for transition in transaction.transitions:
            new = transition.new
            if new is None or new.vector is None:
                continue
            partition = entry_keys.build_client_vectors_partition(new.address)
            length = self._vectors.claim_length(partition, count_numbers(new.vector))
            if length != new.vector_length:
                message = f"has {new.vector_length} numbers; those of this namespace have {length}"
                raise ValidationFailed("vector", message).at(transition.index)

    def write_evictions(self, tenant: str, agent: str, evictions: Evictions, now: int) -> bool:
        """Evict an agent's entries if its capacity left is as the evictions say.

        Returns whether they are evicted: not, when it or one of the entries has changed.
        """
        caller = Principal(tenant, agent, "agent", frozenset())
        transaction = Transaction(caller, (), now, evictions=evictions, actor=SERVICE)
        try:
            self._table.transact(transaction.build_writes(self._mapper))
        except TransactionConditionFailed:
            return False
        return True

    def _commit(self, transaction: Transaction, token: RequestToken | None) -> list[Entry]:
        transaction = self._evict_if_known_full(self._assume_own_tasks(transaction))
        backoff = Backoff(
            "others are writing the same entries", attempts=_ATTEMPTS, longest_wait=_LONGEST_WAIT
        )
        is_first = True
        while True:
            try:
                records = self._build_records(transaction)
                self._table.transact(transaction.build_writes(self._mapper, records))
                self._remember_capacity(transaction)
                self._remember_own_tasks(transaction)
                return [each.current for each in transaction.transitions]
            except TransactionConditionFailed as conflict:
                transaction = self._resolve(transaction, conflict.failed, token)
            if not is_first:
                backoff.wait()
            is_first = False

    def _build_records(self, transaction: Transaction) -> Iterator[Write]:
        """Build the records of changes of what others made in a namespace by a request."""
        caller = transaction.caller
        for each in transaction.transitions if transaction.actor is None else ():
            old, new = each.old, each.new
            if old is None or old.policy.is_private or old.author == caller.id:
                continue
            if old.is_expired(transaction.now) or (new is None and each.reason != "deleted"):
                continue
            action = DELETE_ENTRY if new is None or each.is_create else CHANGE_ENTRY
            before = {"created_by": old.author, "version": old.version}
            after = None if new is None else {"entry_id": new.id, "version": new.version}
            yield self._audit.record(caller, action, f"entry:{old.id}", before, after)

    def _remove_expired(self, transaction: Transaction) -> bool:
        """Remove expired entries that count against the limits; return whether there were any."""
        caller, now = transaction.caller, self._clock()
        removed = 0
        for entry in find_expired(self._store, caller.tenant, transaction.transitions, now):
            removal = Transition(entry, None, reason="expired")
            try:
                self._commit(Transaction(caller, (removal,), now), None)
                removed += 1
            except (EntryNotFound, VersionMismatch):
                continue
        return removed > 0

    def _assume_own_tasks(self, transaction: Transaction) -> Transaction:
        """Assume in the first attempt that tasks without a coordinator still have none."""
        tenant = transaction.caller.tenant
        known = {
            task
            for task in find_scopes(transaction.transitions)
            if (tenant, task) in self._own_tasks
        }
        return (
            transaction.with_tasks(TaskAssumptions(uncoordinated=frozenset(known)))
            if known
            else transaction
        )

    def _remember_own_tasks(self, transaction: Transaction) -> None:
        for task in find_scopes(transaction.transitions):
            known = (transaction.caller.tenant, task)
            if task not in transaction.tasks.own_tasks:
                self._own_tasks.discard(known)
            elif len(self._own_tasks) < _MAX_REMEMBERED:
                self._own_tasks.add(known)

    def _evict_if_known_full(self, transaction: Transaction) -> Transaction:
        """Evict in the first attempt where that was needed last time; the counters check it."""
        for agent, delta in count_agent_changes(transaction.transitions).items():
            if delta.episodic > 0 and (transaction.caller.tenant, agent) in self._full_agents:
                return self._evict(transaction, agent, AgentUsage(free_capacity=0))
        return transaction

    def _remember_capacity(self, transaction: Transaction) -> None:
        agent = (transaction.caller.tenant, transaction.caller.id)
        if transaction.evictions.transitions and len(self._full_agents) < _MAX_REMEMBERED:
            self._full_agents.add(agent)
        elif agent in self._full_agents and any(
            each.new is not None and each.new.policy.is_evictable
            for each in transaction.transitions
        ):
            self._full_agents.discard(agent)

    def _resolve(
        self, transaction: Transaction, failed: _Failed, token: RequestToken | None
    ) -> Transaction:
        """Return the transaction to try next.

        Raises:
            ServiceError: when there is none, with the `index` of the entry in the request.
        """
        transaction = self._resolve_slots(transaction, failed, token)
        caller, now = transaction.caller, transaction.now

        def read_membership(task: str) -> Membership:
            return self._tasks.get_membership(caller.tenant, task, caller.id)

        assert_may_register(caller, transaction.transitions, failed)
        for key, item in failed.items():
            transaction = _resolve_claim(transaction, key, item)
            tasks = resolve_task_conflict(
                caller,
                transaction.transitions,
                now,
                transaction.tasks,
                (key, item),
                read_membership,
            )
            tasks = resolve_intent_conflict(caller, transaction.transitions, tasks, (key, item))
            transaction = transaction.with_tasks(tasks)
        for key, item in failed.items():  # which limits there are depends on the tasks
            transaction = self._resolve_capacity(transaction, key, item)
        return transaction

    def _resolve_slots(
        self, transaction: Transaction, failed: _Failed, token: RequestToken | None
    ) -> Transaction:
        transitions: list[Transition] = []
        replayed: list[Entry] = []
        errors: list[ServiceError] = []
        for transition in transaction.transitions:
            transitions.append(transition)
            if transition.item_key not in failed:
                continue
            item = failed[transition.item_key]
            occupant = None if item is None else self._mapper.to_entry(item)
            if transition.is_create and (occupant is None or occupant.is_expired(transaction.now)):
                transitions[-1] = replace(transition, old=occupant)
            elif occupant is not None and token is not None and token.matches(occupant.request):
                replayed.append(occupant)
            else:
                errors.append(_to_slot_error(transition, occupant))
        if len(replayed) == len(transitions):
            raise _IdempotentReplay(replayed)
        if errors:
            raise errors[0]
        if replayed:
            raise EntryExists("this request was carried out before; what it wrote has changed")
        return replace(transaction, transitions=tuple(transitions))

    def _resolve_capacity(
        self, transaction: Transaction, key: Key, item: Item | None
    ) -> Transaction:
        caller, evictions = transaction.caller, transaction.evictions
        evicted = {each.item_key for each in evictions.transitions}
        for agent, delta in count_agent_changes(transaction.transitions).items():
            if key in evicted:  # it was removed, read or written meanwhile
                left = evictions.free_capacity or 0
                return self._evict(transaction, agent, AgentUsage(free_capacity=left))
            if key != entry_keys.build_agent_key(caller.tenant, agent):
                continue
            usage = to_usage(item)
            free = (usage.free_working_entries, usage.free_working_bytes)
            most = (usage.max_working_entries, usage.max_working_bytes)
            assert_working_fits(delta, free, most, transaction.transitions[0].index)
            transitions = apply_pinned_namespaces(
                transaction.transitions, agent, usage.pinned_namespaces
            )
            return self._evict(replace(transaction, transitions=transitions), agent, usage)
        return transaction

    def _evict(self, transaction: Transaction, agent: str, usage: AgentUsage) -> Transaction:
        tenant, now = transaction.caller.tenant, transaction.now
        evictions = plan_evictions(self._store, tenant, agent, usage, transaction.transitions, now)
        return replace(transaction, evictions=evictions)


def _to_slot_error(transition: Transition, occupant: Entry | None) -> ServiceError:
    if occupant is not None and transition.is_create:
        message = "the slot is taken; PATCH the entry in it"
        error = EntryExists(message, current=occupant, version=occupant.version)
        return error.at(transition.index)
    if occupant is None or transition.old is None or occupant.nonce != transition.old.nonce:
        return EntryNotFound().at(transition.index)
    return to_version_mismatch(occupant).at(transition.index)


def to_version_mismatch(current: Entry) -> VersionMismatch:
    """Return the error of a change that names another version than the entry's."""
    return VersionMismatch(
        f"the entry is at version {current.version}; merge with it and try again",
        current=current,
        version=current.version,
    )


def _resolve_claim(transaction: Transaction, key: Key, item: Item | None) -> Transaction:
    """Leave out the first configuration of a namespace that is configured meanwhile."""
    if key == transaction.caller_key:
        raise Unauthenticated("this principal was revoked")
    failed = next((claim for claim in transaction.claims if claim.key == key), None)
    if failed is None:
        return transaction
    if item is not None:
        target = failed.target._replace(configured=namespace_from_item(item))
        authorize(transaction.caller, WRITE_MEMORY, target)
    remaining = tuple(claim for claim in transaction.claims if claim is not failed)
    return replace(transaction, claims=remaining)
