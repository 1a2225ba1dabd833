"""DynamoDB's own search of vectors, as `functions/platform/schema.py` declares it."""

from collections.abc import Sequence
from typing import cast

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam

from functions.platform.embedding_models import INDEXED_DIMENSIONS
from functions.platform.schema import build_memory_table, build_vector_index

NAME = "by_meaning"
_INDEX = build_vector_index(NAME, INDEXED_DIMENSIONS)
_DEFINED = len(build_memory_table("memory")["AttributeDefinitions"])


def add_vector_index(table: dynamodb.TableV2, dimensions: int) -> None:
    """Add the index to a table. On an existing table, it is built in the background.

    Args:
        dimensions: of the vectors, without added numbers.
    """
    low = cast("dynamodb.CfnGlobalTable", table.node.default_child)
    for number, each in enumerate(_INDEX["SearchSchema"]):
        # added to the definitions that the CDK renders for keys and other indexes
        place = f"AttributeDefinitions.{_DEFINED + number}"
        low.add_property_override(place, _string(each["AttributeName"]))
    low.vector_indexes = [
        dynamodb.CfnGlobalTable.VectorIndexProperty(
            index_name=NAME,
            vector_attribute=dynamodb.CfnGlobalTable.VectorAttributeProperty(
                attribute_name=_INDEX["VectorAttribute"]["AttributeName"]
            ),
            search_schema=[
                _element(each["AttributeName"], each["SearchSchemaElementType"])
                for each in _INDEX["SearchSchema"]
            ],
            projection=dynamodb.CfnGlobalTable.ProjectionProperty(
                projection_type=_INDEX["Projection"]["ProjectionType"]
            ),
            dimensions=build_vector_index(NAME, dimensions)["Dimensions"],
            distance_function=_INDEX["DistanceFunction"],
        )
    ]


def grant_search(role: iam.Role, table_arns: Sequence[str]) -> None:
    """Let a role search the index of tables. No condition on keys applies to that (AWS)."""
    indexes = [f"{arn}/index/{NAME}" for arn in table_arns]
    role.add_to_policy(iam.PolicyStatement(actions=["dynamodb:SearchVectors"], resources=indexes))


def _string(name: str) -> dict[str, str]:
    return {"AttributeName": name, "AttributeType": "S"}


def _element(name: str, role: str) -> dynamodb.CfnGlobalTable.SearchSchemaElementProperty:
    return dynamodb.CfnGlobalTable.SearchSchemaElementProperty(
        attribute_name=name, search_schema_element_type=role
    )
