"""Remove items after `ttl_at`, as DynamoDB's TTL does, for databases without TTL.

Expired entries stay, because the scheduled function removes them with their counters.
"""

from threading import Event
from typing import Any

from functions.platform.clock import Clock
from functions.platform.item_types import PRIVATE_ENTRY
from functions.platform.schema import TTL_ATTRIBUTE

_EXPIRED = f"{TTL_ATTRIBUTE} <= :now"


def remove_expired_items(dynamodb: Any, table: str, clock: Clock, stopping: Event) -> int:
    """Remove a table's expired items, and return how many were removed.

    Args:
        dynamodb: a boto3 client.
        clock: returns the time in epoch ms.
        stopping: once it is set, no further page is read.
    """
    now = {"N": str(clock() // 1000)}
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=table,
        ProjectionExpression="pk, sk",
        FilterExpression=f"{_EXPIRED} AND NOT begins_with(sk, :entry)",
        ExpressionAttributeValues={":now": now, ":entry": {"S": PRIVATE_ENTRY.sort_prefix}},
    )
    removed = 0
    for page in pages:
        if stopping.is_set():
            break
        for key in page["Items"]:
            removed += _remove(dynamodb, table, key, now)
    return removed


def _remove(dynamodb: Any, table: str, key: dict[str, Any], now: dict[str, str]) -> bool:
    """Remove one item, unless its time was extended or another process removed it."""
    try:
        dynamodb.delete_item(
            TableName=table,
            Key=key,
            ConditionExpression=_EXPIRED,
            ExpressionAttributeValues={":now": now},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True
