"""List what is left of a deployment that was destroyed."""

from functools import partial
from typing import Any

from tests.e2e.cloud import REGION, Cloud


def list_leftovers(there: Cloud, region: str = REGION) -> dict[str, Any]:
    """List what costs money or holds data in a Region, except what bootstrapping made."""
    client = partial(there.client, region=region)
    return {
        "tables": client("dynamodb").list_tables()["TableNames"],
        "functions": client("lambda").list_functions()["Functions"],
        "mappings": client("lambda").list_event_source_mappings()["EventSourceMappings"],
        "logs": client("logs").describe_log_groups()["logGroups"],
        "queues": client("sqs").list_queues().get("QueueUrls", []),
        "schedules": client("scheduler").list_schedules()["Schedules"],
        "buses": [
            each["Name"]
            for each in client("events").list_event_buses()["EventBuses"]
            if each["Name"] != "default"
        ],
        "apis": client("apigatewayv2").get_apis()["Items"],
        "secrets": client("secretsmanager").list_secrets()["SecretList"],
        "alarms": client("cloudwatch").describe_alarms()["MetricAlarms"],
        "dashboards": client("cloudwatch").list_dashboards()["DashboardEntries"],
        "buckets": [
            each["Name"]
            for each in client("s3").list_buckets()["Buckets"]
            if not each["Name"].startswith("cdk-")
        ],
        "roles": [
            each["RoleName"]
            for each in client("iam").list_roles()["Roles"]
            if not each["RoleName"].startswith("cdk-")
        ],
        "keys": [key for key in list_keys(there, region) if key["KeyState"] != "PendingDeletion"],
    }


def list_keys(there: Cloud, region: str = REGION) -> list[dict[str, Any]]:
    """All keys of the account in a Region."""
    kms = there.client("kms", region)
    ids = [key["KeyId"] for key in kms.list_keys()["Keys"]]
    return [kms.describe_key(KeyId=id)["KeyMetadata"] for id in ids]
