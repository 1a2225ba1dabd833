"""Metrics: lines of the log that CloudWatch takes for such (its embedded metric format)."""

from aws_lambda_powertools.metrics import MetricUnit, single_metric

_NAMESPACE = "AgentMemory"


def report_ms(name: str, value: float, function: str) -> None:
    """Reports a time in milliseconds, as a metric of the function that measured it."""
    with single_metric(
        name=name, unit=MetricUnit.Milliseconds, value=value, namespace=_NAMESPACE
    ) as metric:
        metric.add_dimension("FunctionName", function)
