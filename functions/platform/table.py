"""Access to one DynamoDB table: single calls, transactions, reads that page.

Botocore's errors end here: a failed condition carries the item that stood in the way, everything
else becomes `Throttled` or `Unavailable`.
"""

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.errors import ServiceError, Throttled, Unavailable
from functions.platform.items import Item, decode_item, encode, encode_item
from functions.platform.keys import Key
from functions.platform.writes import Write

_ATTEMPTS = 10
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.4  # seconds
_GET_AT_ONCE = 100
_FIRST_OF_INDEX = 25
_SLOW_DOWN = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "TransactionConflictException",
    "TransactionInProgressException",
}


class ConditionFailed(Exception):
    """The condition of a single write did not hold; `item` is what stood there, if anything."""

    def __init__(self, item: Item | None) -> None:
        super().__init__("condition failed")
        self.item = item


class Refused(Exception):
    """A transaction did nothing; `failed` maps each failed write to what stood there, or None."""

    def __init__(self, failed: dict[Key, Item | None]) -> None:
        super().__init__("transaction refused")
        self.failed = failed


class Table:
    """One table. Safe for use by several threads."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name

    def get(self, key: Key) -> Item | None:
        """The item at `key`, strongly consistent: one call."""
        answer = self._call("get_item", TableName=self._name, Key=_typed(key), ConsistentRead=True)
        return decode_item(answer["Item"]) if "Item" in answer else None

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """The items that exist among `keys`, strongly consistent: a call per hundred."""
        wanted = [_typed(key) for key in dict.fromkeys(keys)]
        found: dict[Key, Item] = {}
        for attempt in range(_ATTEMPTS):
            if not wanted:
                return found
            _pause(attempt)
            chunk, rest = wanted[:_GET_AT_ONCE], wanted[_GET_AT_ONCE:]
            request = {self._name: {"Keys": chunk, "ConsistentRead": True}}
            answer = self._call("batch_get_item", RequestItems=request)
            for item in map(decode_item, answer["Responses"].get(self._name, ())):
                found[item["pk"], item["sk"]] = item
            wanted = answer.get("UnprocessedKeys", {}).get(self._name, {}).get("Keys", []) + rest
        raise Throttled("the store is busy; try again in a second")

    def query(
        self,
        partition: str,
        prefix: str,
        *,
        newest_first: bool = False,
        condition: str | None = None,
        **values: Any,
    ) -> Iterator[Item]:
        """The items of a partition whose sort key begins with `prefix`, strongly consistent.

        A call per megabyte read; `condition` filters what comes back, not what is read.
        """
        request = {
            "ConsistentRead": True,
            "KeyConditionExpression": "pk = :pk AND begins_with(sk, :sk)",
            "ExpressionAttributeValues": _values({"pk": partition, "sk": prefix} | values),
            "ScanIndexForward": not newest_first,
        }
        if condition:
            request["FilterExpression"] = condition
        return self._pages(request)

    def query_from(self, partition: str, first: str, last: str, at_once: int) -> Iterator[Item]:
        """The items from one sort key to another, strongly consistent: a call per `at_once`."""
        request = {
            "ConsistentRead": True,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": _values({"pk": partition, "first": first, "last": last}),
            "Limit": at_once,
        }
        return self._pages(request)

    def query_index(self, index: str, attribute: str, value: str) -> list[Item]:
        """What an index lists under `value`: keys only; it may lag behind the table."""
        request = {
            "IndexName": index,
            "KeyConditionExpression": f"{attribute} = :value",
            "ExpressionAttributeValues": _values({"value": value}),
        }
        return list(self._pages(request))

    def query_range(
        self,
        index: str,
        partition: str,
        sort: str,
        at_most: int,
        *,
        attribute: str = "pk",
        descending: bool = False,
    ) -> Iterator[Item]:
        """What an index lists under a value of `attribute`, where `sort` is at most `at_most`."""
        request = {
            "IndexName": index,
            "KeyConditionExpression": f"{attribute} = :pk AND {sort} <= :most",
            "ExpressionAttributeValues": _values({"pk": partition, "most": at_most}),
            "ScanIndexForward": not descending,
        }
        return self._pages(request)

    def query_sorted(self, index: str, partition: str) -> Iterator[Item]:
        """A partition's keys in an index, in its order; it may lag behind the table."""
        request = {
            "IndexName": index,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": _values({"pk": partition}),
            "Limit": _FIRST_OF_INDEX,
        }
        return self._pages(request)

    def _pages(self, request: dict[str, Any]) -> Iterator[Item]:
        while True:
            answer = self._call("query", TableName=self._name, **request)
            yield from map(decode_item, answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def update(self, write: Write) -> Item:
        """Carries out one Update and gives the new item.

        Raises:
            ConditionFailed: the condition did not hold.
        """
        request = _request(self._name, write) | {"ReturnValues": "ALL_NEW"}
        return decode_item(self._call("update_item", **request)["Attributes"])

    def put(self, write: Write) -> None:
        """Carries out one Put.

        Raises:
            ConditionFailed: the condition did not hold.
        """
        self._call("put_item", **_request(self._name, write))

    def transact(self, writes: Sequence[Write]) -> None:
        """Carries out all writes or none. Writes that collide with others in flight are retried.

        Raises:
            Refused: a condition did not hold.
        """
        items = [{write.verb: _request(self._name, write)} for write in writes]
        for attempt in range(_ATTEMPTS):
            _pause(attempt)
            try:
                self._call("transact_write_items", TransactItems=items)
                return
            except _Cancelled as cancelled:
                cancelled.raise_refusal(writes)
        raise Throttled("others are writing the same things; try again in a second")

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        for attempt in range(_ATTEMPTS):
            _pause(attempt)
            try:
                answer: dict[str, Any] = getattr(self._client, operation)(**request)
                return answer
            except ClientError as error:
                if error.response["Error"]["Code"] != "TransactionConflictException":
                    raise _translated(error) from error
            except BotoCoreError as error:
                raise Unavailable("the store did not answer; try again in a second") from error
        raise Throttled("others are writing the same item; try again in a second")


class _Cancelled(Exception):
    def __init__(self, reasons: list[dict[str, Any]]) -> None:
        super().__init__("transaction cancelled")
        self.reasons = reasons

    def raise_refusal(self, writes: Sequence[Write]) -> None:
        """Raises unless every reason is one that passes by itself."""
        failed = {
            write.key: decode_item(reason["Item"]) if reason.get("Item") else None
            for write, reason in zip(writes, self.reasons, strict=True)
            if reason["Code"] == "ConditionalCheckFailed"
        }
        if failed:
            raise Refused(failed)
        codes = {reason["Code"] for reason in self.reasons} - {"None"}
        if not codes <= {"TransactionConflict", "ThrottlingError", *_SLOW_DOWN}:
            raise RuntimeError(f"transaction cancelled: {sorted(codes)}")


def _translated(error: ClientError) -> Exception:
    code = error.response["Error"]["Code"]
    if code == "ConditionalCheckFailedException":
        item = error.response.get("Item")
        return ConditionFailed(decode_item(item) if item else None)
    if code == "TransactionCanceledException":
        return _Cancelled(error.response["CancellationReasons"])
    return _service_error(code) or error


def _service_error(code: str) -> ServiceError | None:
    if code in _SLOW_DOWN:
        return Throttled("the store asks to slow down; try again in a second")
    if code in {"InternalServerError", "ServiceUnavailable", "InternalFailure"}:
        return Unavailable("the store is not available; try again in a second")
    return None


def _pause(attempt: int) -> None:
    if attempt:
        longest = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
        time.sleep(random.uniform(0, longest))  # noqa: S311 - jitter, not a secret


def _typed(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def _values(values: Item) -> dict[str, Any]:
    return {f":{name}": encode(value) for name, value in values.items()}


def _request(table: str, write: Write) -> dict[str, Any]:
    request: dict[str, Any] = {
        "TableName": table,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if write.item is None:
        request["Key"] = _typed(write.key)
    else:
        request["Item"] = _typed(write.key) | encode_item(write.item)
    if write.expression:
        request["UpdateExpression"] = write.expression
    if write.condition:
        request["ConditionExpression"] = write.condition
    if write.values:
        request["ExpressionAttributeValues"] = _values(write.values)
    return request
