"""Compare two tables that have the same keys."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from operations.tenant_data import encode_bytes

Item = dict[str, Any]
_BATCH = 100  # the maximum number of items that one call reads


def compare_tables(dynamodb: Any, old: str, new: str, out: TextIO) -> dict[str, int]:
    """Compare all items of two tables, and write those that only the old one has.

    It reads both tables once or twice, so its cost grows with their size. Lines have the form of an
    export of a tenant. Items that the service changed after the switch count as different, too.

    Returns:
        The numbers of items that are `changed`, `only_in_old` and `only_in_new`.
    """
    counts = Counter(changed=0, only_in_old=0, only_in_new=0)
    for items in _scan(dynamodb, old):
        others = {_key(each): each for each in _read(dynamodb, new, items)}
        for item in items:
            other = others.get(_key(item))
            if item != other:
                counts["only_in_old" if other is None else "changed"] += 1
                out.write(json.dumps({"table": old, "item": item}, default=encode_bytes) + "\n")
    for items in _scan(dynamodb, new):
        counts["only_in_new"] += len(items) - len(_read(dynamodb, old, items))
    return dict(counts)


def _scan(dynamodb: Any, table: str) -> Iterator[list[Item]]:
    pages = dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    for page in pages:
        items = page["Items"]
        for first in range(0, len(items), _BATCH):
            yield items[first : first + _BATCH]


def _read(dynamodb: Any, table: str, items: Sequence[Item]) -> list[Item]:
    """Read the items of a table that have the keys of these."""
    found: list[Item] = []
    keys = [{"pk": each["pk"], "sk": each["sk"]} for each in items]
    asked = {table: {"Keys": keys, "ConsistentRead": True}}
    while asked:
        answer = dynamodb.batch_get_item(RequestItems=asked)
        found += answer["Responses"].get(table, [])
        asked = answer.get("UnprocessedKeys") or {}
    return found


def _key(item: Item) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]
