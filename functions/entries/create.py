"""Create an entry in a free slot (RFC-0015 §1.2)."""

from dataclasses import dataclass

from functions.entries.change import compute_entry_expiry, set_vector, to_entry_fields
from functions.entries.model import Entry, Transition
from functions.entries.requests import NewEntry, Scope
from functions.entries.tiers import POLICIES
from functions.entries.transaction_store import Transaction
from functions.entries.writer import EntryWriter
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceClaim
from functions.platform import keys
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied
from functions.platform.idempotency import RequestToken


@dataclass(eq=False)
class Creates:
    """Creates entries of a caller's tenant."""

    _writer: EntryWriter
    _namespaces: Namespaces
    _clock: Clock

    def create(self, caller: Principal, new: NewEntry, token: RequestToken) -> Entry:
        """Create an entry in a free slot (RFC-0015 §1.2).

        Raises:
            EntryExists: when the slot is taken.
            AccessDenied: when the caller may not write in the entry's namespace, task or intent, or
                names another agent.
            TaskClosed: when the task has ended.
            CapacityExceeded: when a limit is reached, and nothing can be evicted.
            ValidationFailed: when fields contradict each other.
            ValueTooLarge: when the value has more than `limits.MAX_VALUE_BYTES`.
        """
        now = self._clock()
        entry = build_entry(caller, new, now, token)
        claims: tuple[NamespaceClaim, ...] = ()
        if not entry.policy.is_private:
            target = self._namespaces.find(caller, entry.namespace)
            claims = self._namespaces.claim_if_new(caller, target)
        transaction = Transaction(caller, (Transition(None, entry),), now, claims=claims)
        return self._writer.commit(transaction, token)[0]


def build_entry(caller: Principal, new: NewEntry, now: int, token: RequestToken) -> Entry:
    """Return the entry that a request creates."""
    policy, agent = POLICIES[new.memory_type], new.agent_id or caller.id
    scope = new.scope or Scope()
    if policy.is_private and agent != caller.id:
        raise AccessDenied("only the owner of working and episodic memory can write it")
    given = {name: value for name, value in to_entry_fields(new).items() if value is not None}
    policy.assert_allows_fields(given)
    entry = Entry(
        address=policy.build_address(caller.tenant, agent, new.namespace, new.key),
        nonce=keys.create_nonce(now),
        memory_type=new.memory_type,
        agent_id=agent,
        version=1,
        created_at=now,
        updated_at=now,
        last_accessed_at=now,
        created_by=caller.id,
        curated_by=None if policy.is_private else caller.id,
        task_id=scope.task_id,
        intent_id=scope.intent_id,
        expires_at=compute_entry_expiry(new.ttl, new.expires_at, scope.task_id, now),
        pinned_by_settings=policy.is_evictable and new.pinned is None,
        request_token=token.stored,
        actor_kind=caller.kind,
        **given,
    )
    return set_vector(entry, given, now)
