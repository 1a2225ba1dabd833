"""Why entries went: their notices, or, where there is none, DynamoDB's own expiry.

DynamoDB's removal of an expired item takes nothing along. So its notice, and all that follows from
a removal elsewhere in the same transaction (counters, index rows), is written here, and once: the
notice is the condition.
"""

from dataclasses import replace

from functions.entries.counters import RemovalReason, Transition
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.entries.store import ABSENT
from functions.entries.transaction import Transaction
from functions.identity.model import Principal
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.table import Table, TransactionConditionFailed
from functions.stream.events import Removal

_ACTOR = "dynamodb"


class Removals:
    """Finds out, for entries that are gone, why they are."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._mapper = EntryMapper(None)

    def notices(self, gone: list[Entry]) -> dict[Key, Item]:
        """The notices that there are: a read per hundred."""
        return self._table.get_many(map(_notice_key, gone)) if gone else {}

    def removal(self, gone: Entry, notices: dict[Key, Item]) -> Removal:
        """Why an entry went; without a notice, its consequences are carried out first."""
        key = _notice_key(gone)
        notice = notices.get(key) or self._followed_up(gone, key)
        return Removal(notice["reason"], notice["happened"])

    def _followed_up(self, gone: Entry, notice_key: Key) -> Item:
        now = self._clock()
        reason: RemovalReason = "expired" if gone.is_expired(now) else "deleted"
        caller = Principal(gone.address.tenant, _ACTOR, "user", frozenset())
        transaction = Transaction(caller, (Transition(gone, None, reason=reason),), now)
        writes = [
            replace(write, condition=ABSENT) if write.key == notice_key else write
            for write in transaction.build_writes(self._mapper)
            if write.key != gone.item_key
        ]
        try:
            self._table.transact(writes)
        except TransactionConditionFailed as refused:
            written = refused.failed.get(notice_key)
            if written is None:
                raise
            return written
        return {"reason": reason, "happened": now}


def _notice_key(gone: Entry) -> Key:
    return entry_keys.build_tombstone_key(gone.address, gone.nonce)
