"""The metrics of the service's health, by the names of AWS and of the functions."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from .dead_letters import DeadLetters
from .http_api import HttpApi
from .lambda_function import LambdaFunction

_OWN_NAMESPACE = "AgentMemory"
_PERIOD = Duration.minutes(5)
_LEAST_FAILED = 2  # within a period: a single failure is no rate
MINUTE = Duration.minutes(1)  # while a new version takes over


def of_api(api: HttpApi, name: str, statistic: str = "Sum") -> cloudwatch.Metric:
    """Make a metric of the HTTP API: `Count`, `4xx`, `5xx`, `Latency`."""
    return _metric("AWS/ApiGateway", name, {"ApiId": api.api.api_id}, statistic)


def of_function(function: LambdaFunction, name: str, statistic: str = "Sum") -> cloudwatch.Metric:
    """Make a metric that Lambda reports: `Errors`, `Throttles`, `Duration`, `IteratorAge`."""
    dimensions = {"FunctionName": function.function.function_name}
    return _metric("AWS/Lambda", name, dimensions, statistic)


def of_new_version(function: LambdaFunction, name: str) -> cloudwatch.Metric:
    """Make a metric that Lambda reports of the version that is being deployed, by its alias."""
    dimensions = {
        "FunctionName": function.function.function_name,
        "Resource": f"{function.function.function_name}:{function.alias.alias_name}",
        "ExecutedVersion": function.version.version,
    }
    return _metric("AWS/Lambda", name, dimensions, "Sum", MINUTE)


def of_failures(function: LambdaFunction, *, of_new_version: bool = False) -> cloudwatch.Metric:
    """Make the metric of a function's 5xx responses, or of the version being deployed."""
    version = {"Version": function.version.version} if of_new_version else {}
    dimensions = {"FunctionName": function.function.function_name, **version}
    period = MINUTE if of_new_version else _PERIOD
    return _metric(_OWN_NAMESPACE, "FailedRequests", dimensions, "Sum", period)


def rate(
    failed: cloudwatch.IMetric, total: cloudwatch.IMetric, label: str, period: Duration = _PERIOD
) -> cloudwatch.MathExpression:
    """Make the share of failures, in percent; a single failure counts as none."""
    return cloudwatch.MathExpression(
        expression=f"IF(failed >= {_LEAST_FAILED}, 100 * failed / MAX([total, failed]), 0)",
        using_metrics={"failed": failed, "total": total},
        label=label,
        period=period,
    )


def from_function(
    function: LambdaFunction, name: str, statistic: str = "Maximum"
) -> cloudwatch.Metric:
    """Make a metric that a function reports itself: `SweepLag`, `EpisodeQuota`."""
    dimensions = {"FunctionName": function.function.function_name}
    return _metric(_OWN_NAMESPACE, name, dimensions, statistic)


def of_table(table: str, name: str, index: str | None = None) -> cloudwatch.Metric:
    """Make a metric of a table, or of one index: such as `ReadThrottleEvents`.

    A table's own metrics don't include its indexes.
    """
    of_index = {} if index is None else {"GlobalSecondaryIndexName": index}
    return _metric("AWS/DynamoDB", name, {"TableName": table, **of_index}, "Sum")


def of_throttles(table: str, indexes: Sequence[str], kind: str) -> cloudwatch.MathExpression:
    """Make the number of reads or writes that a table and its indexes throttle together."""
    name = f"{kind}ThrottleEvents"
    metrics = {"own": of_table(table, name)}
    metrics |= {index: of_table(table, name, index) for index in indexes}
    sums = " + ".join(f"FILL({each}, 0)" for each in metrics)
    return cloudwatch.MathExpression(
        expression=sums, using_metrics=metrics, label=f"{kind}s throttled", period=_PERIOD
    )


def of_refusals(apis: Sequence[HttpApi], function: LambdaFunction) -> cloudwatch.MathExpression:
    """Make the number of 4xx responses of APIs without an invocation of their function."""
    metrics = {"invoked": of_function(function, "Invocations")}
    for place, api in enumerate(apis):
        metrics |= {f"all{place}": of_api(api, "Count"), f"refused{place}": of_api(api, "4xx")}
    total, refused = (
        " + ".join(f"FILL({each}, 0)" for each in metrics if each.startswith(kind))
        for kind in ("all", "refused")
    )
    without = f"({total} - FILL(invoked, 0))"
    return cloudwatch.MathExpression(
        expression=f"IF({without} < ({refused}), {without}, {refused})",
        using_metrics=metrics,
        label="Rejected by the gateway",
        period=_PERIOD,
    )


def of_claimed_concurrency() -> cloudwatch.MathExpression:
    """Make the used share of the account's concurrent invocations, in percent."""
    usage = {"Service": "Lambda", "Type": "Resource", "Resource": "ConcurrentExecutions"}
    return cloudwatch.MathExpression(
        expression="100 * claimed / SERVICE_QUOTA(used)",
        using_metrics={
            "claimed": _metric("AWS/Lambda", "ClaimedAccountConcurrency", {}, "Maximum"),
            "used": _metric("AWS/Usage", "ResourceCount", usage | {"Class": "None"}, "Maximum"),
        },
        label="Claimed, %",
        period=_PERIOD,
    )


def of_rule(name: str) -> cloudwatch.Metric:
    """Make the metric of the matches of a rule of EventBridge."""
    return _metric("AWS/Events", "TriggeredRules", {"RuleName": name}, "Sum")


def of_replication(table: str, region: str) -> cloudwatch.Metric:
    """Make the metric of the replication time to another Region, in ms."""
    dimensions = {"TableName": table, "ReceivingRegion": region}
    return _metric("AWS/DynamoDB", "ReplicationLatency", dimensions, "Maximum")


def of_foreign_writes(memory: str) -> cloudwatch.Metric:
    """Make the metric of the writes to a memory's tables by others than its functions."""
    return _metric(f"AgentMemory/{memory}", "ForeignWrites", {}, "Sum")


def waiting_in(letters: DeadLetters) -> cloudwatch.Metric:
    """Make the metric of the number of dead letters."""
    name = "ApproximateNumberOfMessagesVisible"
    return _metric("AWS/SQS", name, {"QueueName": letters.queue.queue_name}, "Maximum")


def _metric(
    namespace: str,
    name: str,
    dimensions: dict[str, str],
    statistic: str,
    period: Duration = _PERIOD,
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dimensions,
        statistic=statistic,
        period=period,
    )
