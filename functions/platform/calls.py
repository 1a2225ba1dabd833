"""Single calls to DynamoDB. Botocore's errors end here: a failed condition carries the item that
stood in the way, everything else becomes `Throttled` or `Unavailable`."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.errors import CapacityExceeded, ServiceError, Throttled, Unavailable
from functions.platform.items import Item, decode_item, encode, encode_item
from functions.platform.keys import Key
from functions.platform.retry import Backoff
from functions.platform.writes import Write

SLOW_DOWN = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)


class ConditionFailed(Exception):
    """The condition of a single write did not hold; `item` is what stood there, if anything."""

    def __init__(self, item: Item | None) -> None:
        super().__init__("condition failed")
        self.item = item


class Cancelled(Exception):
    """A transaction was cancelled; `reasons` has one for each of its writes."""

    def __init__(self, reasons: list[dict[str, Any]]) -> None:
        super().__init__("transaction cancelled")
        self.reasons = reasons


class Calls:
    """Calls on one table, by one client that many threads share."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        backoff = Backoff("others are writing the same item")
        while True:
            try:
                answer: dict[str, Any] = getattr(self._client, operation)(**request)
                return answer
            except ClientError as error:
                if error.response["Error"]["Code"] != "TransactionConflictException":
                    raise _translated(error) from error
            except BotoCoreError as error:
                raise Unavailable("the store did not answer; try again in a second") from error
            backoff.wait()

    def _request(self, write: Write) -> dict[str, Any]:
        request: dict[str, Any] = {
            "TableName": self._name,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if write.item is None:
            request["Key"] = typed_key(write.key)
        else:
            request["Item"] = typed_key(write.key) | encode_item(write.item)
        if write.expression:
            request["UpdateExpression"] = write.expression
        if write.condition:
            request["ConditionExpression"] = write.condition
        if write.values:
            request["ExpressionAttributeValues"] = typed_values(write.values)
        return request


def _translated(error: ClientError) -> Exception:
    code = error.response["Error"]["Code"]
    if code == "ConditionalCheckFailedException":
        item = error.response.get("Item")
        return ConditionFailed(decode_item(item) if item else None)
    if code == "TransactionCanceledException":
        return Cancelled(error.response["CancellationReasons"])
    if too_large(code, error.response["Error"].get("Message", "")):
        return item_full()
    return _service_error(code) or error


def _service_error(code: str) -> ServiceError | None:
    if code in SLOW_DOWN:
        return Throttled("the store asks to slow down; try again in a second")
    if code in {"InternalServerError", "ServiceUnavailable", "InternalFailure"}:
        return Unavailable("the store is not available; try again in a second")
    return None


def too_large(code: str, message: str) -> bool:
    """Whether DynamoDB refused an item that would pass 400 KB; no code of its own says so."""
    return code in ("ValidationException", "ValidationError") and "item size" in message.lower()


def item_full() -> CapacityExceeded:
    """The refusal of a write that would make an item larger than DynamoDB takes."""
    return CapacityExceeded("item_size_kb", 400, 400)


def typed_key(key: Key) -> dict[str, Any]:
    """A key in typed form."""
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def typed_values(values: Item) -> dict[str, Any]:
    """The placeholders of an expression, in typed form."""
    return {f":{name}": encode(value) for name, value in values.items()}
