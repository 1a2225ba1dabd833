"""The two tables, with the indexes of `functions/platform/schema.py`."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from aws_cdk import Stack, Token
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from functions.platform.schema import TTL_ATTRIBUTE, build_memory_table

from .encryption import Encryption
from .grants import TableGrant
from .retention import choose_removal_policy
from .settings import Settings, StandbyRegion, WrongChoice
from .vector_index import add_vector_index

_TYPES = {"S": dynamodb.AttributeType.STRING, "N": dynamodb.AttributeType.NUMBER}


@dataclass(frozen=True, slots=True)
class TableStream:
    """The change stream of a memory table; `name` is the table's name, empty for a new one."""

    table_arn: str
    arn: str
    name: str

    @property
    def all_arns(self) -> str:
        """The ARN of all streams of the table."""
        return f"{self.table_arn}/stream/*"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableArns:
    """Both tables of a memory, such as restored ones.

    Attributes:
        memory_stream: the ARN of the memory table's stream, which begins with the table's own.
        log: the ARN of the log table.
    """

    memory_stream: str
    log: str

    @property
    def memory(self) -> str:
        """The ARN of the memory table."""
        return self.memory_stream.partition("/stream/")[0]


class Tables(Construct):
    """`memory` has everything except the logs, and a change stream; `log` has events.

    Both are encrypted, can be restored to any second of the last 35 days, and expire items by
    DynamoDB's TTL. They are global tables of one Region, since a plain table can't become global
    without a replacement. A given table is used unchanged. `operations protect` protects them from
    deletion: in the template, protection would prevent the rollback of a failed first deployment.

    Args:
        also_grant: two more tables that functions may use, and whose changes are read. So one pair
            can replace the other without rejected calls.

    Attributes:
        memory_name, log_name: for functions: literals if the tables are new or given by a literal
            ARN. A change behind a reference would not make a new version of a function.

    Raises:
        WrongChoice: the memory table that is given has no stream.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        encryption: Encryption,
        *,
        memory: dynamodb.ITable | None = None,
        log: dynamodb.ITable | None = None,
        also_grant: TableArns | None = None,
    ) -> None:
        super().__init__(scope, id)
        self._settings = settings
        self._encryption = encryption
        self._also = also_grant
        self.memory = memory or self._make_memory()
        self.log = log or self._make("Log")
        self.memory_name = memory.table_name if memory else self._physical_name("Memory")
        self.log_name = log.table_name if log else self._physical_name("Log")
        if self.memory.table_stream_arn is None:
            raise WrongChoice("the memory table needs its table_stream_arn, too")
        memory_arn = memory.table_arn if memory else self._memory_arn()
        self.streams = [TableStream(memory_arn, self.memory.table_stream_arn, self._name_stream())]
        if also_grant is not None:
            also = also_grant.memory, also_grant.memory_stream
            self.streams.append(TableStream(*also, self._name_stream(also_grant.memory)))

    @property
    def memory_arns(self) -> list[str]:
        """The ARNs of the memory table, and of the other one that functions may use."""
        return [self.memory.table_arn, *([self._also.memory] if self._also else [])]

    @property
    def log_arns(self) -> list[str]:
        return [self.log.table_arn, *([self._also.log] if self._also else [])]

    def _name_stream(self, arn: str = "") -> str:
        """Name a stream by its table, so that its mapping stays when the table in use changes."""
        name = arn.rpartition("/")[2] or self.memory_name
        own = name == self._physical_name("Memory") or Token.is_unresolved(name)
        return "" if own else name

    def grant(
        self, role: iam.Role, on_memory: TableGrant, on_log: TableGrant | None = None
    ) -> None:
        """Grant exactly these calls to a role."""
        for arns, grant in ((self.memory_arns, on_memory), (self.log_arns, on_log)):
            statements = [grant.build_statements(arn) for arn in arns] if grant else []
            for statement in chain.from_iterable(statements):
                role.add_to_policy(statement)
        self._encryption.grant_use_tables(role)

    def _make_memory(self) -> dynamodb.TableV2:
        schema = build_memory_table("memory")
        types = {
            each["AttributeName"]: each["AttributeType"] for each in schema["AttributeDefinitions"]
        }
        table = self._make(
            "Memory",
            stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            indexes=[_to_index(each, types) for each in schema["GlobalSecondaryIndexes"]],
        )
        if self._settings.vector_index:
            add_vector_index(table, self._settings.indexed_dimensions)
        return table

    def _make(
        self,
        id: str,
        stream: dynamodb.StreamViewType | None = None,
        indexes: list[dynamodb.GlobalSecondaryIndexPropsV2] | None = None,
    ) -> dynamodb.TableV2:
        table = dynamodb.TableV2(
            self,
            id,
            table_name=self._physical_name(id),
            partition_key=_to_attribute("pk"),
            sort_key=_to_attribute("sk"),
            billing=dynamodb.Billing.on_demand(
                max_read_request_units=self._settings.max_read_units,
                max_write_request_units=self._settings.max_write_units,
            ),
            dynamo_stream=stream,
            global_secondary_indexes=indexes,
            time_to_live_attribute=TTL_ATTRIBUTE,
            encryption=dynamodb.TableEncryptionV2.aws_managed_key(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=choose_removal_policy(self._settings),
        )
        low = cast("dynamodb.CfnGlobalTable", table.node.default_child)
        low.override_logical_id(self._settings.to_logical_id(f"{id}Table"))
        # TableEncryptionV2 accepts a key only if the stack's Region is known
        own_key = {"KMSMasterKeyId": self._encryption.storage.key_arn}
        low.add_property_override("Replicas.0.SSESpecification", own_key)
        if self._settings.standby is not None:
            _replicate(low, self._settings.standby)
        if self._settings.contributor_insights:
            _record_throttled_keys(low, [each.index_name for each in indexes or ()])
        return table

    def _memory_arn(self) -> str:
        """Render the ARN by the name, so that it is the same text in all stacks."""
        return Stack.of(self).format_arn(
            service="dynamodb", resource="table", resource_name=self.memory_name
        )

    def _physical_name(self, id: str) -> str:
        """Name a table: CloudFormation does not replace a resource with a name."""
        return f"agent-memory-{self._settings.name}-{id.lower()}"


def _replicate(table: dynamodb.CfnGlobalTable, standby: StandbyRegion) -> None:
    """Replicate a table to another Region; a replicated table has a stream."""
    table.add_property_override("StreamSpecification.StreamViewType", "NEW_AND_OLD_IMAGES")
    table.add_property_override(
        "Replicas.1",
        {
            "Region": standby.name,
            "SSESpecification": {"KMSMasterKeyId": standby.storage_key_arn},
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
    )


def _record_throttled_keys(table: dynamodb.CfnGlobalTable, indexes: list[str]) -> None:
    """Record the most throttled keys of a table and of each of its indexes."""
    recorded = {"Enabled": True, "Mode": "THROTTLED_KEYS"}
    specified = [
        {"IndexName": name, "ContributorInsightsSpecification": recorded} for name in indexes
    ]
    table.add_property_override("Replicas.0.ContributorInsightsSpecification", recorded)
    if specified:
        table.add_property_override("Replicas.0.GlobalSecondaryIndexes", specified)


def _to_attribute(name: str, kind: str = "S") -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=_TYPES[kind])


def _to_index(index: dict[str, Any], types: dict[str, str]) -> dynamodb.GlobalSecondaryIndexPropsV2:
    """Convert an index. All are sparse: items without the index's keys aren't in it."""
    names = [each["AttributeName"] for each in index["KeySchema"]]
    partition, *sort = [_to_attribute(name, types[name]) for name in names]
    including = index["Projection"].get("NonKeyAttributes")
    projection = dynamodb.ProjectionType
    return dynamodb.GlobalSecondaryIndexPropsV2(
        index_name=index["IndexName"],
        partition_key=partition,
        sort_key=sort[0] if sort else None,
        projection_type=projection.INCLUDE if including else projection.KEYS_ONLY,
        non_key_attributes=including,
    )
