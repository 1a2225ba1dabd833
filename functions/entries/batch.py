"""Batches: many entries written atomically, or deleted by filter (RFC-0015 "Batch Operations")."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from functions.entries import rules
from functions.entries.access import assert_writes, may_write
from functions.entries.model import Entry, Filters
from functions.entries.query import Queries
from functions.entries.refusals import mismatch
from functions.entries.requests import BatchUpdate, NewEntry
from functions.entries.service import Entries
from functions.entries.store import EntryStore
from functions.entries.writer import Replayed
from functions.entries.writes import Transition
from functions.identity.model import Principal
from functions.namespaces.model import Namespace
from functions.namespaces.service import Namespaces
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.entry_keys import EntryAddress
from functions.platform.errors import (
    AccessDenied,
    EntryNotFound,
    ServiceError,
    ValidationFailed,
    VersionMismatch,
)
from functions.platform.idempotency import RequestToken
from functions.platform.keys import Key
from functions.platform.limits import MAX_TRANSACTION_WRITES
from functions.platform.writes import Write

_FIXED_WRITES = 3  # an entry's own item, its notice and the row of all entries
_COUNTERS = 10  # left free for the counters of agents and tasks


class Batches:
    """Writes and deletes many entries of a caller's tenant."""

    def __init__(
        self,
        entries: Entries,
        store: EntryStore,
        queries: Queries,
        namespaces: Namespaces,
        clock: Clock,
    ) -> None:
        self._entries = entries
        self._store = store
        self._queries = queries
        self._namespaces = namespaces
        self._clock = clock

    def write(
        self, caller: Principal, batch: Sequence[NewEntry | BatchUpdate], token: RequestToken
    ) -> list[Entry]:
        """Creates and updates all, or does nothing.

        Raises:
            ServiceError: the first failure, with its `index` in the batch.
        """
        present = self._present(caller, batch)
        along: dict[Key, Write] = {}
        steps: list[Transition] = []
        for index, asked in enumerate(batch):
            with _at(index):
                step, more = self._step(caller, index, asked, present, token)
                _assert_new_place(step, steps)
                steps.append(step)
                along |= more
        try:
            done = self._entries.commit(caller, tuple(steps), along, token)
        except Replayed as replayed:
            return replayed.entries
        return [step.either for step in done]

    def _present(
        self, caller: Principal, batch: Sequence[NewEntry | BatchUpdate]
    ) -> dict[Key, Entry]:
        """What stands where the batch updates: a call per hundred."""
        places = []
        for index, asked in enumerate(batch):
            if isinstance(asked, BatchUpdate):
                with _at(index):
                    places.append(_named(caller, asked)[0].item_key)
        return self._store.get_many(places) if places else {}

    def _step(
        self,
        caller: Principal,
        index: int,
        asked: NewEntry | BatchUpdate,
        present: dict[Key, Entry],
        token: RequestToken,
    ) -> tuple[Transition, dict[Key, Write]]:
        now = self._clock()
        if isinstance(asked, NewEntry):
            entry = rules.new_entry(caller, asked, now, token)
            step = Transition(None, entry, index, may_pin=rules.may_pin(asked))
            return step, self._entries.namespace_along(caller, entry)
        slot, nonce = _named(caller, asked)
        old = present.get(slot.item_key)
        if old is None or old.expired(now):
            raise EntryNotFound
        if asked.memory_type not in (None, old.tier):
            raise EntryNotFound
        if nonce is not None and (slot, nonce) != (old.slot, old.nonce):
            raise EntryNotFound
        assert_writes(caller, old, self._namespace(caller, old))
        if token.wrote(old.request):
            old = old._replace(version=asked.version)  # so that the write itself finds the replay
        if old.version != asked.version:
            raise mismatch(old)
        if not asked.change.model_fields_set:
            raise ValidationFailed("entries", "an update names nothing to change")
        return Transition(
            old, rules.changed_entry(caller, old, asked.change, now, token), index
        ), {}

    def _namespace(self, caller: Principal, entry: Entry) -> Namespace | None:
        if entry.tier != "semantic":
            return None
        return self._namespaces.find(caller, entry.namespace)

    def delete(self, caller: Principal, filters: Filters) -> int:
        """Deletes what matches and the caller may write; how many that were."""
        found = self._queries.find_own(caller, filters)
        matching = self._queries.load(caller, found, 0, found.total)
        mine = [each for each in matching if may_write(caller, each, self._namespace(caller, each))]
        return sum(self._delete_together(caller, chunk) for chunk in _chunks(mine))

    def _delete_together(self, caller: Principal, chunk: list[Entry]) -> int:
        steps = tuple(Transition(entry, None) for entry in chunk)
        try:
            self._entries.commit(caller, steps, {}, RequestToken.fresh())
        except (EntryNotFound, VersionMismatch):
            return sum(self._delete_alone(caller, entry) for entry in chunk)
        return len(chunk)

    def _delete_alone(self, caller: Principal, entry: Entry) -> int:
        try:
            self._entries.delete(caller, entry.id, None)
        except EntryNotFound:
            return 0
        return 1


@contextmanager
def _at(index: int) -> Iterator[None]:
    """Tells which item of the batch failed."""
    try:
        yield
    except ServiceError as error:
        error.at(index)
        raise


def _named(caller: Principal, asked: BatchUpdate) -> tuple[EntryAddress, str | None]:
    """The slot that an update names, and the incarnation if it names one."""
    if asked.id is not None:
        address = entry_keys.parse_entry_id(caller.tenant, asked.id)
        if address is None:
            raise EntryNotFound
        return address
    namespace, key = asked.natural_key
    if asked.memory_type == "semantic":
        return entry_keys.build_semantic_address(caller.tenant, namespace, key), None
    if asked.agent_id not in (None, caller.id):
        raise AccessDenied("working and episodic memory is written by its owner alone")
    return entry_keys.build_private_address(caller.tenant, caller.id, namespace, key), None


def _assert_new_place(step: Transition, before: list[Transition]) -> None:
    if any(step.place == other.place for other in before):
        raise ValidationFailed("entries", "names one entry twice")


def _chunks(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Parts of a list that fit into one transaction each."""
    chunk: list[Entry] = []
    room = MAX_TRANSACTION_WRITES - _COUNTERS
    for entry in entries:
        needed = _FIXED_WRITES + len(entry.tags) + (entry.task is not None)
        if chunk and (needed > room or len(chunk) == 25):
            yield chunk
            chunk, room = [], MAX_TRANSACTION_WRITES - _COUNTERS
        chunk.append(entry)
        room -= needed
    if chunk:
        yield chunk
