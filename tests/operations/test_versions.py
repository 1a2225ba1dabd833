"""Old versions of functions are deleted, and never one that is in use."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from operations.deployment import Deployment
from operations.versions import (
    DeploymentInProgress,
    delete_old_versions,
    raise_data_version,
)
from tests.contract.aws_sessions import open_session
from tests.contract.regions import FUNCTIONS, create_function, describe


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment whose API function has seven versions; the stack has deployed the second one."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", open_session())
        for name, timeout in FUNCTIONS.items():
            create_function(name, timeout, {})
        for number in range(6):
            publish("Api", number)
        yield describe(ApiVersion="2")


def publish(function: str, number: int) -> None:
    functions = boto3.client("lambda")
    functions.update_function_configuration(FunctionName=function, Description=f"v{number}")
    functions.publish_version(FunctionName=function)


def send_requests(version: str, shifted: str | None = None) -> None:
    """Send requests to a version, and some to another one."""
    weights = {shifted: 0.1} if shifted else {}
    boto3.client("lambda").update_alias(
        FunctionName="Api",
        Name="live",
        FunctionVersion=version,
        RoutingConfig={"AdditionalVersionWeights": weights},
    )


def list_versions(function: str) -> list[str]:
    found = boto3.client("lambda").list_versions_by_function(FunctionName=function)
    return [each["Version"] for each in found["Versions"] if each["Version"] != "$LATEST"]


@pytest.mark.parametrize(
    ("version", "shifted", "left"),
    [
        ("7", None, ["2", "6", "7"]),
        ("3", None, ["2", "3", "6", "7"]),
        ("3", "4", ["2", "3", "4", "6", "7"]),
    ],
)
def test_what_requests_go_to_stays_with_the_newest_ones(
    deployment: Deployment, version: str, shifted: str | None, left: list[str]
) -> None:
    send_requests(version, shifted)
    planned = delete_old_versions(deployment, 2, is_preview=True)
    assert list_versions("Api") == ["1", "2", "3", "4", "5", "6", "7"]
    report: dict[str, Any] = delete_old_versions(deployment, 2, is_preview=False)
    assert report == planned
    assert report["Api"]["kept"] == list_versions("Api") == left
    assert sorted(report["Api"]["deleted"] + left) == ["1", "2", "3", "4", "5", "6", "7"]
    assert report["Schedule"] == {"deleted": [], "kept": ["1"]}


def test_a_version_that_a_stream_invokes_stays(deployment: Deployment) -> None:
    send_requests("7")
    queue = boto3.client("sqs").create_queue(QueueName="any")["QueueUrl"]
    arn = boto3.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    boto3.client("lambda").create_event_source_mapping(
        FunctionName="Api:4", EventSourceArn=arn["Attributes"]["QueueArn"]
    )
    delete_old_versions(deployment, 1, is_preview=False)
    assert list_versions("Api") == ["2", "4", "7"]


def test_data_is_not_raised_while_requests_reach_two_releases(deployment: Deployment) -> None:
    send_requests("6", "7")
    with pytest.raises(DeploymentInProgress):
        raise_data_version(deployment)
