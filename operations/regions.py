"""Switch to another Region: one Region writes, and the other replicates its tables.

Each command changes the environment's Region. Both can be repeated.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from functions.platform.aws import create_client
from functions.platform.clock import Clock, now_ms
from functions.platform.item_types import AGENT
from functions.platform.keys import get_due_shard
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import update
from operations.deployment import Deployment, client
from operations.switches import await_switches, set_switches

_PAGE = 1000  # items
_LATENCY_FACTOR = 10  # AWS recommends to wait ten times the recent maximum
_LATENCY_MINUTES = 60
_STREAM_FUNCTIONS = ("Stream", "Embedding", "Learning")
_NOT_SENT = {"Arn", "CreationDate", "LastModificationDate", "ResponseMetadata", "State"}


def stop_region(
    deployment: Deployment, active: str, wait: Callable[[float], object] = time.sleep
) -> dict[str, Any]:
    """Stop writing in this Region, and wait until its writes are in the other Region.

    Running invocations can write until their function's timeout. Replication takes longer.

    Args:
        deployment: the deployment in this Region.
        active: the Region that writes from now on.
        wait: waits for a number of seconds.

    Returns:
        The switches, and the seconds that this waited.
    """
    switches = set_switches(deployment, active_region=active)
    _set_background(deployment, is_enabled=False)
    waited = await_switches(deployment, wait)
    latency = _LATENCY_FACTOR * _find_latency_ms(deployment, active) / 1000
    wait(latency)
    return {"switches": switches, "waited_seconds": waited + latency}


def start_region(deployment: Deployment, clock: Clock = now_ms) -> dict[str, Any]:
    """Start writing in this Region, after the other Region stopped or failed.

    The schedule reconciles the counters of all agents, since a transaction can arrive in part.

    Returns:
        The switches, and the number of agents to reconcile.
    """
    table = Table(create_client("dynamodb"), deployment.outputs["MemoryTable"])
    agents = make_agents_due(table, clock())
    switches = set_switches(deployment, active_region=_get_region())
    _set_background(deployment, is_enabled=True)
    return {"switches": switches, "agents": agents}


def make_agents_due(table: Table, now: int) -> int:
    """Schedule the reconciliation of all agents' counters; return the number of agents."""
    count, after = 0, None
    while True:
        items, after = table.scan(after, _PAGE, "sk = :agent", agent=AGENT.sort)
        for item in items:
            key, shard = (item["pk"], item["sk"]), get_due_shard(item["pk"])
            names = f"{DUE_ATTRIBUTE} = :now, {DUE_SHARD_ATTRIBUTE} = :shard"
            table.update(update(key, f"SET {names}", "attribute_exists(pk)", now=now, shard=shard))
        count += len(items)
        if after is None:
            return count


def _get_region() -> str:
    region: str = client("lambda").meta.region_name
    return region


def _set_background(deployment: Deployment, *, is_enabled: bool) -> None:
    """Enable or disable the stream's functions, the schedule, and the alarm that needs it."""
    functions, scheduler = client("lambda"), client("scheduler")
    present = [each for each in _STREAM_FUNCTIONS if f"{each}Function" in deployment.outputs]
    for function in map(deployment.alias_of, present):
        listed = functions.list_event_source_mappings(FunctionName=function)
        for mapping in listed["EventSourceMappings"]:
            functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=is_enabled)
    _page_if_late(deployment, is_enabled=is_enabled)
    for name in deployment.outputs["Schedules"].split(","):
        schedule = scheduler.get_schedule(Name=name)
        kept = {part: value for part, value in schedule.items() if part not in _NOT_SENT}
        scheduler.update_schedule(**kept, State="ENABLED" if is_enabled else "DISABLED")


def _page_if_late(deployment: Deployment, *, is_enabled: bool) -> None:
    """Switch notifications of `SweepIsLate`, which is raised while no schedule runs."""
    cloudwatch = client("cloudwatch")
    prefix = f"{deployment.outputs['Stacks'].split(',')[0]}-AlarmsSweepIsLate"
    found = cloudwatch.describe_alarms(AlarmNamePrefix=prefix)["MetricAlarms"]
    if names := [each["AlarmName"] for each in found]:
        change = cloudwatch.enable_alarm_actions if is_enabled else cloudwatch.disable_alarm_actions
        change(AlarmNames=names)


def _find_latency_ms(deployment: Deployment, receiver: str) -> float:
    """Return the maximum replication latency of the last hour; 1 s if nothing was replicated."""
    end = datetime.fromtimestamp(now_ms() / 1000, UTC)
    found = [1000.0]
    for table in ("MemoryTable", "LogTable"):
        answer = client("cloudwatch").get_metric_statistics(
            Namespace="AWS/DynamoDB",
            MetricName="ReplicationLatency",
            Dimensions=[
                {"Name": "TableName", "Value": deployment.outputs[table]},
                {"Name": "ReceivingRegion", "Value": receiver},
            ],
            StartTime=end - timedelta(minutes=_LATENCY_MINUTES),
            EndTime=end,
            Period=60,
            Statistics=["Maximum"],
        )
        found += [each["Maximum"] for each in answer["Datapoints"]]
    return max(found)
