"""Restore both tables to a moment under other names, and repeat later deletions."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

from functions.deletions.model import Deletion, restart
from functions.deletions.store import DeletionStore
from functions.platform.aws import create_client
from functions.platform.clock import Clock, now_ms
from functions.platform.macs import ItemSeals
from functions.platform.table import Table
from operations.deletion import build_container
from operations.deployment import Deployment, client

TABLES = ("MemoryTable", "LogTable")
_WAIT = {"MaxAttempts": 720}
_PAUSE = 10.0  # seconds
_ATTEMPTS = 90
Wait = Callable[[float], object]


def restore(
    deployment: Deployment,
    moment: str,
    suffix: str,
    clock: Clock = now_ms,
    wait: Wait = time.sleep,
) -> dict[str, Any]:
    """Restore both tables to one moment, and set the properties that a restore omits.

    It skips completed steps, so call it again if it was interrupted. It restarts later deletions in
    the restored table. The schedule runs them once the service uses that table.

    Args:
        moment: an RFC 3339 time within the last 35 days, or `latest`.
        suffix: appended to the tables' names.
        clock: returns the time in epoch ms.
        wait: waits for a number of seconds.

    Returns:
        The new tables' ARNs by name, and the subjects of the restarted deletions.

    Raises:
        TimeoutError: point-in-time recovery can't be enabled.
    """
    dynamodb = client("dynamodb")
    names = {table: f"{deployment.outputs[table]}-{suffix}" for table in TABLES}
    for table, name in names.items():
        _begin(dynamodb, deployment.outputs[table], name, moment)
    restored: dict[str, Any] = {}
    for table, name in names.items():
        dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig=_WAIT)
        has_stream = table == "MemoryTable"
        _complete(dynamodb, deployment.outputs[table], name, wait, has_stream=has_stream)
        restored[table] = dynamodb.describe_table(TableName=name)["Table"]["TableArn"]
    source = deployment.outputs["MemoryTable"]
    copied = copy_deletions(deployment, source, names["MemoryTable"], clock)
    return restored | {"deleted_again": copied}


def copy_deletions(deployment: Deployment, source: str, target: str, clock: Clock) -> list[str]:
    """Restart the deletions of one table in another; return the subjects."""
    seals = ItemSeals(_get_key_derivation(deployment))
    stores = [
        DeletionStore(table, table, None)
        for table in (Table(create_client("dynamodb"), name, seals) for name in (source, target))
    ]
    known: list[Deletion] = stores[0].list_all()
    for each in known:
        stores[1].put(restart(each, clock()))
    return [f"{each.subject.kind}:{each.subject.id}" for each in known]


def _get_key_derivation(deployment: Deployment) -> Callable[[bytes], bytes]:
    """Derive keys from the deployment's secret, which is read only if there are deletions."""
    return cache(lambda purpose: build_container(deployment).derive_key(purpose))


def _begin(dynamodb: Any, source: str, name: str, moment: str) -> None:
    """Start the restore of a table, unless it was started before."""
    when: dict[str, Any] = {"RestoreDateTime": moment}
    if moment == "latest":
        when = {"UseLatestRestorableTime": True}
    try:
        dynamodb.describe_table(TableName=name)
    except dynamodb.exceptions.ResourceNotFoundException:
        dynamodb.restore_table_to_point_in_time(
            SourceTableName=source, TargetTableName=name, **when
        )


def _complete(dynamodb: Any, source: str, name: str, wait: Wait, *, has_stream: bool) -> None:
    """Set the properties that a restore omits, unless they are set."""
    _copy_tags(dynamodb, source, name)
    expiry = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if expiry["TimeToLiveStatus"] not in ("ENABLED", "ENABLING"):
        dynamodb.update_time_to_live(
            TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl_at"}
        )
    _enable_recovery(dynamodb, name, wait)
    table = dynamodb.describe_table(TableName=name)["Table"]
    if not table.get("DeletionProtectionEnabled"):
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=True)
        dynamodb.get_waiter("table_exists").wait(TableName=name)
    if has_stream and "StreamSpecification" not in table:
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        dynamodb.update_table(TableName=name, StreamSpecification=stream)
        dynamodb.get_waiter("table_exists").wait(TableName=name)


def _enable_recovery(dynamodb: Any, name: str, wait: Wait) -> None:
    """Enable point-in-time recovery; retry, since a new table refuses it at first."""
    for _ in range(_ATTEMPTS):
        try:
            dynamodb.update_continuous_backups(
                TableName=name,
                PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
            )
        except dynamodb.exceptions.ContinuousBackupsUnavailableException:
            wait(_PAUSE)
        else:
            return
    raise TimeoutError(f"{name} did not accept point-in-time recovery: repeat the command")


def _copy_tags(dynamodb: Any, source: str, name: str) -> None:
    """Copy a table's tags, except for those that only AWS can set."""
    arns = [dynamodb.describe_table(TableName=each)["Table"]["TableArn"] for each in (source, name)]
    pages = dynamodb.get_paginator("list_tags_of_resource").paginate(ResourceArn=arns[0])
    tags = [
        tag for page in pages for tag in page["Tags"] if not tag["Key"].startswith(("aws:", "AWS:"))
    ]
    if tags:
        dynamodb.tag_resource(ResourceArn=arns[1], Tags=tags)
