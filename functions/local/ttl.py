"""What DynamoDB's own TTL does, for engines that have none: items go some time after `ttl_at`.

Entries are left alone: the sweep removes them, with their counters.
"""

from contextlib import AbstractContextManager
from threading import Event
from typing import Any

from functions.local.regular import regularly
from functions.platform.aws import create_client
from functions.platform.clock import Clock, now_ms
from functions.platform.schema import TTL_ATTRIBUTE

_EVERY = 3600.0  # seconds; each time costs a look at every item
_DUE = f"{TTL_ATTRIBUTE} <= :now"


def running(*tables: str) -> AbstractContextManager[None]:
    """Removes from these tables what is past its time, at once and then once an hour."""
    dynamodb = create_client("dynamodb")

    def remove(ending: Event) -> None:
        for table in tables:
            remove_outlived(dynamodb, table, now_ms, ending)

    return regularly(_EVERY, remove, "ttl")


def remove_outlived(dynamodb: Any, table: str, clock: Clock, ending: Event) -> int:
    """Removes what is past its time from one table; how many items went.

    Args:
        dynamodb: a boto3 client.
        table: its name.
        clock: epoch ms.
        ending: set, it stops before the next page.
    """
    moment = {"N": str(clock() // 1000)}
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=table,
        ProjectionExpression="pk, sk",
        FilterExpression=f"{_DUE} AND NOT begins_with(sk, :entry)",
        ExpressionAttributeValues={":now": moment, ":entry": {"S": "e#"}},
    )
    removed = 0
    for page in pages:
        if ending.is_set():
            break
        for key in page["Items"]:
            removed += _remove(dynamodb, table, key, moment)
    return removed


def _remove(dynamodb: Any, table: str, key: dict[str, Any], moment: dict[str, str]) -> bool:
    """Removes one item, unless it was given more time or is gone."""
    try:
        dynamodb.delete_item(
            TableName=table,
            Key=key,
            ConditionExpression=_DUE,
            ExpressionAttributeValues={":now": moment},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True
