"""Logs and metrics: JSON lines with names of routes and codes, never with memory."""

import os
import traceback
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.errors import ServiceError

logger = Logger(service="agent-memory", utc=True)
_NAMESPACE = "AgentMemory"
_MAX_CAUSES = 10  # of an error's chain


def log_unexpected(error: BaseException, **fields: object) -> None:
    """Log the type and place of an unexpected error, and the response of AWS.

    Its message isn't logged: it may quote a caller's data.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    known = {"error": type(error).__name__, "places": places, **describe_aws_error(error)}
    logger.error("unexpected error", extra=known | fields)


def log_service_error(message: str, error: ServiceError, **fields: object) -> None:
    """Log the code of a known error outside a request, and the response of AWS."""
    logger.warning(message, extra={"code": error.code, **describe_aws_error(error), **fields})


def describe_aws_error(error: BaseException) -> dict[str, object]:
    """Describe the response of AWS that caused an error: code, operation, request id.

    A throttled call has the reasons, each with the table or index. No data of a caller is included.
    """
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if isinstance(cause, ClientError):
            return _describe_answer(cause)
        if isinstance(cause, BotoCoreError):
            return {"aws_code": type(cause).__name__}  # there was no response
        cause = None if cause is None else cause.__cause__ or cause.__context__
    return {}


def _describe_answer(error: ClientError) -> dict[str, object]:
    answer = error.response
    described: dict[str, object] = {
        "aws_code": answer["Error"].get("Code"),
        "aws_operation": error.operation_name,
        "aws_request_id": answer.get("ResponseMetadata", {}).get("RequestId"),
    }
    reasons = list_throttling_reasons(answer)
    return described | ({"throttling_reasons": reasons} if reasons else {})


def list_throttling_reasons(answer: Mapping[str, Any]) -> list[dict[str, str]]:
    """List the reasons why DynamoDB throttled a call, each with `TABLE` or `TABLE/index/INDEX`."""
    reasons = answer.get("ThrottlingReasons") or answer.get("throttlingReasons") or ()
    return [
        {
            "reason": each.get("reason", ""),
            "resource": each.get("resource", "").rpartition(":table/")[2],
        }
        for each in reasons
    ]


def report_count(name: str, *, by_version: bool = False, **details: object) -> None:
    """Report one occurrence; the arguments are those of `report`."""
    report(name, "Count", 1, by_version=by_version, **details)


def report(
    name: str, unit: str, value: float, *, by_version: bool = False, **details: object
) -> None:
    """Report a metric of this function by a line of the log; outside Lambda, do nothing.

    Args:
        by_version: whether it is a metric of the function's version, too.
        details: members of the log line that are no dimensions.
    """
    function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
    if function is None:
        return
    metrics = EphemeralMetrics(namespace=_NAMESPACE)
    metrics.add_metric(name, unit, value)
    metrics.add_dimension("FunctionName", function)
    if by_version:
        version = os.environ.get("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        metrics.add_dimensions(FunctionName=function, Version=version)
    for detail, text in details.items():
        metrics.add_metadata(detail, text)
    metrics.flush_metrics()
