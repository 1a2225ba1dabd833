"""The two tables, as `functions/platform/schema.py` has them (a test compares)."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.config import Config
from infra.constructs.encryption import Encryption
from infra.constructs.vector_index import add_vector_index
from infra.grants import TableGrant

_STRING, _NUMBER = dynamodb.AttributeType.STRING, dynamodb.AttributeType.NUMBER
_TTL_ATTRIBUTE = "ttl_at"
_OF_A_VICTIM = ["nonce", "version", "kb", "agent_id", "task", "ttl_rule"]
_OF_A_TYPE = ["val", "data_key", "sealed_at", "run", "author", "sens", "status"]


def _attribute(name: str, kind: dynamodb.AttributeType = _STRING) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=kind)


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

    def grant(self, role: iam.Role, on_memory: TableGrant, on_log: TableGrant) -> None:
        """Let a role call exactly what is granted."""
        for table, grant in ((self.memory, on_memory), (self.log, on_log)):
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
            time_to_live_attribute=_TTL_ATTRIBUTE,
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
        self._add_index("by_task", _attribute("task_ix"))
        self._add_index("by_age", _attribute("pk"), _attribute("ep_created", _NUMBER))
        self._add_index("by_expiry", _attribute("pk"), _attribute("expires", _NUMBER))
        self._add_index("by_recency", _attribute("pk"), _attribute("recency"), _OF_A_VICTIM)
        self._add_index("by_due", _attribute("due_ix"), _attribute("due", _NUMBER))
        self._add_index("by_type", _attribute("type_ix"), _attribute("type_at"), _OF_A_TYPE)

    def _add_index(
        self,
        name: str,
        partition: dynamodb.Attribute,
        sort: dynamodb.Attribute | None = None,
        including: list[str] | None = None,
    ) -> None:
        projection = dynamodb.ProjectionType
        self.memory.add_global_secondary_index(
            index_name=name,
            partition_key=partition,
            sort_key=sort,
            projection_type=projection.INCLUDE if including else projection.KEYS_ONLY,
            non_key_attributes=including,
        )
