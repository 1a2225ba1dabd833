"""Write transactions of entries."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from functions.audit.service import AuditTrail
from functions.entries.agent_store import AgentUsage
from functions.entries.authority import CHANGE_ENTRY, DELETE_ENTRY
from functions.entries.capacity import Evictions, find_expired
from functions.entries.conflicts import ConflictResolver, IdempotentReplay, to_version_mismatch
from functions.entries.counters import count_agent_changes
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, Transition
from functions.entries.store import EntryStore
from functions.entries.task_scope import TaskAssumptions, find_scopes
from functions.entries.transaction_store import Transaction
from functions.identity.model import SERVICE, Principal
from functions.namespaces.store import RestrictionStore
from functions.platform.clock import Clock
from functions.platform.errors import (
    CapacityExceeded,
    EntryNotFound,
    ServiceError,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write
from functions.vectors.client_vector_store import ClientVectorStore, claim_vector_length

_ATTEMPTS = 100  # attempts; many are needed only if many requests evict at once
_LONGEST_WAIT = 0.1  # seconds
_MAX_REMEMBERED = 10_000  # agents, tasks
_MAX_CHANGED = 100  # entries


@dataclass(eq=False)
class EntryWriter:
    """Writes transactions of entries: all changes except one-write changes by owners.

    It remembers which agents were at capacity at their last write, and which tasks had no
    coordinator at the last write to them.

    Attributes:
        changed: what this process has changed lately of entries that have vectors.
    """

    _table: Table
    _mapper: EntryMapper
    _store: EntryStore
    _conflicts: ConflictResolver
    _restrictions: RestrictionStore
    _audit: AuditTrail
    _vectors: ClientVectorStore
    _clock: Clock
    _full_agents: set[tuple[str, str]] = field(default_factory=set, init=False)
    _own_tasks: set[tuple[str, str]] = field(default_factory=set, init=False)
    changed: deque[Entry] = field(default_factory=lambda: deque(maxlen=_MAX_CHANGED), init=False)

    def commit(self, transaction: Transaction, token: RequestToken | None = None) -> list[Entry]:
        """Write a transaction, all or nothing; remove expired entries if a limit is reached.

        Args:
            token: the request's, if entries carry it.

        Returns:
            the entries that the request wrote, now or in an earlier try.
        """
        try:
            try:
                return self._commit(transaction, token)
            except CapacityExceeded:
                if not self._remove_expired(transaction):
                    raise
                return self._commit(transaction, token)
        except IdempotentReplay as replay:
            return replay.entries

    def repeat(self, caller: Principal, entry: Entry) -> Entry:
        """Return the entry that a repeated request wrote, if its task still allows the write."""
        self._conflicts.authorize_repetition(caller, (entry,), self._clock())
        return entry

    def refuse_version(self, caller: Principal, entry: Entry) -> NoReturn:
        """Raise the error of a change that names another version than the entry's."""
        self._conflicts.authorize_fenced(caller, entry, self._clock())
        raise to_version_mismatch(entry)

    def raise_first(
        self, transitions: Iterable[Transition], error: ServiceError, token: RequestToken
    ) -> NoReturn:
        """Raise the error of a batch's element, or that of an earlier create of a taken name."""
        raise self._conflicts.find_taken(transitions, self._clock(), token) or error

    def write_evictions(self, tenant: str, agent: str, evictions: Evictions, now: int) -> bool:
        """Evict an agent's entries if its remaining capacity is as decided on.

        Returns False if the capacity or one of the entries has changed.
        """
        caller = Principal(tenant, agent, "agent", frozenset())
        transaction = Transaction(caller, (), now, evictions=evictions, actor=SERVICE)
        return self._table.try_write(*transaction.build_writes(self._mapper))

    def _commit(self, transaction: Transaction, token: RequestToken | None) -> list[Entry]:
        is_private = any(each.current.policy.is_private for each in transaction.transitions)
        if is_private:
            transaction = self._evict_if_known_full(self._assume_own_tasks(transaction))
        backoff = Backoff(
            "others are writing the same entries", attempts=_ATTEMPTS, longest_wait=_LONGEST_WAIT
        )
        is_first = True
        while True:
            try:
                further = list[Write]()
                if any(each.new and each.new.packed_vector for each in transaction.transitions):
                    further += self._build_length_claims(transaction)
                if transaction.actor is None and any(each.old for each in transaction.transitions):
                    further += self._build_records(transaction)
                self._table.transact(transaction.build_writes(self._mapper, further))
                if is_private:
                    self._remember_capacity(transaction)
                    self._remember_own_tasks(transaction)
                self.changed.extend(
                    each.new
                    for each in transaction.transitions
                    if each.old and each.new and each.new.policy.has_vectors
                )
                return [each.current for each in transaction.transitions]
            except ConditionFailed as conflict:
                transaction = self._conflicts.resolve(transaction, conflict.failed, token)
            if not is_first:
                backoff.wait()
            is_first = False

    def _build_length_claims(self, transaction: Transaction) -> list[Write]:
        """Check the dimensions of each new vector; a namespace's first vector sets them."""
        claimed: dict[str, int] = {}
        for transition in transaction.transitions:
            new = transition.new
            if new is None or new.packed_vector is None or new.vector_length is None:
                continue
            partition = new.address.client_vectors
            length = self._vectors.get_length(partition)
            if length is None:
                length = claimed.setdefault(partition, new.vector_length)
            if length != new.vector_length:
                message = f"has {new.vector_length} numbers; this namespace accepts {length}"
                raise ValidationFailed("vector", message).at(transition.index)
        return [claim_vector_length(*each) for each in claimed.items()]

    def _build_records(self, transaction: Transaction) -> Iterator[Write]:
        caller = transaction.caller
        for each in transaction.transitions:
            old, new = each.old, each.new
            if old is None or old.policy.is_private or old.created_by == caller.id:
                continue
            if old.is_expired(transaction.now) or (new is None and each.reason != "deleted"):
                continue
            action = DELETE_ENTRY if new is None or each.is_create else CHANGE_ENTRY
            before = {"created_by": old.created_by, "version": old.version}
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
        tenant, tasks = transaction.caller.tenant, find_scopes(transaction.transitions)
        known = frozenset(each for each in tasks if (tenant, each) in self._own_tasks)
        return transaction.with_tasks(TaskAssumptions(uncoordinated=known))

    def _remember_own_tasks(self, transaction: Transaction) -> None:
        for task in find_scopes(transaction.transitions):
            known = (transaction.caller.tenant, task)
            if task not in transaction.tasks.own_tasks:
                self._own_tasks.discard(known)
            elif len(self._own_tasks) < _MAX_REMEMBERED:
                self._own_tasks.add(known)

    def _evict_if_known_full(self, transaction: Transaction) -> Transaction:
        """Evict in the first attempt if the last write had to; the counters check the decision.

        If guardrails limited the agent last time, they are read first.
        """
        tenant = transaction.caller.tenant
        for agent, delta in count_agent_changes(transaction.transitions).items():
            if delta.episodic <= 0:
                continue
            if self._restrictions.is_remembered(tenant, agent):
                return self._conflicts.examine(transaction)
            if (tenant, agent) in self._full_agents:
                return self._conflicts.evict(transaction, agent, AgentUsage(episodic_room=0))
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
