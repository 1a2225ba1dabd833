"""The two tables, with the indexes of `functions/platform/schema.py`."""

from typing import Any

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from functions.platform.schema import TTL_ATTRIBUTE, build_memory_table
from infra.config import Config
from infra.constructs.encryption import Encryption
from infra.constructs.vector_index import add_vector_index
from infra.grants import TableGrant

_TYPES = {"S": dynamodb.AttributeType.STRING, "N": dynamodb.AttributeType.NUMBER}


def _attribute(name: str, kind: str = "S") -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=_TYPES[kind])


class Tables(Construct):
    """`memory` holds all but the logs and has a change stream; `log` holds events.

    Both are encrypted, can be restored to any second of the last 35 days, and let DynamoDB remove
    what has expired.
    """

    def __init__(self, scope: Construct, id: str, config: Config, encryption: Encryption) -> None:
        super().__init__(scope, id)
        self._encryption = encryption
        self.memory = self._table("Memory", config, dynamodb.StreamViewType.NEW_AND_OLD_IMAGES)
        self._add_indexes()
        if config.vector_index:
            add_vector_index(self.memory)
        self.log = self._table("Log", config)

    def grant(
        self, role: iam.Role, on_memory: TableGrant, on_log: TableGrant | None = None
    ) -> None:
        """Let a role call exactly what is granted."""
        for table, grant in ((self.memory, on_memory), (self.log, on_log)):
            if grant is None:
                continue
            actions = [f"dynamodb:{action}" for action in grant.actions]
            role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[table.table_arn]))
        indexes = [f"{self.memory.table_arn}/index/{name}" for name in on_memory.indexes]
        if indexes:
            role.add_to_policy(iam.PolicyStatement(actions=["dynamodb:Query"], resources=indexes))
        self._encryption.grant_use_tables(role)

    def _table(
        self, id: str, config: Config, stream: dynamodb.StreamViewType | None = None
    ) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            id,
            partition_key=_attribute("pk"),
            sort_key=_attribute("sk"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            stream=stream,
            time_to_live_attribute=TTL_ATTRIBUTE,
            encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED,
            encryption_key=self._encryption.storage,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=config.retains,
            removal_policy=RemovalPolicy.RETAIN if config.retains else RemovalPolicy.DESTROY,
        )

    def _add_indexes(self) -> None:
        """Add the indexes. All are sparse: what lacks one of an index's keys isn't in it."""
        schema = build_memory_table("memory")
        types = {
            each["AttributeName"]: each["AttributeType"] for each in schema["AttributeDefinitions"]
        }
        for index in schema["GlobalSecondaryIndexes"]:
            self._add_index(index, types)

    def _add_index(self, index: dict[str, Any], types: dict[str, str]) -> None:
        names = [each["AttributeName"] for each in index["KeySchema"]]
        partition, *sort = [_attribute(name, types[name]) for name in names]
        including = index["Projection"].get("NonKeyAttributes")
        projection = dynamodb.ProjectionType
        self.memory.add_global_secondary_index(
            index_name=index["IndexName"],
            partition_key=partition,
            sort_key=sort[0] if sort else None,
            projection_type=projection.INCLUDE if including else projection.KEYS_ONLY,
            non_key_attributes=including,
        )
