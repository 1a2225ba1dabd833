"""Write many entries atomically, or delete them by filters (RFC-0015 "Batch Operations")."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial

from functions.authorization.rules import authorize, is_allowed
from functions.entries.authority import REMOVE_ENTRY, WRITE_ENTRY, EntryTarget
from functions.entries.change import apply_change
from functions.entries.create import build_entry
from functions.entries.delete import Deletes
from functions.entries.filters import Filters
from functions.entries.model import Entry, Transition
from functions.entries.query import Queries
from functions.entries.requests import BatchUpdate, EntryChange, NewEntry
from functions.entries.store import EntryStore
from functions.entries.tiers import POLICIES, POLICIES_BY_ID_LETTER, WORKING
from functions.entries.transaction_store import Transaction
from functions.entries.writer import EntryWriter
from functions.identity.model import Principal
from functions.namespaces.authority import WRITE_MEMORY
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceClaim
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.entry_keys import EntryAddress
from functions.platform.errors import (
    AccessDenied,
    BatchTooLarge,
    EntryNotFound,
    ServiceError,
    TaskReassigned,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.keys import Key
from functions.platform.limits import MAX_TRANSACTION_WRITES
from functions.platform.writes import split_by_size

_FIXED_WRITES = 4  # an entry's own item, tombstone, row among all entries and audit record
_COUNTER_WRITES = 10  # left free for the counters of agents and tasks
_MAX_DELETED_TOGETHER = 25
_NOT_WRITABLE = (EntryNotFound, AccessDenied, TaskReassigned)
"""The errors by which a found entry is not, or no longer, the caller's to delete."""

_NO_SUCH_NAME = (
    "you have no entry with this namespace and key; for semantic memory, send memory_type"
)

FindNamespace = Callable[[str], NamespaceTarget]


@dataclass(eq=False)
class Batches:
    """Writes and deletes many entries of a caller's tenant."""

    _deletes: Deletes
    _store: EntryStore
    _writer: EntryWriter
    _queries: Queries
    _namespaces: Namespaces
    _clock: Clock

    def write(
        self, caller: Principal, batch: Sequence[NewEntry | BatchUpdate], token: RequestToken
    ) -> list[Entry]:
        """Create and update all entries, or none.

        Raises:
            ServiceError: when one of them can't be written, with its `index` in the batch.
        """
        now = self._clock()
        find = self._read_once(caller)
        present = self._read_updated(caller, batch)
        claims: dict[Key, NamespaceClaim] = {}
        transitions: dict[Key, Transition] = {}
        try:
            for index, item in enumerate(batch):
                with _set_index(index):
                    if isinstance(item, NewEntry):
                        entry = build_entry(caller, item, now, token)
                        if not entry.policy.is_private:
                            made = self._namespaces.claim_if_new(caller, find(entry.namespace))
                            claims |= {each.key: each for each in made}
                        transition = Transition(None, entry, index)
                    else:
                        transition = self._update(caller, index, item, present, find, now, token)
                    if transition.item_key in transitions:
                        raise ValidationFailed(
                            "body", "is the same entry as an earlier one; send each entry once"
                        )
                    transitions[transition.item_key] = transition
        except ServiceError as error:
            self._writer.raise_first(transitions.values(), error, token)
        transaction = Transaction(
            caller, tuple(transitions.values()), now, claims=tuple(claims.values())
        )
        try:
            return self._writer.commit(transaction, token)
        except BatchTooLarge:
            if not claims:
                raise
        # 50 entries leave no room for a new namespace's configuration, which is written first
        self._writer.commit(replace(transaction, transitions=()), None)
        return self._writer.commit(replace(transaction, claims=()), token)

    def _read_updated(
        self, caller: Principal, batch: Sequence[NewEntry | BatchUpdate]
    ) -> dict[Key, Entry]:
        """Read the entries that the batch updates: a call per hundred."""
        keys = []
        for index, item in enumerate(batch):
            if isinstance(item, BatchUpdate):
                with _set_index(index):
                    keys.append(_find_address(caller, item)[0].item_key)
        return self._store.get_many(keys) if keys else {}

    def _update(
        self,
        caller: Principal,
        index: int,
        update: BatchUpdate,
        present: dict[Key, Entry],
        find: FindNamespace,
        now: int,
        token: RequestToken,
    ) -> Transition:
        address, nonce = _find_address(caller, update)
        if nonce is None and not POLICIES_BY_ID_LETTER[address.tier].is_private:
            # a caller that may not write there doesn't learn which keys exist
            authorize(caller, WRITE_MEMORY, find(update.natural_key[0]))
        old = present.get(address.item_key)
        if old is None or old.is_expired(now) or update.memory_type not in (None, old.memory_type):
            raise EntryNotFound if nonce else EntryNotFound(_NO_SUCH_NAME)
        if nonce is not None and (address, nonce) != (old.address, old.nonce):
            raise EntryNotFound
        authorize(caller, WRITE_ENTRY, EntryTarget(old, _find_namespace(old, find)))
        if token.matches(old.request_token):
            old = old._replace(version=update.version)  # so that the write finds the replay
        if old.version != update.version:
            self._writer.refuse_version(caller, old)
        if update.model_fields_set.isdisjoint(EntryChange.model_fields):
            raise ValidationFailed("body", "must have a field of the entry to change")
        changed = apply_change(caller, old, update, now, token)
        return Transition(old, changed, index)

    def _read_once(self, caller: Principal) -> FindNamespace:
        """Build a function that reads each namespace once."""
        return cache(partial(self._namespaces.find, caller))

    def delete(self, caller: Principal, filters: Filters) -> int:
        """Delete the matching entries that the caller may delete, and return their number."""
        find = self._read_once(caller)
        writable = [
            entry
            for entry in self._queries.iterate(caller, filters, includes_administered=True)
            if is_allowed(caller, REMOVE_ENTRY, EntryTarget(entry, _find_namespace(entry, find)))
        ]
        return sum(self._delete_together(caller, chunk) for chunk in split_deletions(writable))

    def _delete_together(self, caller: Principal, chunk: list[Entry]) -> int:
        transitions = tuple(Transition(entry, None) for entry in chunk)
        try:
            self._writer.commit(Transaction(caller, transitions, self._clock()))
        except (VersionMismatch, *_NOT_WRITABLE):
            return sum(self._delete_alone(caller, entry) for entry in chunk)
        return len(chunk)

    def _delete_alone(self, caller: Principal, entry: Entry) -> int:
        try:
            self._deletes.delete(caller, entry.id, None)
        except _NOT_WRITABLE:
            return 0
        return 1


@contextmanager
def _set_index(index: int) -> Iterator[None]:
    try:
        yield
    except ServiceError as error:
        error.at(index)
        raise


def _find_namespace(entry: Entry, find: FindNamespace) -> NamespaceTarget | None:
    return None if entry.policy.is_private else find(entry.namespace)


def _find_address(caller: Principal, update: BatchUpdate) -> tuple[EntryAddress, str | None]:
    """Return the slot, and the incarnation if the update names one."""
    if update.id is not None:
        return entry_keys.parse_entry_id(caller.tenant, update.id)
    namespace, key = update.natural_key
    policy = POLICIES[update.memory_type or WORKING.name]  # private tiers share their addresses
    if policy.is_private and update.agent_id not in (None, caller.id):
        raise AccessDenied("only the owner of working and episodic memory can write it")
    return policy.build_address(caller.tenant, caller.id, namespace, key), None


def split_deletions(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Split entries into parts whose deletions fit into one transaction each."""
    most_writes = MAX_TRANSACTION_WRITES - _COUNTER_WRITES
    return split_by_size(entries, _count_writes, most_writes, _MAX_DELETED_TOGETHER)


def _count_writes(entry: Entry) -> int:
    return _FIXED_WRITES + len(entry.tags) + (entry.task_id is not None)
