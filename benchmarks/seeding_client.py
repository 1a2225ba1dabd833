"""A DynamoDB client that answers reads from memory and stores what is put by batches.

The service makes a list's elements by it in a fraction of the time, and the same items.
"""

from functools import partial
from itertools import chain
from typing import Any

from functions.platform.parallel import run_parallel

_AT_ONCE, _PARALLEL, _MOST_PENDING = 25, 8, 5_000
_Key = tuple[str, str, str]  # table, partition, sort


class SeedingClient:
    """Takes the calls of a boto3 client. Conditions are taken to hold.

    Updates within transactions are left out where their items are there: they count, and no page
    depends on counters.
    What is not done by key goes to the engine, which doesn't have what is pending.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._items: dict[_Key, Any] = {}
        self._pending: dict[_Key, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def load(self, table: str) -> None:
        """Read what the engine has, which others may have changed."""
        pages = self._client.get_paginator("scan").paginate(TableName=table)
        found = chain.from_iterable(page["Items"] for page in pages)
        self._items = {_key(table, item): item for item in found}

    def flush(self) -> None:
        """Store what is pending."""
        pending, self._pending = list(self._pending.items()), {}
        chunks = [pending[each : each + _AT_ONCE] for each in range(0, len(pending), _AT_ONCE)]
        for each in range(0, len(chunks), _PARALLEL):
            run_parallel([partial(self._store, chunk) for chunk in chunks[each : each + _PARALLEL]])

    def _store(self, chunk: list[tuple[_Key, Any]]) -> None:
        wanted: dict[str, list[Any]] = {}
        for (table, _, _), item in chunk:
            wanted.setdefault(table, []).append({"PutRequest": {"Item": item}})
        while wanted:
            wanted = self._client.batch_write_item(RequestItems=wanted).get("UnprocessedItems")

    def get_item(self, TableName: str, Key: Any, **_options: Any) -> Any:  # noqa: N803 - AWS's
        item = self._items.get(_key(TableName, Key))
        return {} if item is None else {"Item": item}

    def batch_get_item(self, RequestItems: Any, **_options: Any) -> Any:  # noqa: N803 - AWS's
        found = {
            table: [
                item
                for each in asked["Keys"]
                if (item := self._items.get(_key(table, each))) is not None
            ]
            for table, asked in RequestItems.items()
        }
        return {"Responses": found}

    def put_item(self, TableName: str, Item: Any, **_options: Any) -> Any:  # noqa: N803 - AWS's
        key = _key(TableName, Item)
        self._items[key] = self._pending[key] = Item
        if len(self._pending) >= _MOST_PENDING:
            self.flush()
        return {}

    def update_item(self, **request: Any) -> Any:
        key = _key(request["TableName"], request["Key"])
        if key in self._pending:
            self.flush()
        answer = self._client.update_item(**request)
        self._items[key] = answer.get("Attributes", self._items.get(key))
        return answer

    def transact_write_items(self, TransactItems: Any, **_options: Any) -> Any:  # noqa: N803
        for each in TransactItems:
            if "Put" in each:
                self.put_item(**each["Put"])
            elif "Update" in each:
                self._create_by(each["Update"])
        return {}

    def _create_by(self, update: Any) -> None:
        if _key(update["TableName"], update["Key"]) not in self._items:
            self.update_item(**update, ReturnValues="ALL_NEW")

    def batch_write_item(self, RequestItems: Any, **_options: Any) -> Any:  # noqa: N803 - AWS's
        for table, writes in RequestItems.items():
            for each in writes:
                self.put_item(table, each["PutRequest"]["Item"])
        return {}


def _key(table: str, item: Any) -> _Key:
    return table, item["pk"]["S"], item["sk"]["S"]
