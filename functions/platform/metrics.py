"""Metrics: lines of the log that CloudWatch takes for such (its embedded metric format)."""

from aws_lambda_powertools.metrics import MetricUnit, single_metric

_NAMESPACE = "AgentMemory"


def report_ms(name: str, value: float, function: str) -> None:
    """Reports a time in milliseconds, as a metric of the function that measured it."""
    _report(name, MetricUnit.Milliseconds, value, function)


def report_percent(name: str, value: float, function: str) -> None:
    """Reports how much of something is used up, as a metric of the function that saw it."""
    _report(name, MetricUnit.Percent, value, function)


def _report(name: str, unit: MetricUnit, value: float, function: str) -> None:
    with single_metric(name=name, unit=unit, value=value, namespace=_NAMESPACE) as metric:
        metric.add_dimension("FunctionName", function)
