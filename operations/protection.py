"""Protect a deployment's data from deletion, and from a release that fails in the background.

With protection from the start, a failed first deployment could neither be rolled back nor repeated.
So `protect` is a later step.
"""

from operations.deployment import Deployment, client
from operations.restore import TABLES

_ROLLBACK_ALARMS = (
    "StreamFails",
    "ScheduleFails",
    "EventsAreMissing",
    "EmbeddingFails",
    "LearningFails",
    "TaskEventsFails",
)
_MAX_TRIGGERS = 5  # which CloudFormation accepts
_MONITORED_MINUTES = 5


def protect(deployment: Deployment) -> dict[str, list[str]]:
    """Protect the tables from deletion and the stacks from termination.

    A deployment that does not retain its data is not changed.

    Returns:
        the names of the protected tables and stacks.
    """
    if deployment.outputs["Retain"] != "true":
        return {"tables": [], "stacks": []}
    tables = [deployment.outputs[name] for name in TABLES]
    stacks = deployment.outputs["Stacks"].split(",")
    for table in tables:
        _protect_table(table)
    for stack in stacks:
        client("cloudformation").update_termination_protection(
            StackName=stack, EnableTerminationProtection=True
        )
    return {"tables": tables, "stacks": stacks}


def _protect_table(name: str) -> None:
    dynamodb = client("dynamodb")
    if not dynamodb.describe_table(TableName=name)["Table"].get("DeletionProtectionEnabled"):
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=True)
        dynamodb.get_waiter("table_exists").wait(TableName=name)


def render_rollback_options(deployment: Deployment) -> str:
    """Render options of `cdk deploy` that roll back a release if a background alarm is raised.

    An alarm that is already raised is omitted: it would roll back the release that fixes its cause.
    A deployment that doesn't retain its data has no such options.
    """
    if deployment.outputs["Retain"] != "true":
        return ""
    prefix = f"{deployment.outputs['Stacks'].split(',')[0]}-Alarms"
    pages = client("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
    found = {
        each["AlarmName"].removeprefix(prefix): each["AlarmArn"]
        for page in pages
        for each in page["MetricAlarms"]
        if each["StateValue"] != "ALARM"
    }
    arns = [
        arn for wanted in _ROLLBACK_ALARMS for name, arn in found.items() if name.startswith(wanted)
    ]
    if not arns:
        return ""
    named = " ".join(f"--rollback-trigger-alarm-arns {arn}" for arn in arns[:_MAX_TRIGGERS])
    return f"{named} --monitoring-time-minutes {_MONITORED_MINUTES}"
