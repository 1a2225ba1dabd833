"""Tables and stacks are protected from deletion after a deployment that keeps its data."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.platform.schema import build_log_table, build_memory_table
from operations.deployment import Deployment
from operations.protection import protect, render_rollback_options
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


def put_alarm(name: str, state: str = "OK") -> None:
    cloudwatch = boto3.client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName=f"agent-memory-e2e-Alarms{name}",
        MetricName="Errors",
        Namespace="AWS/Lambda",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )
    cloudwatch.set_alarm_state(
        AlarmName=f"agent-memory-e2e-Alarms{name}", StateValue=state, StateReason="test"
    )


def test_a_release_is_rolled_back_by_alarms_of_the_background_that_are_not_raised_yet() -> None:
    for name in ("StreamFails1A", "EventsAreMissing2B", "AnswersFail3C", "ApiVersionFails4D"):
        put_alarm(name)
    put_alarm("ScheduleFails5E", "ALARM")
    words = render_rollback_options(describe_deployment(retain="true")).split()
    alarms = [each.rpartition("Alarms")[2] for each in words if each.startswith("arn:")]
    assert sorted(alarms) == ["EventsAreMissing2B", "StreamFails1A"]
    assert words[-2:] == ["--monitoring-time-minutes", "5"]


def test_cloudformation_gets_the_five_alarms_that_it_accepts() -> None:
    functions = ("TaskEvents", "Learning", "Embedding", "Schedule", "Stream")
    for name in (*(f"{each}Fails1A" for each in functions), "EventsAreMissing2B"):
        put_alarm(name)
    words = render_rollback_options(describe_deployment(retain="true")).split()
    alarms = [each.rpartition("Alarms")[2] for each in words if each.startswith("arn:")]
    assert len(alarms) == 5
    assert "TaskEventsFails1A" not in alarms


def test_a_trial_or_a_deployment_without_alarms_is_not_watched() -> None:
    assert render_rollback_options(describe_deployment(retain="true")) == ""
    put_alarm("StreamFails1A")
    assert render_rollback_options(describe_deployment(retain="false")) == ""
