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
    ("by_task", "by_age", "by_expiry", "by_recency", "by_type"),
)
API_ON_LOG = TableGrant(("BatchGetItem", "PutItem", "Query"))
LIFECYCLE_ON_MEMORY = TableGrant(("BatchGetItem", "DeleteItem", "PutItem", "Query", "UpdateItem"))
LIFECYCLE_ON_LOG = TableGrant(("BatchGetItem", "BatchWriteItem", "PutItem", "Query"))
MAINTENANCE_ON_MEMORY = TableGrant(
    (*_READS, "BatchWriteItem", "DeleteItem", "PutItem", "Scan", "UpdateItem"),
    ("by_due", "by_expiry", "by_recency", "by_task"),
)
MAINTENANCE_ON_LOG = TableGrant(("PutItem", "Query"))
INTAKE_ON_MEMORY = TableGrant(
    (*_READS, "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem"), ("by_task",)
)
INTAKE_ON_LOG = TableGrant(("PutItem", "Query"))
