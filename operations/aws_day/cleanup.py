"""Delete all resources of a day, and none of another deployment."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

from operations.aws_day.day import Day, in_region
from operations.deployment import client

_EDGE_REGION = "us-east-1"
_PENDING_DAYS = 7


def clean_up(day: Day) -> list[str]:
    """Delete the day's deployments in all Regions; return remaining resources with reasons.

    It can be repeated: missing resources are no error.
    """
    regions: list[str] = [client("sts").meta.region_name]
    if day.standby is not None:
        regions.insert(0, day.standby)
    left: list[str] = []
    for region in regions:
        with in_region(region):
            for name in day.names:
                left += [f"{region}: {each}" for each in _delete_deployment(name)]
    return left


def _delete_deployment(name: str) -> list[str]:
    left = []
    parts: tuple[Callable[[str], None], ...] = (
        delete_stacks,
        _delete_edge,
        _delete_tables,
        _delete_bucket,
        _delete_secrets,
        _delete_keys,
        _delete_logs,
        _delete_parameters,
    )
    for delete in parts:
        try:
            delete(name)
        except ClientError as error:
            left.append(f"{name}, {delete.__name__.strip('_')}: {error}")
    return left


def delete_stacks(name: str) -> None:
    """Delete the stacks of a deployment; its data is kept."""
    for stack in (f"agent-memory-{name}", f"agent-memory-{name}-state"):
        _delete_stack(client("cloudformation"), stack)


def _delete_edge(name: str) -> None:
    with in_region(_EDGE_REGION):
        _delete_stack(client("cloudformation"), f"agent-memory-{name}-edge")


def _delete_stack(cloudformation: Any, stack: str) -> None:
    try:
        cloudformation.describe_stacks(StackName=stack)
    except ClientError as error:
        if "does not exist" in str(error):
            return
        raise
    groups = _list_logs(cloudformation, stack)
    cloudformation.update_termination_protection(StackName=stack, EnableTerminationProtection=False)
    cloudformation.delete_stack(StackName=stack)
    cloudformation.get_waiter("stack_delete_complete").wait(
        StackName=stack, WaiterConfig={"Delay": 5, "MaxAttempts": 720}
    )
    for group in groups:  # which outlive the stack, as its data does
        with suppress(client("logs").exceptions.ResourceNotFoundException):
            client("logs").delete_log_group(logGroupName=group)


def _list_logs(cloudformation: Any, stack: str) -> list[str]:
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    return [
        each["PhysicalResourceId"]
        for page in pages
        for each in page["StackResourceSummaries"]
        if each["ResourceType"] == "AWS::Logs::LogGroup"
    ]


def _delete_tables(name: str) -> None:
    """Delete the tables. AWS deletes a table of the first Region only after its replica."""
    dynamodb = client("dynamodb")
    own = re.compile(rf"agent-memory-{name}-(memory|log)(-restored)?")
    for page in dynamodb.get_paginator("list_tables").paginate():
        for table in filter(own.fullmatch, page["TableNames"]):
            dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
            dynamodb.get_waiter("table_exists").wait(TableName=table)
            dynamodb.delete_table(TableName=table)
            dynamodb.get_waiter("table_not_exists").wait(TableName=table)


def _delete_bucket(name: str) -> None:
    sts, s3 = client("sts"), client("s3")
    account = sts.get_caller_identity()["Account"]
    bucket = f"agent-memory-{name}-{account}-{sts.meta.region_name}"
    if bucket not in [each["Name"] for each in s3.list_buckets()["Buckets"]]:
        return
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        for each in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            s3.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])
    s3.delete_bucket(Bucket=bucket)


def _delete_secrets(name: str) -> None:
    secrets = client("secretsmanager")
    region = secrets.meta.region_name
    for page in secrets.get_paginator("list_secrets").paginate():
        for each in page["SecretList"]:
            is_own = each.get("Description", "").startswith(f"agent-memory {name}: ")
            if is_own and each.get("PrimaryRegion", region) == region:  # which deletes replicas
                _delete_secret(secrets, each["ARN"])


def _delete_secret(secrets: Any, arn: str) -> None:
    replicas = secrets.describe_secret(SecretId=arn).get("ReplicationStatus", ())
    if regions := [each["Region"] for each in replicas]:
        secrets.remove_regions_from_replication(SecretId=arn, RemoveReplicaRegions=regions)
    secrets.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)


def _delete_keys(name: str) -> None:
    """Schedule the deletion of the keys, which AWS begins after a week."""
    kms = client("kms")
    for key in _list_keys(kms):
        is_own = key["Description"].startswith(f"agent-memory {name}: ")
        if is_own and not key["KeyState"].startswith("Pending"):
            kms.schedule_key_deletion(KeyId=key["KeyId"], PendingWindowInDays=_PENDING_DAYS)


def _list_keys(kms: Any) -> Iterator[dict[str, Any]]:
    for page in kms.get_paginator("list_keys").paginate():
        for key in page["Keys"]:
            yield kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]


def _delete_logs(name: str) -> None:
    """Delete logs of deleted stacks. Names continue with a logical id, which has a capital."""
    logs = client("logs")
    prefix = f"agent-memory-{name}-"
    pages = logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=prefix)
    for page in pages:
        for group in page["logGroups"]:
            if re.match(rf"{re.escape(prefix)}[A-Z]", group["logGroupName"]):
                logs.delete_log_group(logGroupName=group["logGroupName"])


def _delete_parameters(name: str) -> None:
    ssm = client("ssm")
    names = [f"/agent-memory/{name}/{each}" for each in ("deployment", "switches")]
    ssm.delete_parameters(Names=names)
