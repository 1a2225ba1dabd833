"""The partitions that a request to DynamoDB names, as IAM sees them."""

import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_PARTITION = "pk"
_EQUALS = re.compile(r"[#\w]+\s*=\s*(:\w+)")  # sort keys have =, too: the partition's comes first


def find_partitions(request: Json) -> Iterator[tuple[str, str]]:
    """Find the partitions, each with its table; those of a transaction are those of its items."""
    table = request.get("TableName", "")
    yield from ((table, key) for key in _find_own(request))
    for item in request.get("TransactItems", ()):
        for write in item.values():
            yield from ((write["TableName"], key) for key in _find_own(write))
    for name, asked in request.get("RequestItems", {}).items():
        writes = [*asked] if isinstance(asked, list) else []
        keys = asked["Keys"] if isinstance(asked, dict) else []
        changes = [change for write in writes for change in write.values()]
        yield from ((name, key[_PARTITION]["S"]) for key in keys)
        yield from ((name, key) for change in changes for key in _find_own(change))


def _find_own(call: Json) -> Iterator[str]:
    for part in ("Key", "Item"):
        if part in call:
            yield call[part][_PARTITION]["S"]
    if found := _EQUALS.search(call.get("KeyConditionExpression") or ""):
        yield call["ExpressionAttributeValues"][found[1]]["S"]
