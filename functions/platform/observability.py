"""Logs and metrics: JSON lines with names of routes and codes, never of memories."""

import traceback

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

logger = Logger(service="agent-memory", utc=True)
_NAMESPACE = "AgentMemory"


def log_unexpected(error: BaseException, **fields: object) -> None:
    """Log the type of an unexpected error and where it was raised, not its message.

    A message may quote what a caller sent.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    logger.error(
        "unexpected error", extra={"error": type(error).__name__, "places": places, **fields}
    )


def report_ms(name: str, value: float, function: str) -> None:
    """Report a time in milliseconds as a metric of a Lambda function."""
    _report(name, MetricUnit.Milliseconds, value, function)


def report_percent(name: str, value: float, function: str) -> None:
    """Report a utilization as a metric of a Lambda function."""
    _report(name, MetricUnit.Percent, value, function)


def _report(name: str, unit: MetricUnit, value: float, function: str) -> None:
    with single_metric(name=name, unit=unit, value=value, namespace=_NAMESPACE) as metric:
        metric.add_dimension("FunctionName", function)
