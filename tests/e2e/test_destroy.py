"""Up with one command, down with one command, and nothing is left."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.bodies import create, entry
from tests.contract.local_server import await_end
from tests.e2e import cloud
from tests.e2e.cloud import Cloud
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E
from tests.e2e.toolkit import Toolkit
from tests.e2e.waiting import awaited

pytestmark = E2E


def left(there: Cloud) -> dict[str, Any]:
    """What costs money or holds data, but for what bootstrapping made."""
    client = there.client
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
        "keys": [key for key in keys(there) if key["KeyState"] != "PendingDeletion"],
    }


def keys(there: Cloud) -> list[dict[str, Any]]:
    """All keys of the account."""
    kms = there.client("kms")
    ids = [key["KeyId"] for key in kms.list_keys()["Keys"]]
    return [kms.describe_key(KeyId=id)["KeyMetadata"] for id in ids]


def children(pid: int) -> list[int]:
    """What a process has started (Linux)."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(each) for file in found for each in file.read_text().split()]


def test_nothing_is_left_of_a_destroyed_stack(
    toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with cloud.running(tmp_path_factory.mktemp("destroyed")) as there:
        before = left(there)
        toolkit.bootstrap(there)
        toolkit.deploy(there)
        used = Deployment(there)
        ada = used.service.tenant().agent("ada")
        create(ada, entry())
        awaited(lambda: used.items("LogTable", ""), "the event")
        toolkit.destroy(there)
        assert left(there) == before
        assert len(keys(there)) == 2
        functions = children(there.process.pid)
    for function in functions:
        await_end(function)


def test_a_cloud_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    with cloud.running(tmp_path) as there:
        started = [there.process.pid, *children(there.process.pid)]
    for process in started:
        await_end(process)
