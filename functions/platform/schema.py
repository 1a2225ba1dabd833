"""Schemas of the tables, for the local server and tests; a test compares the stack's with them."""

from itertools import chain
from typing import Any

BY_TASK = "by_task"  # entries that end with a task, by tier and creation
BY_CREATION = "by_creation"  # an agent's entries, by tier and creation
BY_AGE = "by_age"  # a space's vectors, by their last change
BY_EXPIRY = "by_expiry"  # a partition's entries that expire
BY_EVICTION = "by_eviction"  # an agent's evictable episodic entries, in the order of eviction
BY_DUE = "by_due"  # the items that the scheduled function processes, by their due time
BY_TYPE = "by_type"  # an agent type's episodes, runs and facts
BY_TENANT = "by_tenant"  # a tenant's runs, its facts, and its semantic entries
BY_GROUP = "by_group"  # an instance's runs, a run's episodes, a subject's facts, an agent's states
TASK_ATTRIBUTE = "task_index"
CREATION_ATTRIBUTE = "creation_order"
FILTER_ATTRIBUTES = (
    "namespace",
    "key",
    "tags",
    "task_id",
    "intent_id",
)  # of a query, except for times
EVICTION_ATTRIBUTE = "eviction_order"
EVICTION_ATTRIBUTES = ("nonce", "version", "value_bytes", "agent_id", "task_id", "ttl")
DUE_SHARD_ATTRIBUTE = "due_index"
DUE_ATTRIBUTE = "due"
AGE_ATTRIBUTE = "written_at"
EXPIRY_ATTRIBUTE = "expiry_order"
TYPE_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE = "type_index", "type_order"
TENANT_ATTRIBUTE, GROUP_ATTRIBUTE = "tenant_index", "group_index"
TYPE_ATTRIBUTES = (
    "value",
    "data_key",
    "encrypted_version",  # of earlier builds; removing it would rebuild the index
    "run_end",
    "created_by",
    "sensitivity",
    "status",
)
LIST_ATTRIBUTES = ("status", "agent_type", "predicate")
TTL_ATTRIBUTE = "ttl_at"
VECTOR_ATTRIBUTE, SPACE_ATTRIBUTE = "numbers", "space"  # of DynamoDB's own vector index
WORDS_DIMENSIONS = 128  # added to each vector in DynamoDB's vector index
VECTOR_FILTERS = (
    "memory_type",
    "namespace",
    "agent_id",
    "agent_type",
    "subject",
    "predicate",
    "learned_from_run_id",
)
"""The attributes that a search may filter by."""


INDEX_KEYS = {
    BY_TASK: (TASK_ATTRIBUTE, CREATION_ATTRIBUTE),
    BY_CREATION: ("pk", CREATION_ATTRIBUTE),
    BY_AGE: ("pk", AGE_ATTRIBUTE),
    BY_EXPIRY: ("pk", EXPIRY_ATTRIBUTE),
    BY_EVICTION: ("pk", EVICTION_ATTRIBUTE),
    BY_DUE: (DUE_SHARD_ATTRIBUTE, DUE_ATTRIBUTE),
    BY_TYPE: (TYPE_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE),
    BY_TENANT: (TENANT_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE),
    BY_GROUP: (GROUP_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE),
}
"""The attributes by which each index groups and sorts."""
_NUMBERS = (AGE_ATTRIBUTE, EXPIRY_ATTRIBUTE, DUE_ATTRIBUTE)  # of these; all others are texts
_INDEX_ATTRIBUTES = {
    BY_CREATION: FILTER_ATTRIBUTES,
    BY_EVICTION: EVICTION_ATTRIBUTES,
    BY_TYPE: TYPE_ATTRIBUTES,
    BY_TENANT: (*LIST_ATTRIBUTES, *FILTER_ATTRIBUTES),
    BY_GROUP: (*LIST_ATTRIBUTES, "task_id"),
}


def build_filter_attribute(name: str) -> str:
    """Build the name of the attribute for the hash of a filter's value."""
    return f"{name}_hash"


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    types = ((partition, "HASH"), (sort, "RANGE"))
    return [{"AttributeName": name, "KeyType": kind} for name, kind in types]


def _attributes(*names: str) -> list[dict[str, str]]:
    types = {name: "N" if name in _NUMBERS else "S" for name in names}
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def _index(name: str) -> dict[str, Any]:
    """Describe a sparse index, which omits items without its keys and may lag behind."""
    projection: dict[str, Any] = {"ProjectionType": "KEYS_ONLY"}
    if including := _INDEX_ATTRIBUTES.get(name):
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(including)}
    return {"IndexName": name, "KeySchema": _keys(*INDEX_KEYS[name]), "Projection": projection}


def build_memory_table(name: str) -> dict[str, Any]:
    """Build the arguments of CreateTable for the table of everything but the logs."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": _attributes("pk", "sk", *chain.from_iterable(INDEX_KEYS.values())),
        "KeySchema": _keys("pk", "sk"),
        "GlobalSecondaryIndexes": list(map(_index, INDEX_KEYS)),
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }


def build_vector_index(name: str, dimensions: int) -> dict[str, Any]:
    """Build the vector index as an argument of CreateTable; emulators have none.

    Args:
        dimensions: of the vectors, without added numbers.
    """
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
        "Dimensions": dimensions + WORDS_DIMENSIONS,
        "DistanceFunction": "COSINE",
    }


def build_log_table(name: str) -> dict[str, Any]:
    """Build the arguments of CreateTable for the table of the event logs."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": _attributes("pk", "sk"),
        "KeySchema": _keys("pk", "sk"),
    }
