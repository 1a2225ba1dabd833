"""What each function may call on each table: exactly what it does call (a test compares)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableGrant:
    """DynamoDB actions on a table, and the indexes that may be queried."""

    actions: tuple[str, ...]
    indexes: tuple[str, ...] = ()


_WRITES = ("ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
_READS = ("BatchGetItem", "GetItem", "Query")

API_ON_MEMORY = TableGrant(
    (*_READS, *_WRITES, "BatchWriteItem"),
    (
        "by_task",
        "by_creation",
        "by_age",
        "by_expiry",
        "by_recency",
        "by_type",
        "by_tenant",
        "by_group",
    ),
)
API_ON_LOG = TableGrant(("BatchGetItem", "PutItem", "Query"))
STREAM_ON_MEMORY = TableGrant(
    ("BatchGetItem", "BatchWriteItem", "DeleteItem", "PutItem", "Query", "UpdateItem")
)
STREAM_ON_LOG = TableGrant(("BatchGetItem", "BatchWriteItem", "PutItem", "Query"))
EMBEDDING_ON_MEMORY = TableGrant(("BatchWriteItem", "PutItem"))
SCHEDULE_ON_MEMORY = TableGrant(
    (*_READS, "BatchWriteItem", "DeleteItem", "PutItem", "Scan", "UpdateItem"),
    ("by_due", "by_expiry", "by_recency", "by_task"),
)
SCHEDULE_ON_LOG = TableGrant(("BatchWriteItem", "PutItem", "Query", "Scan"))
TASK_EVENTS_ON_MEMORY = TableGrant(
    (*_READS, "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem"), ("by_task",)
)
TASK_EVENTS_ON_LOG = TableGrant(("PutItem", "Query"))
