"""A function that tries calls under the role of another, to see which ones IAM refuses."""

import io
import json
import sys
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from tests.e2e.cloud import ACCOUNT
from tests.e2e.deployment import Deployment

_CODE = """
import boto3

def handler(calls, context):
    return [answer(**call) for call in calls]

def answer(service, operation, parameters):
    client = boto3.client(service)
    try:
        getattr(client, operation)(**parameters)
    except client.exceptions.ClientError as error:
        return error.response["Error"]["Code"]
    return "Done"
"""
_DENIED = frozenset({"AccessDenied", "AccessDeniedException"})


@dataclass(frozen=True)
class Call:
    """A call of an AWS service: an operation of a boto3 client."""

    service: str
    operation: str
    parameters: dict[str, Any]


def allowed(deployment: Deployment, role: str, calls: dict[str, Call]) -> set[str]:
    """The names of those calls that a role may make."""
    with _probing(deployment, role) as probe:
        payload = json.dumps([asdict(call) for call in calls.values()])
        functions = deployment.cloud.client("lambda")
        answer = functions.invoke(FunctionName=probe, Payload=payload)
        codes = json.loads(answer["Payload"].read())
    assert isinstance(codes, list), codes
    refused = {name for name, code in zip(calls, codes, strict=True) if code in _DENIED}
    told = {denied["principal"].rpartition("/")[2] for denied in deployment.cloud.new_denials()}
    assert told == ({probe} if refused else set())
    return calls.keys() - refused


@contextmanager
def _probing(deployment: Deployment, role: str) -> Iterator[str]:
    """A function under a role, for as long as it takes."""
    functions, name = deployment.cloud.client("lambda"), f"probe-{uuid.uuid4().hex[:8]}"
    functions.create_function(
        FunctionName=name,
        Role=f"arn:aws:iam::{ACCOUNT}:role/{role}",
        Runtime=f"python{sys.version_info.major}.{sys.version_info.minor}",
        Handler="index.handler",
        Code={"ZipFile": _zipped(_CODE)},
        Timeout=60,
    )
    try:
        yield name
    finally:
        functions.delete_function(FunctionName=name)
        deployment.cloud.client("logs").delete_log_group(logGroupName=f"/aws/lambda/{name}")


def _zipped(code: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("index.py", code)
    return archive.getvalue()
