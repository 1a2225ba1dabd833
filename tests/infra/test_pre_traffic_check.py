"""A new version of the API function has to answer before it gets requests."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from functions.api.app import App
from functions.container import Container
from functions.platform.schema import build_memory_table
from functions.platform.settings import ApiSettings
from tests.infra.template import Template, as_list

_VERSION = "arn:aws:lambda:eu-central-1:123456789012:function:api:7"
_EVENT = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "e-1"}
Function = Callable[[dict[str, Any]], dict[str, Any]]


def test_a_new_version_is_checked_before_it_gets_requests(prod: Template) -> None:
    alias = prod.of_type("Lambda::Alias")[prod.alias("Api")["Ref"]]
    update = alias["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
    hook = prod.id_of("Lambda::Function", "PreTrafficCheck")
    assert update["BeforeAllowTrafficHook"] == {"Ref": hook}
    properties = prod.named("Lambda::Function", "PreTrafficCheck")
    version = prod.id_of("Lambda::Version", "ApiFunction")
    assert properties["Environment"]["Variables"] == {"NEW_VERSION": {"Ref": version}}
    assert len(properties["Code"]["ZipFile"]) <= 4096  # what Lambda takes as text


def test_the_check_may_invoke_the_function_and_report(prod: Template) -> None:
    allowed = {
        action: statement["Resource"]
        for statement in prod.statements("PreTrafficCheck")
        for action in as_list(statement["Action"])
    }
    assert set(allowed) == {
        "codedeploy:PutLifecycleEventHookExecutionStatus",
        "lambda:InvokeFunction",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
    }
    function = prod.id_of("Lambda::Function", "ApiFunction")
    arn = {"Fn::GetAtt": [function, "Arn"]}
    assert allowed["lambda:InvokeFunction"] == {"Fn::Join": ["", [arn, ":*"]]}


class Aws:
    """Lambda with one function, and CodeDeploy, which keeps the statuses that it receives."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self.told: list[dict[str, str]] = []

    def client(self, _service: str) -> "Aws":
        return self

    def invoke(self, *, FunctionName: str, Payload: str) -> dict[str, Any]:  # noqa: N803
        assert FunctionName == _VERSION
        try:
            answer = self._function(json.loads(Payload))
        except ZeroDivisionError as error:
            failed = {"errorMessage": str(error)}
            return {
                "FunctionError": "Unhandled",
                "Payload": io.BytesIO(json.dumps(failed).encode()),
            }
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}

    def put_lifecycle_event_hook_execution_status(self, **status: str) -> None:
        self.told.append(status)


def check(function: Function) -> str:
    """Run the hook on a function; return the status that CodeDeploy receives."""
    from infra.agent_memory_cdk import pre_traffic_hook

    aws = Aws(function)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pre_traffic_hook, "boto3", aws)
        patch.setenv("NEW_VERSION", _VERSION)
        pre_traffic_hook.handler(_EVENT, None)
    (told,) = aws.told
    status = told.pop("status")
    assert told == {"deploymentId": "d-1", "lifecycleEventHookExecutionId": "e-1"}
    return status


def test_a_version_that_reads_its_table_succeeds_and_one_that_cannot_fails(tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_bytes(b"A" * 43 + b"=")
    settings = ApiSettings(
        memory_table="memory",
        log_table="log",
        root_key="k" * 40,
        encryption_key_file=str(key_file),
    )
    with mock_aws():
        function = App(Container(settings))
        assert check(lambda event: dict(function(event))) == "Failed"
        boto3.client("dynamodb").create_table(**build_memory_table("memory"))
        assert check(lambda event: dict(function(event))) == "Succeeded"


def _crash(_event: dict[str, Any]) -> dict[str, Any]:
    return {"statusCode": 1 // 0}


def _refuse(_event: dict[str, Any]) -> dict[str, Any]:
    raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Invoke")


@pytest.mark.parametrize("function", [_crash, _refuse])
def test_a_version_that_crashes_or_cannot_be_invoked_fails(function: Function) -> None:
    assert check(function) == "Failed"
