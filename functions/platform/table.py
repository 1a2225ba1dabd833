"""Read and write one DynamoDB table: single items, queries, batches, transactions.

A failed condition raises `ConditionFailed` with the present item. All other errors of DynamoDB are
raised as `Throttled`, `Unavailable` or `CapacityExceeded`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from functions.platform import request_context
from functions.platform.aws import OVERLOAD_CODES, OVERLOAD_REASONS
from functions.platform.clock import Clock
from functions.platform.dynamodb import (
    THROTTLING_CODES,
    ConditionFailed,
    TransactionCancelled,
    build_item_size_error,
    is_index_missing,
    is_item_too_large,
    report_throttle,
    translate_error,
)
from functions.platform.errors import ReadOnly, Unavailable
from functions.platform.item_types import find_sealed_type
from functions.platform.items import (
    Item,
    TypedItem,
    decode_item,
    decode_key,
    encode,
    encode_item,
    encode_key,
    encode_placeholders,
)
from functions.platform.keys import HIGHEST, Key
from functions.platform.limits import MAX_GET_ITEMS, MAX_WRITE_ITEMS
from functions.platform.macs import ItemSeals
from functions.platform.observability import list_throttling_reasons
from functions.platform.retry import Backoff
from functions.platform.writes import Write, find_names

T = TypeVar("T")
__all__ = ["ConditionFailed", "Store", "Table", "TimedStore"]

_WRITES = frozenset(
    {"put_item", "update_item", "delete_item", "batch_write_item", "transact_write_items"}
)
_METERED = dict.fromkeys(_WRITES, "write_halves") | dict.fromkeys(
    ("get_item", "batch_get_item", "query", "scan"), "read_halves"
)
_TRANSIENT = THROTTLING_CODES | OVERLOAD_REASONS | {"TransactionConflict"}


class Table:
    """Read and write one table; many threads share its client.

    Args:
        seals: sign and verify principals, API keys and deletions; None in functions that authorize
            no request: they can't write these items.
        is_read_only: whether writes are rejected, as in a standby Region, where a write could
            overwrite later changes of the active Region.
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

    def find(self, key: Key, decode: Callable[[Item], T]) -> T | None:
        """Read an item, and decode it; None if there is none."""
        item = self.get(key)
        return None if item is None else decode(item)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """Get the items that exist among `keys`, strongly consistent: a call per hundred."""
        wanted = [encode_key(key) for key in dict.fromkeys(keys)]
        found: dict[Key, Item] = {}
        backoff = Backoff("the database is busy")
        while wanted:
            chunk, rest = wanted[:MAX_GET_ITEMS], wanted[MAX_GET_ITEMS:]
            request = {self._name: {"Keys": chunk, "ConsistentRead": True}}
            response = self._call("batch_get_item", RequestItems=request)
            items = map(self._decode_item, response["Responses"].get(self._name, ()))
            found |= {(each["pk"], each["sk"]): each for each in items if each is not None}
            undone = response.get("UnprocessedKeys", {}).get(self._name, {}).get("Keys", [])
            if undone:
                report_throttle(self._name, "BatchGetItem", unprocessed=len(undone))
            if len(undone) == len(chunk):
                backoff.wait()
            else:
                backoff = Backoff("the database is busy")
            wanted = undone + rest
        return found

    def query(
        self,
        partition: str,
        first: str,
        last: str | None = None,
        page_size: int | None = None,
        *,
        newest_first: bool = False,
        condition: str | None = None,
        **values: Any,
    ) -> Iterator[Item]:
        """Query the items from one sort key to another, strongly consistent.

        Args:
            first, last: the sort keys; without `last`, all that begin with `first`.
            page_size: how many items a call reads; a megabyte by default.
            condition: filters what is returned, not what is paid for.
        """
        request = _build_range(partition, first, last, newest_first=newest_first)
        request["ExpressionAttributeValues"] |= encode_placeholders(values)
        if condition:
            request["FilterExpression"] = condition
        return self._pages(request | find_names(condition), page_size)

    def query_page(
        self, partition: str, prefix: str, attributes: Sequence[str], after: Key | None
    ) -> tuple[list[Item], Key | None]:
        """Query a megabyte of a partition, strongly consistent: one call.

        Returns:
            The items, and the key for the next page: None at the end.
        """
        request = _build_range(partition, prefix, None, newest_first=False)
        names = {f"#{number}": name for number, name in enumerate(attributes)}
        request |= {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
        return self._read_page("query", request, after)

    def query_index(
        self,
        index: str,
        condition: str,
        *,
        newest_first: bool = False,
        page_size: int | None = None,
        **values: Any,
    ) -> Iterator[Item]:
        """Query an index, which may lag behind the table.

        Args:
            condition: on the index's own keys; `values` are its placeholders, without colons.
            page_size: the maximum number of items of a call; a megabyte by default.
        """
        request = {
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": encode_placeholders(values),
            "ScanIndexForward": not newest_first,
        }
        return self._pages(request | find_names(condition), page_size)

    def scan(
        self, after: Sequence[str] | None, page_size: int, condition: str, **values: Any
    ) -> tuple[list[Item], Key | None]:
        """Scan a page of the whole table, eventually consistent: one call.

        Args:
            condition: filters the items that are returned.

        Returns:
            The items, and the key for the next page: None at the end.
        """
        request: dict[str, Any] = {
            "Limit": page_size,
            "FilterExpression": condition,
            "ExpressionAttributeValues": encode_placeholders(values),
            **find_names(condition),
        }
        return self._read_page("scan", request, after)

    def _read_page(
        self, operation: str, request: dict[str, Any], after: Sequence[str] | None
    ) -> tuple[list[Item], Key | None]:
        start = {} if after is None else {"ExclusiveStartKey": encode_key((after[0], after[1]))}
        response = self._call(operation, TableName=self._name, **request, **start)
        last = response.get("LastEvaluatedKey")
        return list(map(decode_item, response["Items"])), last and decode_key(last)

    def search_vectors(
        self, index: str, vector: Sequence[int], top_k: int, equal: Mapping[str, str]
    ) -> list[tuple[str, float]]:
        """Search the nearest vectors of an index: their sort keys and distances, nearest first."""
        numbered = list(enumerate(equal.items()))
        request = {
            "IndexName": index,
            "SearchVector": [encode(each) for each in vector],
            "TopK": top_k,
            "SearchConditionExpression": " AND ".join(
                f"{name} = :{n}" for n, (name, _) in numbered
            ),
            "ExpressionAttributeValues": {f":{n}": encode(each) for n, (_, each) in numbered},
            "ProjectionExpression": "sk",
        }
        try:
            response = self._call("search_vectors", TableName=self._name, **request)
        except ClientError as error:
            if is_index_missing(error):
                raise Unavailable("the vector index is being built; try again later") from error
            raise
        return [(each["Item"]["sk"]["S"], each["Score"]) for each in response["SearchResults"]]

    def update(self, write: Write) -> Item:
        """Run an Update, and return the new item."""
        request_context.write_guard.get()(self, (write,))
        request = self.build_request(write) | {"ReturnValues": "ALL_NEW"}
        return decode_item(self._call("update_item", **request)["Attributes"])

    def put(self, write: Write) -> None:
        """Run a Put."""
        request_context.write_guard.get()(self, (write,))
        self._call("put_item", **self.build_request(write))

    def transact(self, writes: Sequence[Write], *others: "TableWrites") -> None:
        """Run all writes or none; retry after a conflict with another transaction."""
        owned = [
            (table, write) for table, several in ((self, writes), *others) for write in several
        ]
        request_context.write_guard.get()(self, writes)
        items = [{write.verb: table.build_request(write)} for table, write in owned]
        backoff = Backoff("the items are being changed by other requests")
        while True:
            try:
                self._call("transact_write_items", TransactItems=items)
                return
            except TransactionCancelled as cancelled:
                self._assert_transient(cancelled, owned)
            backoff.wait()

    def write(self, writes: Sequence[Write]) -> None:
        """Run a put, an update, or several writes in a transaction; raise as `transact` does."""
        verb = writes[0].verb if len(writes) == 1 else None
        if verb == "Put":
            self.put(writes[0])
        elif verb == "Update":
            self.update(writes[0])
        else:
            self.transact(writes)

    def try_write(self, *writes: Write) -> bool:
        """Run writes as `write` does; return whether their conditions held."""
        try:
            self.write(writes)
        except ConditionFailed:
            return False
        return True

    def write_many(self, writes: Sequence[Write]) -> None:
        """Run puts and deletes without conditions and without a transaction: a call per 25."""
        request_context.write_guard.get()(self, writes)
        wanted = list(map(self._build_batch_request, writes))
        backoff = Backoff("the database is busy")
        while wanted:
            chunk, rest = wanted[:MAX_WRITE_ITEMS], wanted[MAX_WRITE_ITEMS:]
            response = self._call("batch_write_item", RequestItems={self._name: chunk})
            undone = response.get("UnprocessedItems", {}).get(self._name, [])
            if undone:
                report_throttle(self._name, "BatchWriteItem", unprocessed=len(undone))
            if len(undone) == len(chunk):
                backoff.wait()
            else:
                backoff = Backoff("the database is busy")
            wanted = undone + rest

    def _pages(self, request: dict[str, Any], page_size: int | None) -> Iterator[Item]:
        """Query page by page; only items of the table itself have a seal to verify."""
        if page_size:
            request["Limit"] = page_size
        decode = decode_item if "IndexName" in request else self._decode_item
        while True:
            response = self._call("query", TableName=self._name, **request)
            found = map(decode, response["Items"])
            yield from (item for item in found if item is not None)
            if "LastEvaluatedKey" not in response:
                return
            request["ExclusiveStartKey"] = response["LastEvaluatedKey"]

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

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        if self._is_read_only and operation in _WRITES:
            raise ReadOnly
        backoff: Backoff | None = None
        units = request_context.units.get() if operation in _METERED else None
        if units is not None:
            request["ReturnConsumedCapacity"] = "TOTAL"
        while True:
            try:
                response: dict[str, Any] = getattr(self._client, operation)(**request)
                if units is not None:
                    spent = response.get("ConsumedCapacity", ())
                    units.append((_METERED[operation], spent))
                return response
            except ClientError as error:
                if error.response["Error"]["Code"] != "TransactionConflictException":
                    raise self._translate(error, request) from error
            except BotoCoreError as error:
                raise Unavailable("the database does not respond; try again in a second") from error
            backoff = backoff or Backoff("the item is being changed by another request")
            backoff.wait()

    def build_request(self, write: Write) -> dict[str, Any]:
        request: dict[str, Any] = {
            "TableName": self._name,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if write.item is None:
            if write.expression and (sealed := find_sealed_type(write.key)):
                raise ValueError(f"a {sealed.name} has a seal: put it instead of updating it")
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
        """Encode an item with its key, and with its seal if its type has one."""
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
        if self._seals is None:
            return item
        sealed = find_sealed_type(key := (item["pk"], item["sk"]))
        return item if sealed is None or self._seals.is_genuine(sealed, key, item) else None

    def decode_conflict(self, attributes: TypedItem | None) -> Item | None:
        """Decode the present item of a failed condition; None if there is none."""
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
        return translate_error(error) or error


def _build_range(
    partition: str, first: str, last: str | None, *, newest_first: bool
) -> dict[str, Any]:
    last = first + HIGHEST if last is None else last
    ends = {"pk": partition, "first": first, "last": last}
    return {
        "ConsistentRead": True,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
        "ExpressionAttributeValues": encode_placeholders(ends),
        "ScanIndexForward": not newest_first,
    }


TableWrites = tuple[Table, Sequence[Write]]
"""Writes on one table, as part of a transaction over several tables."""


class Store:
    """Reads and writes the items of one subject in a table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def commit(self, writes: Sequence[Write]) -> None:
        """Run all writes or none."""
        self._table.transact(writes)


class TimedStore(Store):
    """A store that knows the time, in epoch ms."""

    def __init__(self, table: Table, clock: Clock) -> None:
        super().__init__(table)
        self._clock = clock
