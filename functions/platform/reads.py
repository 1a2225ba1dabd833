"""Reads of one table: by key, by partition, by index. All of them page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from botocore.exceptions import ClientError

from functions.platform.calls import Calls, typed_key, typed_values
from functions.platform.errors import Unavailable
from functions.platform.items import Typed, encode
from functions.platform.keys import Key
from functions.platform.limits import MAX_GET_ITEMS
from functions.platform.retry import Backoff
from functions.platform.writes import Write

_FIRST_OF_INDEX = 25
_HIGHEST = "\U0010ffff"  # sorts behind all other characters

Read = TypeVar("Read")


class Reads(Calls, Generic[Read]):
    """What can be read of a table; `read` makes something of an item in typed form."""

    def __init__(self, client: Any, name: str, read: Callable[[Typed], Read]) -> None:
        super().__init__(client, name)
        self._read = read

    def get(self, key: Key) -> Read | None:
        """The item at `key`, strongly consistent: one call."""
        answer = self._call(
            "get_item", TableName=self._name, Key=typed_key(key), ConsistentRead=True
        )
        return self._read(answer["Item"]) if "Item" in answer else None

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Read]:
        """The items that exist among `keys`, strongly consistent: a call per hundred.

        Raises:
            Throttled: the store puts off reading them again and again.
        """
        wanted = [typed_key(key) for key in dict.fromkeys(keys)]
        found: dict[Key, Read] = {}
        backoff = Backoff("the store is busy")
        while wanted:
            chunk, rest = wanted[:MAX_GET_ITEMS], wanted[MAX_GET_ITEMS:]
            request = {self._name: {"Keys": chunk, "ConsistentRead": True}}
            answer = self._call("batch_get_item", RequestItems=request)
            for item in answer["Responses"].get(self._name, ()):
                found[item["pk"]["S"], item["sk"]["S"]] = self._read(item)
            put_off = answer.get("UnprocessedKeys", {}).get(self._name, {}).get("Keys", [])
            if len(put_off) == len(chunk):
                backoff.wait()
            else:
                backoff = Backoff("the store is busy")
            wanted = put_off + rest
        return found

    def update(self, write: Write) -> Read:
        """Carries out one Update and gives the new item.

        Raises:
            ConditionFailed: the condition did not hold.
        """
        request = self._request(write) | {"ReturnValues": "ALL_NEW"}
        return self._read(self._call("update_item", **request)["Attributes"])

    def query(
        self,
        partition: str,
        prefix: str,
        *,
        newest_first: bool = False,
        condition: str | None = None,
        **values: Any,
    ) -> Iterator[Read]:
        """The items of a partition whose sort key begins with `prefix`, strongly consistent.

        A call per megabyte read; `condition` filters what comes back, not what is read. Asked for
        as a range: by `begins_with` the local engine reads the whole partition for every call.
        """
        request = _between(partition, prefix, prefix + _HIGHEST, newest_first=newest_first)
        request["ExpressionAttributeValues"] |= typed_values(values)
        if condition:
            request["FilterExpression"] = condition
        return self._pages(request)

    def query_from(
        self, partition: str, first: str, last: str, at_once: int, *, newest_first: bool = False
    ) -> Iterator[Read]:
        """The items from one sort key to another, strongly consistent: a call per `at_once`."""
        request = _between(partition, first, last, newest_first=newest_first)
        return self._pages(request | {"Limit": at_once})

    def query_index(self, index: str, attribute: str, value: str) -> list[Read]:
        """What an index lists under `value`: keys only; it may lag behind the table."""
        request = {
            "IndexName": index,
            "KeyConditionExpression": f"{attribute} = :value",
            "ExpressionAttributeValues": typed_values({"value": value}),
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
        at_once: int | None = None,
    ) -> Iterator[Read]:
        """What an index lists under a value of `attribute`, where `sort` is at most `at_most`.

        `at_once`: how many a call reads at most; else a megabyte.
        """
        request = {
            "IndexName": index,
            "KeyConditionExpression": f"{attribute} = :pk AND {sort} <= :most",
            "ExpressionAttributeValues": typed_values({"pk": partition, "most": at_most}),
            "ScanIndexForward": not descending,
        } | ({"Limit": at_once} if at_once else {})
        return self._pages(request)

    def query_since(self, index: str, partition: str, sort: str, since: int) -> list[Read]:
        """What an index lists of a partition from `since` on; it may lag behind."""
        request = {
            "IndexName": index,
            "KeyConditionExpression": f"pk = :pk AND {sort} >= :since",
            "ExpressionAttributeValues": typed_values({"pk": partition, "since": since}),
        }
        return list(self._pages(request))

    def query_newest(
        self, index: str, of: tuple[str, str], before: tuple[str, str], at_once: int | None
    ) -> Iterator[Read]:
        """What an index lists under a value of an attribute, from the highest of another one on.

        Args:
            index: its name; it may lag behind the table.
            of: the attribute, and its value.
            before: the attribute that sorts, and what each one is below.
            at_once: how many a call reads at most; else a megabyte.
        """
        (attribute, value), (sort, below) = of, before
        request = {
            "IndexName": index,
            "KeyConditionExpression": f"{attribute} = :value AND {sort} < :below",
            "ExpressionAttributeValues": typed_values({"value": value, "below": below}),
            "ScanIndexForward": False,
        } | ({"Limit": at_once} if at_once else {})
        return self._pages(request)

    def query_sorted(self, index: str, partition: str) -> Iterator[Read]:
        """A partition's keys in an index, in its order; it may lag behind the table."""
        request = {
            "IndexName": index,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": typed_values({"pk": partition}),
            "Limit": _FIRST_OF_INDEX,
        }
        return self._pages(request)

    def scan(
        self, after: Sequence[str] | None, at_once: int, condition: str, **values: Any
    ) -> tuple[list[Read], Key | None]:
        """Items of the whole table: one call, which looks at `at_once` of them, behind a key.

        Gives those that the condition lets through, as of a moment ago, and behind which key it
        goes on: None at the end.
        """
        request: dict[str, Any] = {
            "Limit": at_once,
            "FilterExpression": condition,
            "ExpressionAttributeValues": typed_values(values),
        }
        if after is not None:
            request["ExclusiveStartKey"] = typed_key((after[0], after[1]))
        answer = self._call("scan", TableName=self._name, **request)
        found = [self._read(item) for item in answer["Items"]]
        if "LastEvaluatedKey" not in answer:
            return found, None
        last = answer["LastEvaluatedKey"]
        return found, (last["pk"]["S"], last["sk"]["S"])

    def search_vectors(
        self, index: str, vector: Sequence[int], top_k: int, equal: Mapping[str, str]
    ) -> list[tuple[str, float]]:
        """The sort keys of the nearest vectors in an index, and how far they are: nearest first.

        Raises:
            Unavailable: the index isn't there yet; it is built in the background.
        """
        placed = list(enumerate(equal.items()))
        request = {
            "IndexName": index,
            "SearchVector": [encode(each) for each in vector],
            "TopK": top_k,
            "SearchConditionExpression": " AND ".join(f"{name} = :{n}" for n, (name, _) in placed),
            "ExpressionAttributeValues": {f":{n}": encode(each) for n, (_, each) in placed},
            "ProjectionExpression": "sk",
        }
        try:
            answer = self._call("search_vectors", TableName=self._name, **request)
        except ClientError as error:
            if _is_young(error):
                raise Unavailable("the vector index is being built; try again later") from error
            raise
        return [(each["Item"]["sk"]["S"], each["Score"]) for each in answer["SearchResults"]]

    def _pages(self, request: dict[str, Any]) -> Iterator[Read]:
        while True:
            answer = self._call("query", TableName=self._name, **request)
            yield from map(self._read, answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _between(partition: str, first: str, last: str, *, newest_first: bool) -> dict[str, Any]:
    return {
        "ConsistentRead": True,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
        "ExpressionAttributeValues": typed_values({"pk": partition, "first": first, "last": last}),
        "ScanIndexForward": not newest_first,
    }


def _is_young(error: ClientError) -> bool:
    """Whether an index is being built, or was a moment ago; no code of its own says so."""
    message = error.response["Error"].get("Message", "").lower()
    return "backfilling vector index" in message or "not have the specified index" in message
