"""Schemas of the tables, for the local server and tests; a test compares the stack's with them."""

from typing import Any

BY_TASK = "by_task"  # entries that end with a task, by tier and creation
BY_CREATION = "by_creation"  # an agent's entries, by tier and creation
BY_AGE = "by_age"  # a space's vectors, by their last change
BY_EXPIRY = "by_expiry"  # a partition's entries that expire
BY_RECENCY = "by_recency"  # an agent's episodic entries that may be evicted, the first one first
BY_DUE = "by_due"  # what the scheduled function has to process, and when
BY_TYPE = "by_type"  # an agent type's episodes, runs and facts
BY_TENANT = "by_tenant"  # a tenant's runs, its facts, and its semantic entries
BY_GROUP = "by_group"  # an instance's runs, a run's episodes, a subject's facts, an agent's states
TASK_ATTRIBUTE = "task_ix"
CREATION_ATTRIBUTE = "made"
FILTER_ATTRIBUTES = ("namespace", "ekey", "tags", "task", "intent")  # of a query, but for times
RECENCY_ATTRIBUTE = "recency"
EVICTION_ATTRIBUTES = ("nonce", "version", "value_bytes", "agent_id", "task", "ttl_rule")
DUE_SHARD_ATTRIBUTE = "due_ix"
DUE_ATTRIBUTE = "due"
AGE_ATTRIBUTE = "ep_created"
EXPIRY_ATTRIBUTE = "expires"
TYPE_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE = "type_ix", "type_at"
TENANT_ATTRIBUTE, GROUP_ATTRIBUTE = "tenant_ix", "group_ix"
TYPE_ATTRIBUTES = (
    "val",
    "data_key",
    "encrypted_version",
    "run_end",
    "author",
    "sensitivity",
    "status",
)
LIST_ATTRIBUTES = ("status", "agent_type", "predicate")
_GROUP_LIST = (*LIST_ATTRIBUTES, "task")
_TENANT_LIST = (*LIST_ATTRIBUTES, *FILTER_ATTRIBUTES)
TTL_ATTRIBUTE = "ttl_at"
VECTOR_ATTRIBUTE, SPACE_ATTRIBUTE = "vec_ix", "space_ix"  # where DynamoDB itself searches vectors
VECTOR_DIMENSIONS = 384  # 256 of meaning, 128 of words
VECTOR_FILTERS = (
    "tier",
    "namespace",
    "agent_id",
    "agent_type",
    "subject",
    "predicate",
    "learned_from_run_id",
)
"""The attributes that a search may filter by."""


def build_filter_attribute(name: str) -> str:
    """Build the name of the vector index's attribute for a filter of a search."""
    return f"{name}_ix"


def _keys(partition: str, sort: str | None) -> list[dict[str, str]]:
    keys = [{"AttributeName": partition, "KeyType": "HASH"}]
    return keys if sort is None else [*keys, {"AttributeName": sort, "KeyType": "RANGE"}]


def _attributes(**types: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def _index(
    name: str, partition: str, sort: str | None, including: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Describe a sparse index, which lacks items without its keys and may lag behind."""
    projection: dict[str, Any] = {"ProjectionType": "KEYS_ONLY"}
    if including:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(including)}
    return {"IndexName": name, "KeySchema": _keys(partition, sort), "Projection": projection}


def build_memory_table(name: str) -> dict[str, Any]:
    """Build the arguments of CreateTable for the table of everything but the logs."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": _attributes(
            **{
                "pk": "S",
                "sk": "S",
                TASK_ATTRIBUTE: "S",
                RECENCY_ATTRIBUTE: "S",
                DUE_SHARD_ATTRIBUTE: "S",
                CREATION_ATTRIBUTE: "S",
                AGE_ATTRIBUTE: "N",
                EXPIRY_ATTRIBUTE: "N",
                DUE_ATTRIBUTE: "N",
                TYPE_ATTRIBUTE: "S",
                TYPE_ORDER_ATTRIBUTE: "S",
                TENANT_ATTRIBUTE: "S",
                GROUP_ATTRIBUTE: "S",
            }
        ),
        "KeySchema": _keys("pk", "sk"),
        "GlobalSecondaryIndexes": [
            _index(BY_TASK, TASK_ATTRIBUTE, CREATION_ATTRIBUTE),
            _index(BY_CREATION, "pk", CREATION_ATTRIBUTE, FILTER_ATTRIBUTES),
            _index(BY_AGE, "pk", AGE_ATTRIBUTE),
            _index(BY_EXPIRY, "pk", EXPIRY_ATTRIBUTE),
            _index(BY_RECENCY, "pk", RECENCY_ATTRIBUTE, EVICTION_ATTRIBUTES),
            _index(BY_DUE, DUE_SHARD_ATTRIBUTE, DUE_ATTRIBUTE),
            _index(BY_TYPE, TYPE_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE, TYPE_ATTRIBUTES),
            _index(BY_TENANT, TENANT_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE, _TENANT_LIST),
            _index(BY_GROUP, GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE, _GROUP_LIST),
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }


def build_vector_index(name: str) -> dict[str, Any]:
    """Build the vector index as an argument of CreateTable; emulators have none."""
    filters = [build_filter_attribute(each) for each in VECTOR_FILTERS]
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": VECTOR_ATTRIBUTE},
        "SearchSchema": [
            {"AttributeName": SPACE_ATTRIBUTE, "SearchSchemaElementType": "HASH"},
            *(
                {"AttributeName": each, "SearchSchemaElementType": "INLINE_FILTER"}
                for each in filters
            ),
        ],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        "Dimensions": VECTOR_DIMENSIONS,
        "DistanceFunction": "COSINE",
    }


def build_log_table(name: str) -> dict[str, Any]:
    """Build the arguments of CreateTable for the table of the event logs."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": _attributes(pk="S", sk="S"),
        "KeySchema": _keys("pk", "sk"),
    }
