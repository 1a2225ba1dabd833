"""Read single entries (RFC-0015 §2, §3.1)."""

from dataclasses import dataclass

from functions.entries.agent_store import AgentStore
from functions.entries.authority import EntryTarget, assert_can_read, build_target
from functions.entries.capacity import AccessTracker
from functions.entries.model import Entry
from functions.entries.store import EntryStore
from functions.entries.tiers import POLICIES_BY_ID_LETTER
from functions.identity.model import Principal
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.platform.entry_keys import EntryAddress, parse_entry_id
from functions.platform.errors import EntryNotFound
from functions.tasks.access import TaskAccess
from functions.vectors.client_vector_store import ClientVectorStore, unpack_vector


@dataclass(eq=False)
class EntryReader:
    """Reads the memory of a caller's tenant, entry by entry.

    Methods that take an `entry_id` raise `EntryNotFound` if the caller's tenant has no unexpired
    entry of this id, and `AccessDenied` if the caller may not read it.
    """

    _store: EntryStore
    _access_tracker: AccessTracker
    _tasks: TaskAccess
    _namespaces: Namespaces
    _agents: AgentStore
    _vectors: ClientVectorStore
    _clock: Clock

    def get(self, caller: Principal, entry_id: str, *, is_touched: bool = True) -> Entry:
        """Return an entry: one call for its owner, and for semantic memory.

        Args:
            is_touched: whether the owner's read counts for the order of eviction.
        """
        address, nonce = parse_entry_id(caller.tenant, entry_id)
        policy = POLICIES_BY_ID_LETTER[address.tier]
        if is_touched and policy.is_evictable and address.is_owned_by(caller.id):
            return self._get_own_evictable(caller, address, nonce)
        return self.get_with_namespace(caller, entry_id)[0]

    def get_by_nonce(self, caller: Principal, tier: str, nonce: str, agent: str | None) -> Entry:
        """Return an entry by the parts of a short reference: two calls; no access is recorded.

        Args:
            tier: the letter of the tier.
            agent: the owner of a private entry; None in semantic memory.

        Raises:
            EntryNotFound: there is no unexpired entry with this nonce.
            AccessDenied: the caller may not read it.
        """
        found = self._store.find_id(caller.tenant, agent, tier, nonce)
        if found is None:
            raise EntryNotFound
        return self.get(caller, found, is_touched=False)

    def get_with_namespace(
        self, caller: Principal, entry_id: str
    ) -> tuple[Entry, NamespaceTarget | None]:
        """Return an entry and, of semantic memory, its namespace; no access is recorded."""
        entry, namespace = self.read_live(caller, entry_id)
        assert_can_read(self._tasks, caller, entry, namespace)
        return entry, namespace

    def get_vector(self, entry: Entry) -> list[float] | None:
        """Return the vector that its client gave an entry, of unit length; None if there is none.

        One call for an entry that has one.
        """
        if entry.vector_at is None:
            return None
        partition = entry.address.client_vectors
        packed = self._vectors.get(partition, entry.vector_at, entry.id)
        return None if packed is None else unpack_vector(packed)

    def find_target(self, caller: Principal, entry_id: str) -> EntryTarget:
        """Read an entry with the facts that decide on the caller's access."""
        return build_target(self._tasks, caller, *self.read_live(caller, entry_id))

    def read_live(self, caller: Principal, entry_id: str) -> tuple[Entry, NamespaceTarget | None]:
        """Read an entry and, of semantic memory, its namespace; access isn't checked."""
        address, nonce = parse_entry_id(caller.tenant, entry_id)
        found, namespace = self.read_slot(caller, address)
        return self.require_live(found, address, nonce), namespace

    def _get_own_evictable(self, caller: Principal, address: EntryAddress, nonce: str) -> Entry:
        """Read the agent's counters with the entry: they decide whether to record the access."""
        key = address.item_key
        usage, read = self._agents.get_limited_usage(caller.tenant, caller.id, key)
        entry = self.require_live(self._store.decode(read.get(key)), address, nonce)
        self._access_tracker.record_own_reads(caller, (entry,), usage)
        return entry

    def read_slot(
        self, caller: Principal, address: EntryAddress, namespace: str | None = None
    ) -> tuple[Entry | None, NamespaceTarget | None]:
        """Read the entry in a slot, and the namespace that decides on access, if any.

        Args:
            namespace: its name; by default, the namespace of the entry.
        """
        if POLICIES_BY_ID_LETTER[address.tier].is_private:
            return self._store.get(address), None
        item, target = self._namespaces.find_with_entry(caller, address, namespace)
        return self._store.decode(item), target

    def require_live(self, entry: Entry | None, address: EntryAddress, nonce: str) -> Entry:
        """Return an entry; raise `EntryNotFound` if it is another one or has expired."""
        # A slot is reused: an id of "plan" that was deleted and created again has another nonce,
        # and never finds the newer entry.
        if entry is None or (entry.address, entry.nonce) != (address, nonce):
            raise EntryNotFound
        if entry.is_expired(self._clock()):
            raise EntryNotFound
        return entry
