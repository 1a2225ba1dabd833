"""DynamoDB's own search of vectors, as `functions/platform/schema.py` declares it."""

from typing import cast

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam

from functions.platform.schema import build_vector_index

NAME = "by_meaning"
_INDEX = build_vector_index(NAME)


def add_vector_index(table: dynamodb.Table) -> None:
    """Add the index to a table. On a table that is there it is built in the background."""
    low = cast("dynamodb.CfnTable", table.node.default_child)
    known = cast("list[dynamodb.CfnTable.AttributeDefinitionProperty]", low.attribute_definitions)
    low.attribute_definitions = [
        *known,
        *(_string(each["AttributeName"]) for each in _INDEX["SearchSchema"]),
    ]
    low.vector_indexes = [
        dynamodb.CfnTable.VectorIndexProperty(
            index_name=NAME,
            vector_attribute=dynamodb.CfnTable.VectorAttributeProperty(
                attribute_name=_INDEX["VectorAttribute"]["AttributeName"]
            ),
            search_schema=[
                _element(each["AttributeName"], each["SearchSchemaElementType"])
                for each in _INDEX["SearchSchema"]
            ],
            projection=dynamodb.CfnTable.ProjectionProperty(
                projection_type=_INDEX["Projection"]["ProjectionType"]
            ),
            dimensions=_INDEX["Dimensions"],
            distance_function=_INDEX["DistanceFunction"],
        )
    ]


def grant_search(role: iam.Role, table: dynamodb.Table) -> None:
    """Let a role search the index. No condition on keys applies to that (AWS)."""
    index = f"{table.table_arn}/index/{NAME}"
    role.add_to_policy(iam.PolicyStatement(actions=["dynamodb:SearchVectors"], resources=[index]))


def grant_embed(role: iam.Role, model: str) -> None:
    """Let a role call one model of Amazon Bedrock."""
    arn = Stack.of(role).format_arn(
        service="bedrock", account="", resource="foundation-model", resource_name=model
    )
    role.add_to_policy(iam.PolicyStatement(actions=["bedrock:InvokeModel"], resources=[arn]))


def _string(name: str) -> dynamodb.CfnTable.AttributeDefinitionProperty:
    return dynamodb.CfnTable.AttributeDefinitionProperty(attribute_name=name, attribute_type="S")


def _element(name: str, role: str) -> dynamodb.CfnTable.SearchSchemaElementProperty:
    return dynamodb.CfnTable.SearchSchemaElementProperty(
        attribute_name=name, search_schema_element_type=role
    )
