"""The alarms watch what the services and the functions really measure."""

import json
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.container import Container
from functions.platform import item_types
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import ScheduleSettings
from functions.platform.table import Table
from functions.platform.writes import update
from functions.quotas.model import EPISODES
from functions.quotas.store import QuotaStore
from functions.schedule.handler import build_handler
from functions.stream.quota_counter import QuotaCounter
from functions.stream.records import StreamBatch
from tests.contract.transport import LambdaContext
from tests.infra.template import FUNCTIONS, Properties, Template
from tools.events import render_stream_event

_TOPIC = "arn:aws:sns:eu-central-1:123456789012:on-call"
_QUEUES = ("Stream", "Schedule")


def alarms(template: Template) -> list[Properties]:
    return [each["Properties"] for each in template.of_type("CloudWatch::Alarm").values()]


def watched(template: Template, metric: str) -> list[str]:
    """The logical ids whose metric of this name an alarm watches."""
    dimensions = [each["Dimensions"] for each in alarms(template) if each["MetricName"] == metric]
    return sorted(_id(each[0]["Value"]) for each in dimensions if len(each) == 1)


def _id(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0])


@pytest.mark.parametrize("metric", ["Errors", "Throttles"])
def test_every_function_is_watched(dev: Template, metric: str) -> None:
    functions = [dev.id_of("Lambda::Function", f"{function}Function") for function in FUNCTIONS]
    assert watched(dev, metric) == sorted(functions)


@pytest.mark.parametrize("metric", ["ReadThrottleEvents", "WriteThrottleEvents"])
def test_every_table_is_watched(dev: Template, metric: str) -> None:
    assert watched(dev, metric) == ["agent-memory-dev-log", "agent-memory-dev-memory"]


def test_every_queue_of_dead_letters_is_watched(dev: Template) -> None:
    queues = [dev.id_of("SQS::Queue", f"{name}DeadLetters") for name in _QUEUES]
    assert watched(dev, "ApproximateNumberOfMessagesVisible") == sorted(queues)


def test_failing_answers_and_a_late_stream_are_watched(dev: Template) -> None:
    api = dev.id_of("ApiGatewayV2::Api", "Api")
    assert watched(dev, "5xx") == watched(dev, "Latency") == [api]
    assert watched(dev, "IteratorAge") == [dev.id_of("Lambda::Function", "StreamFunction")]


def test_an_alarm_says_what_it_means_and_goes_to_the_named_topic(
    dev: Template, synthesize: Any
) -> None:
    assert all(each["AlarmDescription"] and "AlarmActions" not in each for each in alarms(dev))
    for each in alarms(synthesize(alarm_topic_arn=_TOPIC)):
        assert each["AlarmActions"] == each["OKActions"] == [_TOPIC]


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The metrics that a sweep prints, as the log gets them."""
    monkeypatch.setenv("MEMORY_TABLE", "memory")
    monkeypatch.setenv("LOG_TABLE", "log")
    monkeypatch.setenv("SWEEP_THREADS", "1")
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "sweeper")
    with mock_aws():
        for table in (build_memory_table("memory"), build_log_table("log")):
            boto3.client("dynamodb").create_table(**table)
        handler = build_handler(Container(ScheduleSettings.from_env()))
        assert handler({}, LambdaContext())["lag_ms"] == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if "_aws" in line]


def test_the_sweeps_lag_is_reported_under_the_name_that_is_watched(
    dev: Template, reported: list[dict[str, Any]]
) -> None:
    (line,) = reported
    (metrics,) = line["_aws"]["CloudWatchMetrics"]
    own = [each for each in alarms(dev) if each["Namespace"] == metrics["Namespace"]]
    (name,) = [metric["Name"] for metric in metrics["Metrics"]]
    (alarm,) = [each for each in own if each["MetricName"] == name]
    assert metrics["Dimensions"] == [[dimension["Name"] for dimension in alarm["Dimensions"]]]
    assert (line["FunctionName"], line["SweepLag"]) == ("sweeper", [0.0])
    (dimension,) = alarm["Dimensions"]
    assert _id(dimension["Value"]) == dev.id_of("Lambda::Function", "ScheduleFunction")


def test_what_episodes_use_up_is_reported_under_the_name_that_is_watched(
    dev: Template, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "lifecycle")
    with mock_aws():
        dynamodb = boto3.client("dynamodb")
        for table in (build_memory_table("memory"), build_log_table("log")):
            dynamodb.create_table(**table)
        records = render_stream_event("episode")["Records"]
        expires = int(records[0]["dynamodb"]["NewImage"]["ttl_at"]["N"])
        memory = Table(dynamodb, "memory")
        names = {"tenant": "acme", "quota": EPISODES.name}
        key = item_types.QUOTA_COUNT.build_key(**names, day=expires // 86_400)
        memory.update(update(key, "SET counted = :n", n=EPISODES.warning - 1))
        store, batch = QuotaStore(memory, lambda: expires * 1000), StreamBatch(records)
        QuotaCounter(store, None, lambda: expires * 1000).process(batch)
        assert batch.failed == []
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (line,) = [line for line in lines if "_aws" in line]
    (alarm,) = [each for each in alarms(dev) if each["MetricName"] == EPISODES.metric]
    assert line[EPISODES.metric] == [float(alarm["Threshold"])]
    (dimension,) = alarm["Dimensions"]
    assert line[dimension["Name"]] == "lifecycle"
    assert _id(dimension["Value"]) == dev.id_of("Lambda::Function", "StreamFunction")


def test_a_sweep_that_does_not_run_is_an_alarm_too(dev: Template) -> None:
    (alarm,) = [each for each in alarms(dev) if each["MetricName"] == "SweepLag"]
    assert alarm["TreatMissingData"] == "breaching"


def test_the_page_shows_every_alarm(dev: Template) -> None:
    body = json.dumps(dev.one("CloudWatch::Dashboard")["DashboardBody"])
    assert [id for id in dev.of_type("CloudWatch::Alarm") if id not in body] == []
