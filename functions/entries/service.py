"""Create, get, change and delete single entries (RFC-0015 §1-§3)."""

from dataclasses import dataclass

from functions.authorization.rules import authorize
from functions.entries import rules
from functions.entries.access import assert_can_read, build_target
from functions.entries.agent_store import AgentStore
from functions.entries.authority import REMOVE_ENTRY, WRITE_ENTRY, EntryTarget
from functions.entries.capacity import AccessTracker
from functions.entries.conflicts import to_version_mismatch
from functions.entries.model import Entry, Transition
from functions.entries.own_change_store import OwnChangeStore
from functions.entries.requests import EntryChange, NewEntry
from functions.entries.store import EntryStore
from functions.entries.tiers import POLICIES_BY_ID_LETTER
from functions.entries.transaction import Transaction
from functions.entries.writer import EntryWriter
from functions.identity.model import Principal
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceClaim
from functions.platform import entry_keys, vector_keys
from functions.platform.clock import Clock
from functions.platform.entry_keys import EntryAddress
from functions.platform.errors import EntryNotFound, ValidationFailed, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.retry import Backoff
from functions.tasks.access import TaskAccess
from functions.vectors.client_vector_store import ClientVectorStore
from functions.vectors.packing import unpack_vector

_CHANGED_BY_ONE_WRITE = frozenset({"value", "tags"})


@dataclass(eq=False)
class Entries:
    """The memory of a caller's tenant, entry by entry."""

    _store: EntryStore
    _own_changes: OwnChangeStore
    _writer: EntryWriter
    _access_tracker: AccessTracker
    _tasks: TaskAccess
    _namespaces: Namespaces
    _agents: AgentStore
    _vectors: ClientVectorStore
    _clock: Clock

    def create(self, caller: Principal, new: NewEntry, token: RequestToken) -> Entry:
        """Create an entry in a free slot (RFC-0015 §1.2).

        Raises:
            EntryExists: when the slot is taken.
            AccessDenied: when the caller may not write in the entry's namespace, task or intent,
                or names another agent.
            TaskClosed: when the task has ended.
            CapacityExceeded: when a limit is reached, and nothing can be evicted.
            ValidationFailed: when fields don't fit together.
            ValueTooLarge: when the value has more than 65,536 bytes.
        """
        now = self._clock()
        entry = rules.build_entry(caller, new, now, token)
        claim = self._claim_namespace(caller, entry)
        by_settings = rules.is_pinned_by_settings(new)
        transition = Transition(None, entry, pinned_by_settings=by_settings)
        claims = () if claim is None else (claim,)
        return self._writer.commit(Transaction(caller, (transition,), now, claims=claims), token)[0]

    def _claim_namespace(self, caller: Principal, entry: Entry) -> NamespaceClaim | None:
        """Build the configuration of a new entry's namespace, if the entry is its first one."""
        if entry.policy.is_private:
            return None
        target = self._namespaces.find(caller, entry.namespace)
        return self._namespaces.claim_if_new(caller, target)

    def get(self, caller: Principal, entry_id: str, *, is_touched: bool = True) -> Entry:
        """Return an entry: one call for its owner, and for semantic memory.

        Args:
            is_touched: whether the owner's read counts for the order of eviction.

        Raises:
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not read it.
        """
        address, nonce = _parse_id(caller, entry_id)
        policy = POLICIES_BY_ID_LETTER[address.tier]
        if is_touched and policy.is_evictable and address.is_owned_by(caller.id):
            return self._get_own_evictable(caller, address, nonce)
        return self._get_with_namespace(caller, address, nonce)[0]

    def get_with_namespace(
        self, caller: Principal, entry_id: str
    ) -> tuple[Entry, NamespaceTarget | None]:
        """Return an entry and, of semantic memory, its namespace: one call; no access is recorded.

        Raises:
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not read it.
        """
        return self._get_with_namespace(caller, *_parse_id(caller, entry_id))

    def _get_with_namespace(
        self, caller: Principal, address: EntryAddress, nonce: str
    ) -> tuple[Entry, NamespaceTarget | None]:
        found, namespace = self._read(caller, address)
        entry = self._require_live(found, address, nonce)
        assert_can_read(self._tasks, caller, entry, namespace)
        return entry, namespace

    def get_vector(self, entry: Entry) -> list[float] | None:
        """Return the vector that its client gave an entry, of unit length; None if there is none.

        One call for an entry that has one.
        """
        if entry.vector_at is None:
            return None
        partition = vector_keys.build_client_vectors_partition(entry.address)
        packed = self._vectors.get(partition, entry.vector_at, entry.id)
        return None if packed is None else unpack_vector(packed)

    def find_target(self, caller: Principal, entry_id: str) -> EntryTarget:
        """Read an entry with all that decides on the caller's access to it.

        Raises:
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
        """
        address, nonce = _parse_id(caller, entry_id)
        found, namespace = self._read(caller, address)
        entry = self._require_live(found, address, nonce)
        return build_target(self._tasks, caller, entry, namespace)

    def _get_own_evictable(self, caller: Principal, address: EntryAddress, nonce: str) -> Entry:
        """Read the agent's counters with the entry: they say whether to record the access."""
        found, read = self._store.get_with(address, self._agents.list_keys(caller))
        entry = self._require_live(found, address, nonce)
        self._access_tracker.record_own_reads(caller, (entry,), self._agents.find(caller, read))
        return entry

    def _read(
        self, caller: Principal, address: EntryAddress
    ) -> tuple[Entry | None, NamespaceTarget | None]:
        """Read the entry in a slot, and the namespace that decides on access to it, if one does."""
        if POLICIES_BY_ID_LETTER[address.tier].is_private:
            return self._store.get(address), None
        others = self._namespaces.list_keys(caller, address.namespace_key)
        entry, read = self._store.get_with(address, others)
        if entry is None:
            return None, None
        return entry, self._namespaces.build_target(caller, entry.namespace, read)

    def _require_live(self, entry: Entry | None, address: EntryAddress, nonce: str) -> Entry:
        if entry is None or (entry.address, entry.nonce) != (address, nonce):
            raise EntryNotFound
        if entry.is_expired(self._clock()):
            raise EntryNotFound
        return entry

    def change(
        self,
        caller: Principal,
        entry_id: str,
        version: int,
        change: EntryChange,
        token: RequestToken,
    ) -> Entry:
        """Change an entry that is at `version` (RFC-0015 §3.2).

        The owner's change of value or tags is one call; it fails where more has to change.

        Raises:
            VersionMismatch: when the entry is at another version.
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not write it.
            CapacityExceeded: when the change exceeds a limit.
            ValidationFailed: when nothing is given, or fields don't fit together.
            ValueTooLarge: when the value has more than 65,536 bytes.
        """
        address, nonce = _parse_id(caller, entry_id)
        if not change.model_fields_set:
            raise ValidationFailed("body", "names nothing to change")
        namespace = None
        if address.is_owned_by(caller.id) and change.model_fields_set <= _CHANGED_BY_ONE_WRITE:
            changes = rules.to_entry_fields(change) | {"request_token": token.stored}
            changed, found = self._own_changes.update(
                address, nonce, version, caller, self._clock(), changes
            )
            if changed is not None:
                return changed
        else:
            found, namespace = self._read(caller, address)
        entry = self._require_live(found, address, nonce)
        return self._change(caller, entry, namespace, version, change, token)

    def _change(
        self,
        caller: Principal,
        entry: Entry,
        namespace: NamespaceTarget | None,
        version: int,
        change: EntryChange,
        token: RequestToken,
    ) -> Entry:
        authorize(caller, WRITE_ENTRY, EntryTarget(entry, namespace))
        if token.matches(entry.request_token):
            return self._writer.repeat(caller, entry)
        if entry.version != version:
            raise to_version_mismatch(entry)
        now = self._clock()
        changed = rules.apply_change(caller, entry, change, now, token)
        transition = Transition(entry, changed)
        return self._writer.commit(Transaction(caller, (transition,), now), token)[0]

    def delete(self, caller: Principal, entry_id: str, version: int | None) -> None:
        """Delete an entry at once and for good (RFC-0015 §9.3).

        Raises:
            VersionMismatch: when `version` is given and the entry is at another one.
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not write it.
        """
        address, nonce = _parse_id(caller, entry_id)
        backoff = Backoff("others keep changing this entry")
        while True:
            found, namespace = self._read(caller, address)
            entry = self._require_live(found, address, nonce)
            authorize(caller, REMOVE_ENTRY, EntryTarget(entry, namespace))
            if version not in (None, entry.version):
                raise to_version_mismatch(entry)
            try:
                self._writer.commit(Transaction(caller, (Transition(entry, None),), self._clock()))
                return
            except VersionMismatch:
                backoff.wait()


def _parse_id(caller: Principal, entry_id: str) -> tuple[EntryAddress, str]:
    address = entry_keys.parse_entry_id(caller.tenant, entry_id)
    if address is None:
        raise EntryNotFound
    return address
