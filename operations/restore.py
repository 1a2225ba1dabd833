"""A table as it was at a moment, under another name."""

from typing import Any

from operations.deployment import Deployment, client


def restore(deployment: Deployment, table: str, moment: str, name: str) -> str:
    """Restore a table to a moment into a new one, and set what a restore leaves out.

    Args:
        table: `MemoryTable` or `LogTable`.
        moment: RFC 3339, within the last 35 days; or `latest`.
        name: of the new table.

    Returns:
        The new table's ARN.
    """
    dynamodb, source = client("dynamodb"), deployment.outputs[table]
    when: dict[str, Any] = {"RestoreDateTime": moment}
    if moment == "latest":
        when = {"UseLatestRestorableTime": True}
    dynamodb.restore_table_to_point_in_time(SourceTableName=source, TargetTableName=name, **when)
    dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"MaxAttempts": 720})
    _complete(dynamodb, name, streams=table == "MemoryTable")
    restored: str = dynamodb.describe_table(TableName=name)["Table"]["TableArn"]
    return restored


def _complete(dynamodb: Any, name: str, *, streams: bool) -> None:
    dynamodb.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl_at"}
    )
    dynamodb.update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    dynamodb.update_table(TableName=name, DeletionProtectionEnabled=True)
    dynamodb.get_waiter("table_exists").wait(TableName=name)
    if streams:
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        dynamodb.update_table(TableName=name, StreamSpecification=stream)
