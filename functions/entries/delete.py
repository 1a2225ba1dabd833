"""Remove entries: by requests, or when they have expired; explain removals in the stream.

DynamoDB removes only the item of an expired entry. The rest that other removals write in the same
transaction (tombstone, counters, index rows) is written here, once: the condition is that there is
no tombstone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from functions.authorization.rules import authorize
from functions.entries.authority import REMOVE_ENTRY, EntryTarget
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry, RemovalReason, Transition
from functions.entries.read import EntryReader
from functions.entries.transaction_store import Transaction
from functions.entries.writer import EntryWriter
from functions.identity.model import SERVICE, Actor, Principal
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.errors import EntryNotFound, VersionMismatch
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import ABSENT


@dataclass(eq=False)
class Deletes:
    """Deletes entries of a caller's tenant."""

    _reader: EntryReader
    _writer: EntryWriter
    _clock: Clock

    def delete(self, caller: Principal, entry_id: str, version: int | None) -> None:
        """Delete an entry (RFC-0015 §9.3).

        Raises:
            VersionMismatch: when `version` is given and the entry is at another one.
            EntryNotFound: when no entry that isn't expired has this id in the caller's tenant.
            AccessDenied: when the caller may not write it.
        """
        backoff = Backoff("others are changing this entry")
        while True:
            entry, namespace = self._reader.read_live(caller, entry_id)
            authorize(caller, REMOVE_ENTRY, EntryTarget(entry, namespace))
            if version not in (None, entry.version):
                self._writer.refuse_version(caller, entry)
            try:
                self._writer.commit(Transaction(caller, (Transition(entry, None),), self._clock()))
                return
            except VersionMismatch:
                backoff.wait()


class Removal(NamedTuple):
    """The reason, time (epoch ms), actor and trace of an entry's removal."""

    reason: RemovalReason
    happened: int
    actor: Actor
    traceparent: str | None = None


class RemovalReasons:
    """Reads tombstones, and completes removals that have none."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._mapper = EntryMapper(None)

    def read_tombstones(self, entries: Iterable[Entry]) -> dict[Key, Item]:
        """Read the tombstones of removed entries that have one: a call per hundred."""
        wanted = [_tombstone_key(entry) for entry in entries]
        return self._table.get_many(wanted) if wanted else {}

    def explain(self, entry: Entry, tombstones: dict[Key, Item]) -> Removal:
        """Return the reason of an entry's removal; without a tombstone, complete the removal."""
        key = _tombstone_key(entry)
        tombstone = tombstones.get(key) or self._complete(entry, key)
        actor = Actor(tombstone["actor"], tombstone["actor_kind"])
        traceparent = tombstone.get("traceparent")
        return Removal(tombstone["reason"], tombstone["happened"], actor, traceparent)

    def _complete(self, entry: Entry, tombstone_key: Key) -> Item:
        now = self._clock()
        reason: RemovalReason = "expired" if entry.is_expired(now) else "deleted"
        transitions = (Transition(entry, None, reason=reason),)
        transaction = Transaction(_build_caller(entry), transitions, now, actor=SERVICE)
        writes = [
            replace(write, condition=ABSENT) if write.key == tombstone_key else write
            for write in transaction.build_writes(self._mapper)
            if write.key != entry.item_key
        ]
        try:
            self._table.transact(writes)
        except ConditionFailed as refused:
            written = refused.failed.get(tombstone_key)
            if written is None:
                raise
            return written
        return {"reason": reason, "happened": now, "actor": SERVICE.id, "actor_kind": SERVICE.kind}


def _build_caller(entry: Entry) -> Principal:
    """Build the caller of a removal by the service. It owns no entries."""
    return Principal(entry.address.tenant, "", "user", frozenset())


def _tombstone_key(entry: Entry) -> Key:
    return entry_keys.build_tombstone_key(entry.address, entry.nonce)


class ExpiredEntries:
    """Removes expired entries with their index rows, tombstones and counters (RFC-0015 §9.3)."""

    def __init__(self, writer: EntryWriter, mapper: EntryMapper, clock: Clock) -> None:
        self._writer = writer
        self._mapper = mapper
        self._clock = clock

    def remove(self, items: Sequence[Item], reason: RemovalReason = "expired") -> int:
        """Remove the expired entries of one tenant; return their number.

        All entries are removed if the reason is that their owner was deleted. If one was changed or
        removed at the same time, the others are removed one by one.
        """
        try:
            return self._remove_together(items, reason)
        except (EntryNotFound, VersionMismatch):
            return sum(self.remove([item], reason) for item in items) if len(items) > 1 else 0

    def _remove_together(self, items: Sequence[Item], reason: RemovalReason) -> int:
        now = self._clock()
        entries = [self._mapper.to_entry(item) for item in items]
        transitions = tuple(
            Transition(entry, None, index, reason=reason)
            for index, entry in enumerate(entries)
            if reason == "deleted" or entry.is_expired(now)
        )
        if transitions:
            caller = _build_caller(entries[0])
            self._writer.commit(Transaction(caller, transitions, now, actor=SERVICE))
        return len(transitions)
