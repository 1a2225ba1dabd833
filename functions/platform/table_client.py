"""Call DynamoDB and translate botocore's errors.

A failed condition carries the present item; everything else becomes `Throttled` or `Unavailable`.
"""

import re
from collections.abc import Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.aws import OVERLOAD_CODES
from functions.platform.errors import (
    CapacityExceeded,
    ReadOnly,
    ServiceError,
    Throttled,
    Unavailable,
)
from functions.platform.item_types import find_sealed_type
from functions.platform.items import Item, TypedItem, decode_item, encode, encode_item
from functions.platform.keys import Key
from functions.platform.limits import MAX_ITEM_BYTES
from functions.platform.observability import list_throttling_reasons, report_count
from functions.platform.retry import Backoff
from functions.platform.seals import ItemSeals
from functions.platform.writes import Write

_WRITES = frozenset(
    {"put_item", "update_item", "delete_item", "batch_write_item", "transact_write_items"}
)
_NAME = re.compile(r"#(\w+)")
THROTTLING_CODES = OVERLOAD_CODES | {
    "TransactionConflictException",
    "TransactionInProgressException",
}


class ConditionFailed(Exception):
    """A write, or all of a transaction, wrote nothing: a condition did not hold.

    Attributes:
        failed: the present items, if any, by the keys of the writes whose conditions failed.
    """

    def __init__(self, failed: dict[Key, Item | None]) -> None:
        super().__init__("a condition failed")
        self.failed = failed

    @property
    def item(self) -> Item | None:
        """The present item, if there is one, of a write that was alone."""
        (item,) = self.failed.values()
        return item


class TransactionCancelled(Exception):
    """A transaction was cancelled; `reasons` has one for each of its writes."""

    def __init__(self, reasons: list[dict[str, Any]]) -> None:
        super().__init__("transaction cancelled")
        self.reasons = reasons


class TableClient:
    """Call one table, by a client that many threads share.

    Nothing gets past `is_read_only`: a write in a standby Region, as of the time of a read, would
    replace what the other Region writes meanwhile.

    Args:
        seals: verify principals, API keys and deletions, and sign them; None in functions that
            authorize no request: they can't write these items.
        is_read_only: whether writes are refused.
    """

    def __init__(
        self, client: Any, name: str, seals: ItemSeals | None = None, *, is_read_only: bool = False
    ) -> None:
        self._is_read_only = is_read_only
        self._client = client
        self._name = name
        self._seals = seals

    def get(self, key: Key) -> Item | None:
        """Get the item at `key`, strongly consistent: one call."""
        response = self._call(
            "get_item", TableName=self._name, Key=encode_key(key), ConsistentRead=True
        )
        return self._decode_item(response.get("Item"))

    def update(self, write: Write) -> Item:
        """Carry out one Update, and return the new item.

        Raises:
            ConditionFailed: the condition did not hold.
        """
        request = self.build_request(write) | {"ReturnValues": "ALL_NEW"}
        return decode_item(self._call("update_item", **request)["Attributes"])

    def put(self, write: Write) -> None:
        """Carry out one Put.

        Raises:
            ConditionFailed: the condition did not hold.
        """
        self._call("put_item", **self.build_request(write))

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        if self._is_read_only and operation in _WRITES:
            raise ReadOnly
        backoff: Backoff | None = None
        while True:
            try:
                response: dict[str, Any] = getattr(self._client, operation)(**request)
                return response
            except ClientError as error:
                if error.response["Error"]["Code"] != "TransactionConflictException":
                    raise self._translate(error, request) from error
            except BotoCoreError as error:
                raise Unavailable("the store does not respond; try again in a second") from error
            backoff = backoff or Backoff("others are writing the same item")
            backoff.wait()

    def build_request(self, write: Write) -> dict[str, Any]:
        request: dict[str, Any] = {
            "TableName": self._name,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if write.item is None:
            _assert_not_sealed(write)
            request["Key"] = encode_key(write.key)
        else:
            request["Item"] = self._encode_item(write.key, write.item)
        if write.expression:
            request["UpdateExpression"] = write.expression
        if write.condition:
            request["ConditionExpression"] = write.condition
        if write.values:
            request["ExpressionAttributeValues"] = encode_placeholders(write.values)
        return request | find_names(write.expression, write.condition)

    def _encode_item(self, key: Key, item: Item) -> TypedItem:
        """Encode an item with its key, and with its seal if its type has one.

        Raises:
            ValueError: the type has a seal, and this function can't make one.
        """
        sealed = find_sealed_type(key)
        if sealed is not None:
            if self._seals is None:
                raise ValueError(
                    f"a {sealed.name} can't be written without the deployment's secret"
                )
            item = self._seals.seal(sealed, key, item)
        return encode_key(key) | encode_item(item)

    def _decode_item(self, attributes: TypedItem | None) -> Item | None:
        """Decode an item; None if there is none, or if its seal is wrong."""
        if not attributes:
            return None
        item = decode_item(attributes)
        return item if self._seals is None or self._seals.is_genuine(item) else None

    def decode_conflict(self, attributes: TypedItem | None) -> Item | None:
        """Decode the present item of a failed condition; None if there is none.

        Raises:
            Unavailable: its seal is wrong. It blocks the write until an operator removes it.
        """
        item = self._decode_item(attributes)
        if item is None and attributes:
            raise Unavailable("a stored item failed its integrity check; see the log")
        return item

    def _translate(self, error: ClientError, request: dict[str, Any]) -> Exception:
        code = error.response["Error"]["Code"]
        if code in OVERLOAD_CODES:
            report_throttle(
                self._name, error.operation_name, list_throttling_reasons(error.response)
            )
        if code == "ConditionalCheckFailedException":
            key = decode_key(request.get("Key") or request["Item"])
            return ConditionFailed({key: self.decode_conflict(error.response.get("Item"))})
        if code == "TransactionCanceledException":
            return TransactionCancelled(error.response["CancellationReasons"])
        if is_item_too_large(code, error.response["Error"].get("Message", "")):
            return build_item_size_error()
        return _find_service_error(code) or error


def _assert_not_sealed(write: Write) -> None:
    """Check that an update leaves sealed items alone: they are only put as a whole."""
    sealed = find_sealed_type(write.key) if write.expression else None
    if sealed is not None:
        raise ValueError(f"a {sealed.name} has a seal: put it instead of updating it")


def report_throttle(
    table: str, operation: str, reasons: Sequence[dict[str, str]] = (), unprocessed: int = 0
) -> None:
    """Report that DynamoDB throttled a call: its table, the reasons, how much it left undone."""
    report_count(
        "StoreThrottles", table=table, operation=operation, reasons=reasons, unprocessed=unprocessed
    )


def _find_service_error(code: str) -> ServiceError | None:
    if code in THROTTLING_CODES:
        return Throttled("the store asks to slow down; try again in a second")
    if code in {"InternalServerError", "ServiceUnavailable", "InternalFailure"}:
        return Unavailable("the store is not available; try again in a second")
    return None


def is_item_too_large(code: str, message: str) -> bool:
    """Tell whether an item would exceed 400 KB, which has no error code of its own."""
    return code in ("ValidationException", "ValidationError") and "item size" in message.lower()


def build_item_size_error() -> CapacityExceeded:
    """Build the error of a write that would make an item larger than DynamoDB allows."""
    max_kb = MAX_ITEM_BYTES // 1024
    return CapacityExceeded("item_size_kb", max_kb, max_kb)


def encode_key(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def decode_key(attributes: TypedItem) -> Key:
    return attributes["pk"]["S"], attributes["sk"]["S"]


def encode_placeholders(values: Item) -> dict[str, Any]:
    """Encode the placeholders of an expression in typed form."""
    return {f":{name}": encode(value) for name, value in values.items()}


def find_names(*expressions: str | None) -> dict[str, dict[str, str]]:
    """Return the part of a request that resolves attributes which expressions name as `#value`."""
    names = {name for each in expressions if each and "#" in each for name in _NAME.findall(each)}
    return {"ExpressionAttributeNames": {f"#{name}": name for name in names}} if names else {}
