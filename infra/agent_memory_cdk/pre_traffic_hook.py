"""The function that CodeDeploy invokes before a new version gets its first request.

It is deployed as this text alone, and runs on the boto3 of Lambda's own runtime.
"""

import json
import logging
import os
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

_LOG = logging.getLogger()
_PATH = "/health"
_REQUEST = {
    "version": "2.0",
    "routeKey": "$default",
    "rawPath": _PATH,
    "rawQueryString": "deep=true",  # it reads the table as well
    "headers": {},
    "requestContext": {
        "requestId": "pre-traffic-hook",
        "stage": "$default",
        "http": {"method": "GET", "path": _PATH, "sourceIp": "127.0.0.1"},
    },
    "isBase64Encoded": False,
}


def handler(event: dict[str, Any], _context: object) -> None:
    """Tell CodeDeploy whether the new version works; it gets no request unless it does."""
    boto3.client("codedeploy").put_lifecycle_event_hook_execution_status(
        deploymentId=event["DeploymentId"],
        lifecycleEventHookExecutionId=event["LifecycleEventHookExecutionId"],
        status="Succeeded" if _is_healthy(os.environ["NEW_VERSION"]) else "Failed",
    )


def _is_healthy(version: str) -> bool:
    """Tell whether a version, by its ARN, answers a health request; else log its answer."""
    try:
        answer = boto3.client("lambda").invoke(FunctionName=version, Payload=json.dumps(_REQUEST))
        response = json.load(answer["Payload"])
    except (BotoCoreError, ClientError) as error:
        _LOG.error("%s can't be invoked: %s", version, error)
        return False
    is_healthy = "FunctionError" not in answer and response.get("statusCode") == 200
    if not is_healthy:
        _LOG.error("%s answers %s", version, response)
    return is_healthy
