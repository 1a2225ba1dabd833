"""Watch the tables for writes by others than the memory's functions."""

from typing import cast

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudtrail as cloudtrail
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from .functions import Functions
from .logs import Logs
from .metrics import of_foreign_writes
from .nag_suppressions import suppress
from .retention import choose_removal_policy
from .settings import Settings
from .tables import Tables

_REPLICATION_ROLE = "AWSServiceRoleForDynamoDBReplication"


class ForeignWrites(Construct):
    """A trail of the writes to the tables by other principals than the memory's functions.

    Writes of the functions are not recorded, so the trail costs very little. A write is counted
    about five minutes after it was made.

    Attributes:
        metric: counts them.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        tables: Tables,
        functions: Functions,
        log: Logs,
    ) -> None:
        super().__init__(scope, id)
        group = log.get(self, "Log", "TableWrites")
        trail = cloudtrail.Trail(
            self,
            "Trail",
            bucket=self._make_bucket(settings),
            cloud_watch_log_group=group,
            send_to_cloud_watch_logs=True,
            is_multi_region_trail=False,
            include_global_service_events=False,
        )
        low = cast("cloudtrail.CfnTrail", trail.node.default_child)
        low.add_property_deletion_override("EventSelectors")
        low.advanced_event_selectors = [_select_writes(tables, _list_writers(functions))]
        self.metric: cloudwatch.Metric = of_foreign_writes(settings.name)
        logs.MetricFilter(
            self,
            "Writes",
            log_group=group,
            filter_pattern=logs.FilterPattern.all_events(),
            metric_namespace=self.metric.namespace,
            metric_name=self.metric.metric_name,
        )

    def _make_bucket(self, settings: Settings) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            lifecycle_rules=[
                s3.LifecycleRule(expiration=Duration.days(settings.log_retention_days))
            ],
            auto_delete_objects=not settings.retain,
            removal_policy=choose_removal_policy(settings),
        )
        suppress(bucket, "it is a log itself", "AwsSolutions-S1")
        return bucket


def _list_writers(functions: Functions) -> list[str]:
    """List the prefixes of the ARNs of writers: the functions, and DynamoDB's replication."""
    roles = [each.role.role_name for each in functions.by_name.values()]
    sessions = f"arn:{Aws.PARTITION}:sts::{Aws.ACCOUNT_ID}:assumed-role"
    return [f"{sessions}/{role}/" for role in (*roles, _REPLICATION_ROLE)]


def _select_writes(
    tables: Tables, writers: list[str]
) -> cloudtrail.CfnTrail.AdvancedEventSelectorProperty:
    arns = [*tables.memory_arns, *tables.log_arns]
    only = cloudtrail.CfnTrail.AdvancedFieldSelectorProperty
    return cloudtrail.CfnTrail.AdvancedEventSelectorProperty(
        name="writes to the memory's tables by others",
        field_selectors=[
            only(field="eventCategory", equal_to=["Data"]),
            only(field="resources.type", equal_to=["AWS::DynamoDB::Table"]),
            only(field="resources.ARN", equal_to=arns),
            only(field="readOnly", equal_to=["false"]),
            only(field="userIdentity.arn", not_starts_with=writers),
        ],
    )
