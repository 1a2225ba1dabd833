"""The metrics that tell how the service is, by the names that AWS and the functions give them."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from .dead_letters import DeadLetters
from .http_api import HttpApi
from .lambda_function import LambdaFunction

_OWN_NAMESPACE = "AgentMemory"
_PERIOD = Duration.minutes(5)
_MINUTE = Duration.minutes(1)  # while a new version takes over


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
    return _metric("AWS/Lambda", name, dimensions, "Sum", _MINUTE)


def from_function(
    function: LambdaFunction, name: str, statistic: str = "Maximum"
) -> cloudwatch.Metric:
    """Make a metric that a function reports itself: `SweepLag`, `EpisodeQuota`."""
    dimensions = {"FunctionName": function.function.function_name}
    return _metric(_OWN_NAMESPACE, name, dimensions, statistic)


def of_table(table: str, name: str) -> cloudwatch.Metric:
    """Make a metric of a table: `ReadThrottleEvents`, `ConsumedWriteCapacityUnits`."""
    return _metric("AWS/DynamoDB", name, {"TableName": table}, "Sum")


def waiting_in(letters: DeadLetters) -> cloudwatch.Metric:
    """Make the metric of how many dead letters wait."""
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
