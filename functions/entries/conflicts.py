"""Resolve the failed conditions of a transaction of entries.

The first attempt assumes the common case: the slot is free, the task is registered and knows the
agent, no limit is reached. A failed condition brings the item that caused it. That item is either
the answer to the caller, as an error, or says what the next attempt has to write as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from functions.authorization.rules import authorize
from functions.entries.agent_store import AgentUsage, to_usage
from functions.entries.capacity import apply_pinned_namespaces, plan_evictions
from functions.entries.counters import (
    assert_working_fits,
    count_agent_changes,
    count_changes_of_agent,
)
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, Transition
from functions.entries.store import EntryStore
from functions.entries.task_conflicts import (
    assert_may_register,
    resolve_intent_conflict,
    resolve_task_conflict,
)
from functions.entries.transaction import Transaction
from functions.identity.model import Principal
from functions.namespaces.authority import WRITE_MEMORY
from functions.namespaces.restrictions import Restrictions, RestrictionStore
from functions.namespaces.store import namespace_from_item
from functions.platform import item_types
from functions.platform.errors import (
    EntryExists,
    EntryNotFound,
    ServiceError,
    Unauthenticated,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.tasks.authority import WRITE_MEMORY as WRITE_TASK_MEMORY
from functions.tasks.authority import TaskTarget, authorize_write
from functions.tasks.model import Membership
from functions.tasks.store import TaskStore

FailedConditions = dict[Key, Item | None]


class IdempotentReplay(Exception):
    """The request was carried out before; `entries` are as it left them."""

    def __init__(self, entries: list[Entry]) -> None:
        super().__init__("already carried out")
        self.entries = entries


@dataclass(eq=False)
class ConflictResolver:
    """Says what to try next when conditions of a transaction failed."""

    _store: EntryStore
    _mapper: EntryMapper
    _tasks: TaskStore
    _restrictions: RestrictionStore

    def resolve(
        self, transaction: Transaction, failed: FailedConditions, token: RequestToken | None
    ) -> Transaction:
        """Return the transaction to try next."""
        if transaction.caller_key in failed:
            raise Unauthenticated("this principal was revoked")
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
        self, transaction: Transaction, failed: FailedConditions, token: RequestToken | None
    ) -> Transaction:
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
                errors.append(_to_slot_error(transition, occupant))
        if len(replayed) == len(transitions):
            self.authorize_repetition(transaction.caller, replayed, transaction.now)
            raise IdempotentReplay(replayed)
        if errors:
            raise errors[0]
        if replayed:
            raise EntryExists("this request was carried out before; what it wrote has changed")
        return replace(transaction, transitions=tuple(transitions))

    def authorize_repetition(self, caller: Principal, entries: Iterable[Entry], now: int) -> None:
        """Check that the tasks of entries still take writes of a caller that repeats a request."""
        bound = [each.task_id for each in entries if each.policy.is_task_bound]
        for task in self._tasks.get_many(caller.tenant, set(filter(None, bound))):
            member = self._tasks.get_membership(caller.tenant, task.id, caller.id)
            authorize_write(caller, WRITE_TASK_MEMORY, TaskTarget(task, now, member))

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
        """Return the transaction with what it has to evict under guardrails, before any attempt."""
        caller = transaction.caller
        item, restrictions = self._restrictions.read(caller.tenant, caller.id)
        return self._fit(transaction, caller.id, item, restrictions)

    def _fit(
        self,
        transaction: Transaction,
        agent: str,
        item: Item | None,
        restrictions: Restrictions | None = None,
    ) -> Transaction:
        """Fit the transaction into what an agent may hold by its settings and guardrails.

        Raises:
            CapacityExceeded: when nothing that may be evicted makes it fit.
        """
        tenant = transaction.caller.tenant
        if restrictions is None:
            restrictions = self._restrictions.find_each(tenant, {agent: item})[agent]
        usage = to_usage(item, restrictions.max_episodic)
        free = (usage.working_room, usage.working_room_bytes)
        most = (usage.working_max_entries, usage.working_max_bytes)
        assert_working_fits(
            transaction.transitions, partial(count_changes_of_agent, agent), free, most
        )
        transitions = apply_pinned_namespaces(
            transaction.transitions, agent, usage.episodic_pinned_namespaces
        )
        fitted = replace(transaction, transitions=transitions, reserved=usage.episodic_reserved)
        return self.evict(fitted, agent, usage)

    def evict(self, transaction: Transaction, agent: str, usage: AgentUsage) -> Transaction:
        """Return the transaction with what it has to evict, given what the agent holds."""
        tenant, now = transaction.caller.tenant, transaction.now
        evictions = plan_evictions(self._store, tenant, agent, usage, transaction.transitions, now)
        return replace(transaction, evictions=evictions)


def _to_slot_error(transition: Transition, occupant: Entry | None) -> ServiceError:
    if occupant is not None and transition.is_create:
        message = "there is an entry of this name; change it at its version, or put to replace it"
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
        target = failed.target._replace(configured=namespace_from_item(item))
        authorize(transaction.caller, WRITE_MEMORY, target)
    remaining = tuple(claim for claim in transaction.claims if claim is not failed)
    return replace(transaction, claims=remaining)
