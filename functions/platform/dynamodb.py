"""Translate DynamoDB's errors, and recognize special ones."""

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from functions.platform.aws import OVERLOAD_CODES
from functions.platform.errors import CapacityExceeded, Throttled, Unavailable
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.limits import MAX_ITEM_BYTES
from functions.platform.observability import report_count

THROTTLING_CODES = OVERLOAD_CODES | {
    "TransactionConflictException",
    "TransactionInProgressException",
}


class ConditionFailed(Exception):
    """A condition did not hold, so a write or a transaction wrote nothing.

    Attributes:
        failed: the present item, or None, by the key of each write whose condition failed.
    """

    def __init__(self, failed: dict[Key, Item | None]) -> None:
        super().__init__("a condition failed")
        self.failed = failed

    @property
    def item(self) -> Item | None:
        """Return the present item of a single write; None if there is none."""
        (item,) = self.failed.values()
        return item


class TransactionCancelled(Exception):
    """A transaction was cancelled; `reasons` has one for each of its writes."""

    def __init__(self, reasons: list[dict[str, Any]]) -> None:
        super().__init__("transaction cancelled")
        self.reasons = reasons


def translate_error(error: ClientError) -> Exception | None:
    """Translate an error that is not a failed condition; None if it has no translation."""
    code, message = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code == "TransactionCanceledException":
        return TransactionCancelled(error.response["CancellationReasons"])
    if is_item_too_large(code, message):
        return build_item_size_error()
    if code in THROTTLING_CODES:
        return Throttled("the database limits the request rate; try again in a second")
    if code in {"InternalServerError", "ServiceUnavailable", "InternalFailure"}:
        return Unavailable("the database is not available; try again in a second")
    return None


def report_throttle(
    table: str, operation: str, reasons: Sequence[dict[str, str]] = (), unprocessed: int = 0
) -> None:
    """Report that DynamoDB throttled a call, with its table, reasons and the part not done."""
    report_count(
        "StoreThrottles", table=table, operation=operation, reasons=reasons, unprocessed=unprocessed
    )


def is_item_too_large(code: str, message: str) -> bool:
    """Return whether an item would exceed the size of DynamoDB; this has no separate error code."""
    return code in ("ValidationException", "ValidationError") and "item size" in message.lower()


def build_item_size_error() -> CapacityExceeded:
    """Build the error of a write that would make an item larger than DynamoDB allows."""
    max_kb = MAX_ITEM_BYTES // 1024
    return CapacityExceeded("item_size_kb", max_kb, max_kb)


def is_index_missing(error: ClientError) -> bool:
    """Return whether an index is still being built; this has no separate error code."""
    message = error.response["Error"].get("Message", "").lower()
    return "backfilling vector index" in message or "not have the specified index" in message
