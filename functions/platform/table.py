"""Read and write one DynamoDB table: single items, batches, transactions."""

from collections.abc import Sequence
from typing import Any

from functions.platform.aws import OVERLOAD_REASONS
from functions.platform.clock import Clock
from functions.platform.limits import MAX_WRITE_ITEMS
from functions.platform.retry import Backoff
from functions.platform.table_client import (
    THROTTLING_CODES,
    ConditionFailed,
    TransactionCancelled,
    build_item_size_error,
    encode_key,
    is_item_too_large,
    report_throttle,
)
from functions.platform.table_reader import TableReader
from functions.platform.writes import Write

__all__ = ["ConditionFailed", "Store", "Table", "TimedStore"]


_TRANSIENT = THROTTLING_CODES | OVERLOAD_REASONS | {"TransactionConflict"}


class Table(TableReader):
    """Read and write one table, for several threads."""

    def transact(self, writes: Sequence[Write], *others: "TableWrites") -> None:
        """Carry out all writes or none. Conflicts with other transactions are retried.

        Args:
            others: those on other tables.

        Raises:
            ConditionFailed: a condition did not hold.
            CapacityExceeded: an item would become larger than DynamoDB allows.
        """
        owned = [
            (table, write) for table, several in ((self, writes), *others) for write in several
        ]
        items = [{write.verb: table.build_request(write)} for table, write in owned]
        backoff = Backoff("others are writing the same items")
        while True:
            try:
                self._call("transact_write_items", TransactItems=items)
                return
            except TransactionCancelled as cancelled:
                self._assert_transient(cancelled, owned)
            backoff.wait()

    def write(self, writes: Sequence[Write]) -> None:
        """Carry out a put or an update, or several writes, all or none; raises as `transact`."""
        verb = writes[0].verb if len(writes) == 1 else None
        if verb == "Put":
            self.put(writes[0])
        elif verb == "Update":
            self.update(writes[0])
        else:
            self.transact(writes)

    def try_write(self, *writes: Write) -> bool:
        """Carry out writes as `write` does; whether their conditions held."""
        try:
            self.write(writes)
        except ConditionFailed:
            return False
        return True

    def write_many(self, writes: Sequence[Write]) -> None:
        """Carry out puts and deletes without conditions, each for itself: a call per 25.

        Raises:
            Throttled: DynamoDB leaves writes unprocessed again and again; some are done.
        """
        wanted = [self._build_batch_request(write) for write in writes]
        backoff = Backoff("the store is busy")
        while wanted:
            chunk, rest = wanted[:MAX_WRITE_ITEMS], wanted[MAX_WRITE_ITEMS:]
            response = self._call("batch_write_item", RequestItems={self._name: chunk})
            unprocessed = response.get("UnprocessedItems", {}).get(self._name, [])
            if unprocessed:
                report_throttle(self._name, "BatchWriteItem", unprocessed=len(unprocessed))
            if len(unprocessed) == len(chunk):
                backoff.wait()
            else:
                backoff = Backoff("the store is busy")
            wanted = unprocessed + rest

    def _build_batch_request(self, write: Write) -> dict[str, Any]:
        if write.item is None:
            return {"DeleteRequest": {"Key": encode_key(write.key)}}
        return {"PutRequest": {"Item": self._encode_item(write.key, write.item)}}

    def _assert_transient(
        self, cancelled: TransactionCancelled, owned: Sequence[tuple["Table", Write]]
    ) -> None:
        """Raise unless every reason is a conflict or throttling."""
        reasons = cancelled.reasons
        failed = {
            write.key: table.decode_conflict(reason.get("Item"))
            for (table, write), reason in zip(owned, reasons, strict=True)
            if reason["Code"] == "ConditionalCheckFailed"
        }
        if failed:
            raise ConditionFailed(failed)
        too_large = (is_item_too_large(each["Code"], each.get("Message") or "") for each in reasons)
        if any(too_large):
            raise build_item_size_error()
        codes = {reason["Code"] for reason in reasons} - {"None"}
        if codes & OVERLOAD_REASONS:
            report_throttle(self._name, "TransactWriteItems")
        if not codes <= _TRANSIENT:
            raise RuntimeError(f"transaction cancelled: {sorted(codes)}")


TableWrites = tuple[Table, Sequence[Write]]
"""Writes on a table, to be carried out together."""


class Store:
    """Reads and writes the items of one subject in a table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out all writes or none.

        Raises:
            ConditionFailed: a condition didn't hold.
        """
        self._table.transact(writes)


class TimedStore(Store):
    """A store that knows the time, in epoch ms."""

    def __init__(self, table: Table, clock: Clock) -> None:
        super().__init__(table)
        self._clock = clock
