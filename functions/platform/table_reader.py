"""Read one table: by key, by partition, by index. All reads page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from functions.platform.errors import Unavailable
from functions.platform.items import Item, decode_item, encode
from functions.platform.keys import HIGHEST, Key
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.retry import Backoff
from functions.platform.table_client import (
    TableClient,
    encode_key,
    encode_placeholders,
    find_names,
    report_throttle,
)


class TableReader(TableClient):
    """Read one table, for several threads."""

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """Get the items that exist among `keys`, strongly consistent: a call per hundred.

        Raises:
            Throttled: DynamoDB leaves keys unprocessed again and again.
        """
        wanted = [encode_key(key) for key in dict.fromkeys(keys)]
        found: dict[Key, Item] = {}
        backoff = Backoff("the store is busy")
        while wanted:
            chunk, rest = wanted[:MAX_GET_ITEMS], wanted[MAX_GET_ITEMS:]
            request = {self._name: {"Keys": chunk, "ConsistentRead": True}}
            response = self._call("batch_get_item", RequestItems=request)
            for attributes in response["Responses"].get(self._name, ()):
                item = self._decode_item(attributes)
                if item is not None:
                    found[item["pk"], item["sk"]] = item
            unprocessed = response.get("UnprocessedKeys", {}).get(self._name, {}).get("Keys", [])
            if unprocessed:
                report_throttle(self._name, "BatchGetItem", unprocessed=len(unprocessed))
            if len(unprocessed) == len(chunk):
                backoff.wait()
            else:
                backoff = Backoff("the store is busy")
            wanted = unprocessed + rest
        return found

    def query(
        self,
        partition: str,
        prefix: str,
        *,
        newest_first: bool = False,
        condition: str | None = None,
        **values: Any,
    ) -> Iterator[Item]:
        """Query the items of a partition whose sort key begins with `prefix`, strongly consistent.

        A call per megabyte read; `condition` filters what is returned, not what is read.
        """
        request = _build_range(partition, prefix, prefix + HIGHEST, newest_first=newest_first)
        request["ExpressionAttributeValues"] |= encode_placeholders(values)
        if condition:
            request["FilterExpression"] = condition
        return self._pages(request | find_names(condition))

    def query_page(
        self, partition: str, prefix: str, attributes: Sequence[str], after: Key | None
    ) -> tuple[list[Item], Key | None]:
        """Query a megabyte of a partition, strongly consistent: one call.

        Args:
            prefix: what their sort keys begin with.
            attributes: which ones to give, the only ones that are sent and parsed.
            after: the key after which the page begins; None for the first page.

        Returns:
            The items, and the key for the next page: None at the end.
        """
        request = _build_range(partition, prefix, prefix + HIGHEST, newest_first=False)
        names = {f"#{number}": name for number, name in enumerate(attributes)}
        request |= {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
        if after is not None:
            request["ExclusiveStartKey"] = encode_key(after)
        return _decode_page(self._call("query", TableName=self._name, **request))

    def query_from(
        self,
        partition: str,
        first: str,
        last: str,
        page_size: int,
        *,
        newest_first: bool = False,
        is_consistent: bool = True,
    ) -> Iterator[Item]:
        """Query the items from one sort key to another.

        Args:
            first, last: the sort keys.
            page_size: how many items a call reads.
            newest_first: the highest sort key first.
            is_consistent: strongly; else at half the price, without the latest writes perhaps.
        """
        request = _build_range(partition, first, last, newest_first=newest_first)
        return self._pages(request | {"Limit": page_size, "ConsistentRead": is_consistent})

    def query_index(
        self,
        index: str,
        condition: str,
        *,
        newest_first: bool = False,
        page_size: int | None = None,
        **values: Any,
    ) -> Iterator[Item]:
        """Query what an index lists; it may lag behind the table.

        Args:
            condition: on the index's own keys; `values` are its placeholders, without colons.
            newest_first: the highest sort key first.
            page_size: how many items a call reads at most; a megabyte by default.
        """
        request = {
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": encode_placeholders(values),
            "ScanIndexForward": not newest_first,
        } | ({"Limit": page_size} if page_size else {})
        return self._pages(request | find_names(condition))

    def scan(
        self, after: Sequence[str] | None, page_size: int, condition: str, **values: Any
    ) -> tuple[list[Item], Key | None]:
        """Scan a page of the whole table, eventually consistent: one call.

        Args:
            after: the key after which the page begins; None for the first page.
            page_size: how many items the call reads.
            condition: a filter of what is returned.

        Returns:
            The items, and the key for the next page: None at the end.
        """
        request: dict[str, Any] = {
            "Limit": page_size,
            "FilterExpression": condition,
            "ExpressionAttributeValues": encode_placeholders(values),
            **find_names(condition),
        }
        if after is not None:
            request["ExclusiveStartKey"] = encode_key((after[0], after[1]))
        return _decode_page(self._call("scan", TableName=self._name, **request))

    def search_vectors(
        self, index: str, vector: Sequence[int], top_k: int, equal: Mapping[str, str]
    ) -> list[tuple[str, float]]:
        """Search the nearest vectors of an index: their sort keys and distances, nearest first.

        Raises:
            Unavailable: the index is still being built.
        """
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
            if _is_index_missing(error):
                raise Unavailable("the vector index is being built; try again later") from error
            raise
        return [(each["Item"]["sk"]["S"], each["Score"]) for each in response["SearchResults"]]

    def _pages(self, request: dict[str, Any]) -> Iterator[Item]:
        """Query page by page. What an index says is a hint without a seal: it is read again."""
        decode = decode_item if "IndexName" in request else self._decode_item
        while True:
            response = self._call("query", TableName=self._name, **request)
            found = map(decode, response["Items"])
            yield from (item for item in found if item is not None)
            if "LastEvaluatedKey" not in response:
                return
            request["ExclusiveStartKey"] = response["LastEvaluatedKey"]


def _decode_page(response: dict[str, Any]) -> tuple[list[Item], Key | None]:
    found = [decode_item(item) for item in response["Items"]]
    if "LastEvaluatedKey" not in response:
        return found, None
    last = response["LastEvaluatedKey"]
    return found, (last["pk"]["S"], last["sk"]["S"])


def _build_range(partition: str, first: str, last: str, *, newest_first: bool) -> dict[str, Any]:
    return {
        "ConsistentRead": True,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
        "ExpressionAttributeValues": encode_placeholders(
            {"pk": partition, "first": first, "last": last}
        ),
        "ScanIndexForward": not newest_first,
    }


def _is_index_missing(error: ClientError) -> bool:
    """Tell whether an index is still being built, which has no error code of its own."""
    message = error.response["Error"].get("Message", "").lower()
    return "backfilling vector index" in message or "not have the specified index" in message
