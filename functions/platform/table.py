"""Access to one DynamoDB table: reads, single writes, transactions."""

from collections.abc import Callable, Sequence
from typing import Any

from functions.platform.calls import (
    SLOW_DOWN,
    Cancelled,
    ConditionFailed,
    item_full,
    too_large,
    typed_key,
)
from functions.platform.items import Item, Typed, decode_item, encode_item
from functions.platform.keys import Key
from functions.platform.limits import MAX_WRITE_ITEMS
from functions.platform.reads import Read, Reads
from functions.platform.retry import Backoff
from functions.platform.writes import Write

__all__ = ["ConditionFailed", "Refused", "Table"]


class Refused(Exception):
    """A transaction did nothing; `failed` maps each failed write to what stood there, or None."""

    def __init__(self, failed: dict[Key, Item | None]) -> None:
        super().__init__("transaction refused")
        self.failed = failed


class Table(Reads[Item]):
    """One table. Safe for use by several threads."""

    def __init__(self, client: Any, name: str) -> None:
        super().__init__(client, name, decode_item)

    def read_by(self, read: Callable[[Typed], Read]) -> Reads[Read]:
        """Its reads, where something else is made of an item than a dict."""
        return Reads(self._client, self._name, read)

    def put(self, write: Write) -> None:
        """Carries out one Put.

        Raises:
            ConditionFailed: the condition did not hold.
        """
        self._call("put_item", **self._request(write))

    def transact(self, writes: Sequence[Write]) -> None:
        """Carries out all writes or none. Writes that collide with others in flight are retried.

        Raises:
            Refused: a condition did not hold.
        """
        items = [{write.verb: self._request(write)} for write in writes]
        backoff = Backoff("others are writing the same items")
        while True:
            try:
                self._call("transact_write_items", TransactItems=items)
                return
            except Cancelled as cancelled:
                _assert_passing(cancelled, writes)
            backoff.wait()

    def write_many(self, writes: Sequence[Write]) -> None:
        """Carries out puts and deletes without conditions, each for itself: a call per 25.

        Raises:
            Throttled: the store puts off writing them again and again; some are done.
        """
        wanted = [_unconditional(write) for write in writes]
        backoff = Backoff("the store is busy")
        while wanted:
            chunk, rest = wanted[:MAX_WRITE_ITEMS], wanted[MAX_WRITE_ITEMS:]
            answer = self._call("batch_write_item", RequestItems={self._name: chunk})
            put_off = answer.get("UnprocessedItems", {}).get(self._name, [])
            if len(put_off) == len(chunk):
                backoff.wait()
            else:
                backoff = Backoff("the store is busy")
            wanted = put_off + rest


def _unconditional(write: Write) -> dict[str, Any]:
    if write.item is None:
        return {"DeleteRequest": {"Key": typed_key(write.key)}}
    return {"PutRequest": {"Item": typed_key(write.key) | encode_item(write.item)}}


def _assert_passing(cancelled: Cancelled, writes: Sequence[Write]) -> None:
    """Raises unless every reason is one that passes by itself."""
    reasons = cancelled.reasons
    failed = {
        write.key: decode_item(reason["Item"]) if reason.get("Item") else None
        for write, reason in zip(writes, reasons, strict=True)
        if reason["Code"] == "ConditionalCheckFailed"
    }
    if failed:
        raise Refused(failed)
    if any(too_large(reason["Code"], reason.get("Message") or "") for reason in reasons):
        raise item_full()
    codes = {reason["Code"] for reason in reasons} - {"None"}
    if not codes <= {"TransactionConflict", "ThrottlingError", *SLOW_DOWN}:
        raise RuntimeError(f"transaction cancelled: {sorted(codes)}")
