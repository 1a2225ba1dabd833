"""Define each function's permissions on each table: exactly its calls (a test compares)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_iam as iam

from functions.platform.item_types import (
    API_KEY,
    DEPLOYMENT_SECRET,
    ITEM_TYPES,
    PRINCIPAL,
)

_WITHOUT_KEYS = ("Scan",)  # IAM knows no keys of these
_NAMES = re.compile(r"\{[^}]*\}")


def _to_pattern(partition: str) -> str:
    """Convert the template of a partition key to a pattern of IAM."""
    return _NAMES.sub("*", partition)


_PRINCIPALS, _SECRET = _to_pattern(PRINCIPAL.partition), _to_pattern(DEPLOYMENT_SECRET.partition)
_API_KEYS = _to_pattern(API_KEY.partition)
_CREDENTIALS = {_PRINCIPALS, _SECRET, _API_KEYS}
_OTHERS = tuple(
    sorted(
        {
            _to_pattern(each.partition)
            for each in ITEM_TYPES
            if each.table == "memory" and " " not in each.partition  # else it is that of its item
        }
        - _CREDENTIALS
    )
)


@dataclass(frozen=True, slots=True)
class TableGrant:
    """DynamoDB actions on a table, and the indexes that may be queried.

    Attributes:
        partitions: patterns of the allowed partitions; None for all.
        more: more actions, each with its partitions.
    """

    actions: tuple[str, ...]
    indexes: tuple[str, ...] = ()
    partitions: tuple[str, ...] | None = None
    more: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def build_statements(self, table_arn: str) -> list[iam.PolicyStatement]:
        """Build the statements that grant this on a table.

        They only allow: AWS advises against denials by keys, since a call without a key isn't
        denied.
        """
        named = [each for each in self.actions if each not in _WITHOUT_KEYS]
        unnamed = [each for each in self.actions if each in _WITHOUT_KEYS]
        indexes = [f"{table_arn}/index/{name}" for name in self.indexes]
        more = [_allow([action], [table_arn], where) for action, where in self.more]
        return [
            *_allow(named, [table_arn], self.partitions),
            *_allow(unnamed, [table_arn]),
            *(each for statements in more for each in statements),
            *_allow(["Query"] if indexes else [], indexes),
        ]


def _allow(
    actions: Sequence[str], resources: list[str], partitions: Sequence[str] | None = None
) -> list[iam.PolicyStatement]:
    """Build the statement that allows actions, if any."""
    if not actions:
        return []
    conditions = {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(partitions or ())},
        "Null": {"dynamodb:LeadingKeys": "false"},  # without a key, the condition always matches
    }
    return [
        iam.PolicyStatement(
            actions=[f"dynamodb:{action}" for action in actions],
            resources=resources,
            conditions=None if partitions is None else conditions,
        )
    ]


_WRITES = ("ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
_READS = ("BatchGetItem", "GetItem", "Query")

API_ON_MEMORY = TableGrant(
    (*_READS, *_WRITES, "BatchWriteItem"),
    (
        "by_task",
        "by_creation",
        "by_expiry",
        "by_eviction",
        "by_type",
        "by_tenant",
        "by_group",
    ),
)
SEARCH_IN_MEMORY = TableGrant((), ("by_age",))
API_ON_LOG = TableGrant(("BatchGetItem", "PutItem", "Query"))
STREAM_ON_MEMORY = TableGrant(
    ("BatchGetItem", "BatchWriteItem", "DeleteItem", "PutItem", "Query", "UpdateItem"),
    partitions=_OTHERS,
)
STREAM_ON_LOG = TableGrant(("BatchGetItem", "BatchWriteItem", "PutItem", "Query"))
EMBEDDING_ON_MEMORY = TableGrant(("BatchGetItem", "BatchWriteItem", "PutItem"), partitions=_OTHERS)
LEARNING_ON_MEMORY = TableGrant(
    (*_READS, *_WRITES, "BatchWriteItem"), ("by_group",), partitions=_OTHERS
)
SCHEDULE_ON_MEMORY = TableGrant(
    (*_READS, *_WRITES, "BatchWriteItem", "Scan"),
    ("by_due", "by_expiry", "by_eviction", "by_group", "by_task", "by_tenant"),
    partitions=_OTHERS,
    more=(
        ("DeleteItem", (_PRINCIPALS, _API_KEYS)),  # of tenants
        ("GetItem", (_SECRET,)),
        ("Query", (_PRINCIPALS,)),
    ),
)
SCHEDULE_ON_LOG = TableGrant(("BatchWriteItem", "PutItem", "Query", "Scan"))
TASK_EVENTS_ON_MEMORY = TableGrant(
    (*_READS, "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem"),
    ("by_task",),
    partitions=_OTHERS,
    more=(("GetItem", (_PRINCIPALS, _SECRET)),),
)
TASK_EVENTS_ON_LOG = TableGrant(("PutItem", "Query"))
