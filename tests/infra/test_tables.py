"""The tables are those that the functions are written for."""

from typing import Any

import pytest

from functions.platform.schema import TTL_ATTRIBUTE, build_log_table, build_memory_table
from tests.infra.template import Properties, Template

_DECLARED = {"Memory": build_memory_table("any"), "Log": build_log_table("any")}


@pytest.fixture(params=["Memory", "Log"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def table(template: Template, name: str) -> Properties:
    return template.named("DynamoDB::GlobalTable", f"{name}Table")


def _comparable(schema: dict[str, Any]) -> dict[str, Any]:
    """A table's schema with no order where none matters, as both write it down."""
    indexes = {index["IndexName"]: index for index in schema.get("GlobalSecondaryIndexes", [])}
    stream = schema.get("StreamSpecification")
    return {
        "keys": schema["KeySchema"],
        "attributes": {
            a["AttributeName"]: a["AttributeType"] for a in schema["AttributeDefinitions"]
        },
        "indexes": {name: (i["KeySchema"], i["Projection"]) for name, i in indexes.items()},
        "stream": stream and stream["StreamViewType"],
        "billing": schema["BillingMode"],
    }


def test_a_table_has_the_schema_that_the_functions_make_on_a_laptop(
    dev: Template, name: str
) -> None:
    """A laptop has no vector index."""
    assert _comparable(table(dev, name)) == _comparable(_DECLARED[name])


def test_dynamodb_removes_what_has_expired(dev: Template, name: str) -> None:
    expected = {"AttributeName": TTL_ATTRIBUTE, "Enabled": True}
    assert table(dev, name)["TimeToLiveSpecification"] == expected


def test_a_table_is_encrypted_by_the_storage_key_and_can_be_restored(
    dev: Template, name: str
) -> None:
    properties = table(dev, name)
    (replica,) = properties["Replicas"]
    key = {"Fn::GetAtt": [dev.id_of("KMS::Key", "StorageKey"), "Arn"]}
    assert properties["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
    assert replica["SSESpecification"] == {"KMSMasterKeyId": key}
    assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
