"""A restore into the running service: what functions follow at each step, and how it goes on.

moto plays AWS. A line of the shell plays the deployment.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.platform.schema import build_log_table, build_memory_table
from operations.deploying import DeploymentFailed
from operations.deployment import Deployment
from operations.switches import get_switches, set_switches
from operations.table_switch import restore_into_service
from tests.contract.aws_sessions import open_session
from tests.contract.regions import FUNCTIONS, create_function, describe

_RESTORED = {"memory_table": "memory-restored", "log_table": "log-restored"}


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment on two tables that can be restored; the stream's function reads one."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", open_session())
        dynamodb = boto3.client("dynamodb")
        for table in (build_memory_table("memory"), build_log_table("log")):
            name = dynamodb.create_table(**table | {"DeletionProtectionEnabled": True})[
                "TableDescription"
            ]["TableName"]
            dynamodb.update_continuous_backups(
                TableName=name,
                PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
            )
        variables = {
            "MEMORY_TABLE": "memory",
            "LOG_TABLE": "log",
            "ROOT_KEY": "a root key of the tests",
            "ENCRYPTION_KEY_ID": boto3.client("kms").create_key()["KeyMetadata"]["Arn"],
        }
        for name, timeout in FUNCTIONS.items():
            create_function(name, timeout, variables)
        boto3.client("lambda").create_event_source_mapping(
            FunctionName="Stream:live",
            EventSourceArn=dynamodb.describe_table(TableName="memory")["Table"]["LatestStreamArn"],
            StartingPosition="TRIM_HORIZON",
        )
        yield describe(MemoryTable="memory", LogTable="log")


def get_aliases() -> set[str]:
    functions = boto3.client("lambda")
    return {
        functions.get_alias(FunctionName=name, Name="live")["FunctionVersion"] for name in FUNCTIONS
    }


def switch(deployment: Deployment, folder: Path, command: str) -> dict[str, Any]:
    """Restore into the service; return the switches while it waits for the last write."""
    seen: dict[str, Any] = {}

    def wait(_seconds: float) -> None:
        seen.update(get_switches(deployment))

    left_behind = folder / "left.jsonl"
    restore_into_service(deployment, "latest", "restored", command, left_behind, wait)
    return seen


def test_writes_rest_until_the_last_one_has_ended_and_no_alias_moves(
    deployment: Deployment, tmp_path: Path
) -> None:
    assert switch(deployment, tmp_path, "true {context}") == {"read_only": True}
    assert get_switches(deployment) == {}
    assert get_aliases() == {"1"}


def test_a_failed_second_deployment_leaves_the_service_on_the_new_tables_and_can_be_repeated(
    deployment: Deployment, tmp_path: Path
) -> None:
    set_switches(deployment, root_key_version="1")
    first = tmp_path / "first"
    with pytest.raises(DeploymentFailed):
        switch(deployment, tmp_path, f"test ! -e {first} && touch {first} # {{context}}")
    assert get_switches(deployment) == {"root_key_version": "1", **_RESTORED}
    assert get_aliases() == {"1"}
    assert switch(deployment, tmp_path, "true {context}") == {}  # writes don't rest again
    assert get_switches(deployment) == {"root_key_version": "1"}
