"""Protect what a deployment keeps from deletion, once its first deployment has succeeded.

Protected from the start, a failed first deployment could be neither rolled back nor repeated.
"""

from operations.deployment import Deployment, client
from operations.restore import TABLES


def protect(deployment: Deployment) -> dict[str, list[str]]:
    """Protect the tables from deletion and the stacks from termination.

    A deployment that does not retain its data is left as it is.

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
