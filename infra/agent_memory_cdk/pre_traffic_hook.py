"""The function that CodeDeploy invokes before a new version gets its first request.

It is deployed as this file only, and uses the boto3 of Lambda's runtime.
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
    "rawQueryString": "deep=true",  # it also reads the table
    "headers": {},
    "requestContext": {
        "requestId": "pre-traffic-hook",
        "stage": "$default",
        "http": {"method": "GET", "path": _PATH, "sourceIp": "127.0.0.1"},
    },
    "isBase64Encoded": False,
}


def handler(event: dict[str, Any], _context: object) -> None:
    """Tell CodeDeploy whether the new version works; otherwise it gets no requests."""
    boto3.client("codedeploy").put_lifecycle_event_hook_execution_status(
        deploymentId=event["DeploymentId"],
        lifecycleEventHookExecutionId=event["LifecycleEventHookExecutionId"],
        status="Succeeded" if _is_healthy(os.environ["NEW_VERSION"]) else "Failed",
    )


def _is_healthy(version: str) -> bool:
    """Tell whether a version, by its ARN, passes a health request; else log the response."""
    try:
        answer = boto3.client("lambda").invoke(FunctionName=version, Payload=json.dumps(_REQUEST))
        response = json.load(answer["Payload"])
    except (BotoCoreError, ClientError) as error:
        _LOG.error("%s can't be invoked: %s", version, error)
        return False
    is_healthy = "FunctionError" not in answer and response.get("statusCode") == 200
    if not is_healthy:
        _LOG.error("%s returned %s", version, response)
    return is_healthy
