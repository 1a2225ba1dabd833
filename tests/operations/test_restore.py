"""A restore to a moment, step by step, as AWS is asked for it.

moto plays DynamoDB, and restores at once whatever the moment.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from moto import mock_aws

from functions.platform.schema import build_log_table, build_memory_table
from operations.deployment import Deployment
from operations.restore import restore
from tests.contract.aws_sessions import open_session
from tests.contract.regions import describe

_MOMENT = "2026-11-20T10:00:00Z"
_AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
_TABLES = ["memory", "log"]
_RESTORED = [f"{name}-restored" for name in _TABLES]
_UNAVAILABLE = b'{"__type": "ContinuousBackupsUnavailableException", "message": "too early"}'


class Calls(list[tuple[str, dict[str, Any]]]):
    """The calls of DynamoDB by operation, with their parameters."""

    def note(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        """Note a call before it is sent."""
        self.append((model.name, dict(params)))

    def of(self, operation: str) -> list[dict[str, Any]]:
        return [params for name, params in self if name == operation]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[boto3.Session]:
    """The session of the operator's commands."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        session = open_session()
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
        yield session


@pytest.fixture
def deployment(session: boto3.Session) -> Deployment:
    """A deployment whose tables hold an item each, and can be restored."""
    dynamodb = session.client("dynamodb")
    for table in (build_memory_table("memory"), build_log_table("log")):
        name = dynamodb.create_table(**table)["TableDescription"]["TableName"]
        dynamodb.put_item(TableName=name, Item={"pk": {"S": "acme#a#1"}, "sk": {"S": "e#1"}})
        dynamodb.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        arn = dynamodb.describe_table(TableName=name)["Table"]["TableArn"]
        tags = [{"Key": "memory", "Value": "e2e"}]
        dynamodb.tag_resource(ResourceArn=arn, Tags=tags)
    return describe(MemoryTable="memory", LogTable="log")


@pytest.fixture
def calls(session: boto3.Session, deployment: Deployment) -> Calls:
    assert deployment
    calls = Calls()
    session.events.register("provide-client-params.dynamodb.*", calls.note)
    return calls


def test_both_tables_are_restored_to_one_moment_and_completed(
    deployment: Deployment, calls: Calls, session: boto3.Session
) -> None:
    report = restore(deployment, _MOMENT, "restored")
    asked = calls.of("RestoreTableToPointInTime")
    assert [each["SourceTableName"] for each in asked] == _TABLES
    assert [each["TargetTableName"] for each in asked] == _RESTORED
    assert {each["RestoreDateTime"] for each in asked} == {_MOMENT}
    assert not any("UseLatestRestorableTime" in each for each in asked)
    dynamodb = session.client("dynamodb")
    for name in _RESTORED:
        table = dynamodb.describe_table(TableName=name)["Table"]
        assert table["TableArn"] in report.values()
        assert table["DeletionProtectionEnabled"]
        assert ("StreamSpecification" in table) == (name == "memory-restored")
        expiry = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        assert (expiry["TimeToLiveStatus"], expiry["AttributeName"]) == ("ENABLED", "ttl_at")
        tags = dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
        assert tags == [{"Key": "memory", "Value": "e2e"}]
        assert dynamodb.scan(TableName=name)["Count"] == 1


def test_what_was_cut_off_goes_on_and_nothing_is_restored_twice(
    deployment: Deployment, calls: Calls, session: boto3.Session
) -> None:
    session.client("dynamodb").restore_table_to_point_in_time(
        SourceTableName="memory", TargetTableName="memory-restored", RestoreDateTime=_AT
    )
    for _ in range(2):
        restore(deployment, _MOMENT, "restored")
    assert [each["TargetTableName"] for each in calls.of("RestoreTableToPointInTime")] == _RESTORED
    protected = [each for each in calls.of("UpdateTable") if "DeletionProtectionEnabled" in each]
    assert len(protected) == len(_RESTORED)


def test_a_table_that_is_too_new_for_recovery_is_waited_for(
    deployment: Deployment, session: boto3.Session
) -> None:
    left = 3
    waited: list[float] = []

    def refuse(request: Any, **_: Any) -> AWSResponse | None:
        nonlocal left
        left -= 1
        if left < 0:
            return None

        class Body:
            def stream(self, **_: Any) -> Iterator[bytes]:
                yield _UNAVAILABLE

        return AWSResponse(request.url, 400, {}, Body())

    session.events.register_first("before-send.dynamodb.UpdateContinuousBackups", refuse)
    restore(deployment, "latest", "restored", wait=waited.append)
    assert len(waited) == 3
    backups = session.client("dynamodb").describe_continuous_backups(TableName="log-restored")
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
