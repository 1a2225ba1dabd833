"""The alarms watch what the services and the functions really measure."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from functions.api.app import App
from functions.container import Container
from functions.identity.model import Principal
from functions.identity.store import Persons
from functions.local.in_process import to_request_event
from functions.platform import item_types, request_context
from functions.platform.errors import CapacityExceeded
from functions.platform.limits import EPISODES_WARNING, MAX_EPISODES
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import ApiSettings, ScheduleSettings
from functions.platform.table import Table
from functions.platform.writes import put, update
from functions.schedule.handler import build_handler
from functions.stream.records import StreamBatch
from functions.stream.usage_counter import UsageCounter
from functions.usage.admission import LimitEnforcer
from functions.usage.model import EPISODE_METRIC
from functions.usage.store import UsageStore
from tests.contract.aws_sessions import open_session
from tests.contract.transport import LambdaContext
from tests.infra.conftest import CHOICES
from tests.infra.template import FUNCTIONS, Properties, Template
from tools.events import render_stream_event

_OWN = "AgentMemory"  # the namespace of the functions' own metrics
_TABLES = [("agent-memory-dev-memory", None), ("agent-memory-dev-log", None)] + [
    ("agent-memory-dev-memory", each["IndexName"])
    for each in build_memory_table("memory")["GlobalSecondaryIndexes"]
]


def alarms(template: Template) -> list[Properties]:
    return [each["Properties"] for each in template.of_type("CloudWatch::Alarm").values()]


def metrics_of(alarm: Properties) -> list[Properties]:
    if "Metrics" not in alarm:
        return [alarm]
    return [each["MetricStat"]["Metric"] for each in alarm["Metrics"] if "MetricStat" in each]


def watched(template: Template, metric: str) -> list[str]:
    """The logical ids whose metric of this name an alarm watches."""
    found = [each for alarm in alarms(template) for each in metrics_of(alarm)]
    dimensions = [each["Dimensions"] for each in found if each["MetricName"] == metric]
    return sorted(_id(each[0]["Value"]) for each in dimensions if len(each) == 1)


def _id(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0])


def function_ids(template: Template, *functions: str) -> list[str]:
    return sorted(template.id_of("Lambda::Function", f"{each}Function") for each in functions)


@pytest.mark.parametrize(
    "metric", ["Errors", "Throttles", "StoreThrottles", "DestinationDeliveryFailures"]
)
def test_every_function_is_watched(dev: Template, metric: str) -> None:
    of_streams = metric == "DestinationDeliveryFailures"
    assert watched(dev, metric) == function_ids(dev, *(["Stream"] if of_streams else FUNCTIONS))


@pytest.mark.parametrize("kind", ["Read", "Write"])
@pytest.mark.parametrize(("table", "index"), _TABLES)
def test_every_table_and_index_is_watched(
    dev: Template, kind: str, table: str, index: str | None
) -> None:
    names = {"TableName": table} | ({"GlobalSecondaryIndexName": index} if index else {})
    (alarm,) = [
        alarm
        for alarm in alarms(dev)
        for each in metrics_of(alarm)
        if each["MetricName"] == f"{kind}ThrottleEvents" and _names_of(each) == names
    ]
    assert table in alarm["AlarmDescription"]
    assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (10, 3)


def _names_of(metric: Properties) -> dict[str, Any]:
    return {each["Name"]: each["Value"] for each in metric["Dimensions"]}


def test_throttles_of_a_growing_table_are_one_alarm_for_reads_and_one_for_writes(
    dev: Template,
) -> None:
    throttles = [
        alarm
        for alarm in alarms(dev)
        if any("ThrottleEvents" in each.get("MetricName", "") for each in metrics_of(alarm))
    ]
    assert len(throttles) == 4
    assert max(len(metrics_of(each)) for each in throttles) <= 10  # as many as AWS accepts


def _expression(template: Template, alarm: str) -> tuple[str, list[Properties]]:
    found = template.named("CloudWatch::Alarm", f"Alarms{alarm}")
    (expression,) = [each["Expression"] for each in found["Metrics"] if "Expression" in each]
    return expression, metrics_of(found)


@pytest.mark.parametrize(
    ("answered", "refused", "invoked", "expected"),
    [(100, 0, 100, 0), (100, 40, 100, 0), (100, 40, 60, 40), (100, 10, 60, 10), (0, 0, 5, -5)],
    ids=["served", "refused by the function", "throttled", "and preflight", "health checks"],
)
def test_what_the_gateway_refuses_is_watched(
    dev: Template, answered: int, refused: int, invoked: int, expected: int
) -> None:
    expression, metrics = _expression(dev, "RequestsAreRefused")
    assert {each["MetricName"] for each in metrics} == {"4xx", "Count", "Invocations"}
    given = {"all0": answered, "refused0": refused, "invoked": invoked}
    functions = {"FILL": lambda value, _: value, "IF": lambda met, one, two: one if met else two}
    renamed = expression.replace("IF(", "IF_(")
    assert eval(renamed, {"IF_": functions["IF"], "FILL": functions["FILL"]}, given) == expected  # noqa: S307


def test_both_apis_are_counted_where_there_are_two(whole: Template) -> None:
    expression, metrics = _expression(whole, "RequestsAreRefused")
    assert "all1" in expression
    assert len(metrics) == 5


def test_claimed_concurrency_is_watched_as_a_share_of_the_accounts(dev: Template) -> None:
    expression, metrics = _expression(dev, "ConcurrencyIsUsedUp")
    assert expression == "100 * claimed / SERVICE_QUOTA(used)"
    assert [each["MetricName"] for each in metrics] == [
        "ClaimedAccountConcurrency",
        "ResourceCount",
    ]


def test_disabled_keys_and_lost_recovery_are_watched(dev: Template) -> None:
    alarm = dev.named("CloudWatch::Alarm", "AlarmsSafeguardsChange")
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Events", "TriggeredRules")
    rule = dev.id_of("Events::Rule", "SafeguardsRule")
    assert alarm["Dimensions"] == [{"Name": "RuleName", "Value": {"Ref": rule}}]
    keys, recovery = dev.named("Events::Rule", "SafeguardsRule")["EventPattern"]["detail"]["$or"]
    assert keys["eventName"] == ["DisableKey", "ScheduleKeyDeletion"]
    named = [_id(each) for each in keys["resources"]["ARN"]]
    assert named == [dev.id_of("KMS::Key", f"{each}Key") for each in ("Storage", "Values")]
    assert recovery["eventName"] == ["UpdateContinuousBackups"]
    assert "agent-memory-dev-log" in recovery["requestParameters"]["tableName"]


def test_failing_answers_and_a_late_stream_are_watched(dev: Template) -> None:
    api = dev.id_of("ApiGatewayV2::Api", "Api")
    for metric in ("5xx", "Count", "Latency", "4xx"):
        assert set(watched(dev, metric)) == {api}
    assert watched(dev, "IteratorAge") == function_ids(dev, "Stream")


@pytest.mark.parametrize("metric", ["5xx", "Errors", "FailedRequests"])
def test_failures_are_watched_as_a_share(dev: Template, metric: str) -> None:
    rates = [
        alarm
        for alarm in alarms(dev)
        if "Metrics" in alarm and metric in {each["MetricName"] for each in metrics_of(alarm)}
    ]
    assert rates
    for alarm in rates:
        (expression,) = [each["Expression"] for each in alarm["Metrics"] if "Expression" in each]
        assert "100 * failed / MAX([total, failed])" in expression
        assert alarm["Threshold"] == 1


def test_an_alarm_says_what_it_means_and_goes_to_the_named_topic(
    dev: Template, chosen: Template
) -> None:
    assert all(each["AlarmDescription"] and "AlarmActions" not in each for each in alarms(dev))
    topic = CHOICES["alarm_topic_arn"]
    for each in alarms(chosen):
        assert each["AlarmActions"] == each["OKActions"] == [topic]


class _RefusingClient:
    """DynamoDB, which answers every call with one error."""

    def __init__(self, code: str) -> None:
        self._error = ClientError({"Error": {"Code": code}}, "GetItem")

    def __getattr__(self, name: str) -> Any:
        def call(**_request: Any) -> Any:
            raise self._error

        return call


def _ask_api(key_file: Path, code: str) -> int:
    """Send a request to an API whose table answers with an error; the status."""
    key_file.write_bytes(b64encode(bytes(32)))
    settings = ApiSettings(
        memory_table="memory",
        log_table="log",
        root_key="k" * 40,
        encryption_key_file=str(key_file),
    )
    with patch("functions.container.create_client", return_value=_RefusingClient(code)):
        app = App(Container(settings))
    event = to_request_event("GET", b"/api/v1/memory", [("x-api-key", "am_unknown")], b"")
    return int(app(event)["statusCode"])


def _sweep() -> None:
    settings = ScheduleSettings(
        memory_table="memory", log_table="log", encryption_key_id="key", sweep_threads=1
    )
    assert build_handler(Container(settings))({}, LambdaContext())["lag_ms"] == 0


def _count_episode(memory: Table) -> None:
    """Count the episode that uses up a tenant's quota, and refuse the next one."""
    records = render_stream_event("episode")["Records"]
    expires = int(records[0]["dynamodb"]["NewImage"]["ttl_at"]["N"])
    key = item_types.USAGE.build_key("acme")
    store = UsageStore(memory, lambda: expires * 1000)
    for number, counted in enumerate((EPISODES_WARNING - 1, MAX_EPISODES - 1)):
        memory.update(update(key, "SET items_episodes = :n", n=counted))
        records[0]["dynamodb"]["SequenceNumber"] = str(number)
        batch = StreamBatch(records)
        UsageCounter(store, None, lambda: expires * 1000).process(batch)
        assert batch.failed == []
    with pytest.raises(CapacityExceeded):
        _append_episode(memory, store)


def _append_episode(memory: Table, store: UsageStore) -> None:
    limits = LimitEnforcer(store, Persons(memory), lambda: 0)
    for _ in range(2):  # the first request of a tenant reads nothing
        limits.check(Principal("acme", "ada", "agent", frozenset()))
    try:
        memory.put(put(("acme#r#1", item_types.EPISODE.sort_prefix), {}))
    finally:
        request_context.write_guard.set(request_context.allow_writes)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """The metrics that the functions print, as the log gets them, when all goes wrong."""
    with pytest.MonkeyPatch.context() as patched, mock_aws():
        patched.setattr(boto3, "DEFAULT_SESSION", open_session())
        patched.setenv("AWS_LAMBDA_FUNCTION_NAME", "function")
        patched.setenv("AWS_LAMBDA_FUNCTION_VERSION", "7")
        printed: list[str] = []
        patched.setattr("builtins.print", lambda line, **_kwargs: printed.append(line))
        dynamodb = boto3.client("dynamodb")
        for table in (build_memory_table("memory"), build_log_table("log")):
            dynamodb.create_table(**table)
        _sweep()
        _count_episode(Table(dynamodb, "memory"))
        key_file = tmp_path_factory.mktemp("keys") / "key"
        assert _ask_api(key_file, "AccessDeniedException") == 500
        assert _ask_api(key_file, "ThrottlingException") == 429
        _skip_record()
        yield [json.loads(line) for line in printed]


def _skip_record() -> None:
    change = {"SequenceNumber": "1", "Keys": {"pk": {"S": "acme#a#x"}, "sk": {"S": "e#n#k"}}}
    batch = StreamBatch([{"eventName": "INSERT", "dynamodb": change}])
    batch.fail(batch.records[0], ValueError("it can't be read"))


def _names(line: dict[str, Any]) -> tuple[str, str, list[list[str]]]:
    """The namespace, the name and the sets of dimensions of a reported metric."""
    (metrics,) = line["_aws"]["CloudWatchMetrics"]
    (metric,) = metrics["Metrics"]
    return metrics["Namespace"], metric["Name"], metrics["Dimensions"]


def test_what_alarms_watch_of_the_functions_is_reported_so(
    dev: Template, reported: list[dict[str, Any]]
) -> None:
    own = [each for alarm in alarms(dev) for each in metrics_of(alarm) if each["Namespace"] == _OWN]
    known = [_names(line) for line in reported]
    assert {each["MetricName"] for each in own} == {name for _, name, _ in known}
    for each in own:
        dimensions = [dimension["Name"] for dimension in each["Dimensions"]]
        assert any(
            (namespace, name) == (each["Namespace"], each["MetricName"]) and dimensions in sets
            for namespace, name, sets in known
        )
    for line in reported:
        assert (line["FunctionName"], line.get("Version", "7")) == ("function", "7")


@pytest.mark.parametrize(
    ("metric", "function", "threshold"),
    [
        ("SweepLag", "Schedule", 1_800_000),
        ("EpisodeQuota", "Stream", 80),
        ("EpisodeQuota", "Api", 100),
    ],
)
def test_an_alarm_watches_the_function_that_reports(
    dev: Template,
    reported: list[dict[str, Any]],
    metric: str,
    function: str,
    threshold: float,
) -> None:
    (id,) = function_ids(dev, function)
    (alarm,) = [
        each
        for each in alarms(dev)
        if each.get("MetricName") == metric and _id(each["Dimensions"][0]["Value"]) == id
    ]
    assert alarm["Threshold"] == threshold
    values = [value for line in reported for value in line.get(metric, ())]
    assert (threshold in values) or (metric, values) == ("SweepLag", [0])


def test_a_full_tenant_is_an_alarm_for_an_hour(dev: Template) -> None:
    for alarm in alarms(dev):
        if alarm.get("MetricName") == EPISODE_METRIC:
            assert (alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (12, 1)


def test_a_sweep_that_does_not_run_is_an_alarm_too(dev: Template) -> None:
    (alarm,) = [each for each in alarms(dev) if each.get("MetricName") == "SweepLag"]
    assert alarm["TreatMissingData"] == "breaching"


def test_each_queue_and_each_stream_has_an_alarm(whole: Template) -> None:
    queues = {
        _id(each["Dimensions"][0]["Value"])
        for each in alarms(whole)
        if each.get("MetricName") == "ApproximateNumberOfMessagesVisible"
    }
    assert queues == set(whole.of_type("SQS::Queue"))
    late = [
        _id(each["Dimensions"][0]["Value"])
        for each in alarms(whole)
        if each.get("MetricName") == "IteratorAge"
    ]
    assert sorted(late) == function_ids(whole, "Embedding", "Learning", "Stream")


def test_tables_record_throttled_keys_where_asked_to(dev: Template, chosen: Template) -> None:
    recorded = {"Enabled": True, "Mode": "THROTTLED_KEYS"}
    for part in ("Memory", "Log"):
        (silent,) = dev.named("DynamoDB::GlobalTable", f"{part}Table")["Replicas"]
        assert "ContributorInsightsSpecification" not in silent
        (replica,) = chosen.named("DynamoDB::GlobalTable", f"{part}Table")["Replicas"]
        assert replica["ContributorInsightsSpecification"] == recorded
        indexes = [index for table, index in _TABLES if index and part == "Memory"]
        given = replica.get("GlobalSecondaryIndexes", [])
        assert [each["IndexName"] for each in given] == indexes
        assert all(each["ContributorInsightsSpecification"] == recorded for each in given)
