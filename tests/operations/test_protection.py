"""Tables and stacks are protected from deletion after a deployment that keeps its data."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.platform.schema import build_log_table, build_memory_table
from operations.deployment import Deployment
from operations.protection import protect
from tests.contract.aws_sessions import open_session
from tests.contract.regions import describe

TABLES = ["memory", "log"]
STACKS = ["agent-memory-e2e", "agent-memory-e2e-state"]


class Stacks:
    """A client of CloudFormation that takes the protection of stacks, and nothing else."""

    def __init__(self) -> None:
        self.protected: list[str] = []

    def update_termination_protection(
        self,
        *,
        StackName: str,  # noqa: N803 - as AWS has it
        EnableTerminationProtection: bool,  # noqa: N803
    ) -> None:
        assert EnableTerminationProtection
        self.protected.append(StackName)


@pytest.fixture(autouse=True)
def stacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stacks]:
    """An account with two unprotected tables and stacks."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        session, stacks = open_session(), Stacks()

        def create_client(service: str, **options: Any) -> Any:
            is_stacks = service == "cloudformation"
            return stacks if is_stacks else session.client(service, **options)

        monkeypatch.setattr(boto3, "client", create_client)
        for table in (build_memory_table("memory"), build_log_table("log")):
            boto3.client("dynamodb").create_table(**table)
        yield stacks


def describe_deployment(*, retain: str) -> Deployment:
    return describe(MemoryTable="memory", LogTable="log", Stacks=",".join(STACKS), Retain=retain)


def list_protected() -> list[str]:
    """List the tables that are protected."""
    described = [boto3.client("dynamodb").describe_table(TableName=name) for name in TABLES]
    tables = [each["Table"] for each in described]
    return [each["TableName"] for each in tables if each.get("DeletionProtectionEnabled")]


@pytest.mark.parametrize("times", [1, 2])
def test_a_deployment_that_keeps_its_data_is_protected(stacks: Stacks, times: int) -> None:
    for _ in range(times):
        report = protect(describe_deployment(retain="true"))
    assert report == {"tables": TABLES, "stacks": STACKS}
    assert (list_protected(), stacks.protected) == (TABLES, STACKS * times)


def test_a_trial_stays_as_it_is(stacks: Stacks) -> None:
    assert protect(describe_deployment(retain="false")) == {"tables": [], "stacks": []}
    assert (list_protected(), stacks.protected) == ([], [])
