"""The change stream reaches the stream function: what matters, in order, and nothing is lost."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from functions.stream.handler import is_consumed
from tests.infra.template import Properties, Template
from tools.events import load_stream_cases, render_stream_event

_HOUR = 3600


@pytest.fixture
def mapping(dev: Template) -> Properties:
    return dev.one("Lambda::EventSourceMapping")


def _records() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in load_stream_cases():
        for record in render_stream_event(name)["Records"]:
            yield name, record


def _passes(pattern: Any, content: Any) -> bool:
    """Return whether a filter's pattern passes content, by the rules of Lambda used here."""
    if isinstance(pattern, dict):
        return isinstance(content, dict) and all(
            name in content and _passes(rule, content[name]) for name, rule in pattern.items()
        )
    return any(
        content.startswith(rule["prefix"]) if isinstance(rule, dict) else content == rule
        for rule in pattern
    )


def _grant_through(mapping: Properties, record: dict[str, Any]) -> bool:
    patterns = [json.loads(each["Pattern"]) for each in mapping["FilterCriteria"]["Filters"]]
    return any(_passes(pattern, record) for pattern in patterns)


def test_the_filters_pass_what_a_consumer_takes(mapping: Properties) -> None:
    records = list(_records())
    agent = {"Keys": {"pk": {"S": "acme#a#1"}, "sk": {"S": "a"}}, "SequenceNumber": "1"}
    records.append(("agent", {"eventName": "MODIFY", "dynamodb": agent}))
    wanted = [each for each in records if is_consumed(each[1])]
    spared = [each for each in records if each not in wanted]
    assert [name for name, record in wanted if not _grant_through(mapping, record)] == []
    assert [name for name, record in spared if _grant_through(mapping, record)] == []
    assert wanted
    assert spared


def test_a_removed_announcement_is_filtered_out(mapping: Properties) -> None:
    record = next(record for name, record in _records() if name == "announced")
    assert _grant_through(mapping, record)
    assert not _grant_through(mapping, record | {"eventName": "REMOVE"})


def test_it_reads_the_memory_table_from_the_start(dev: Template, mapping: Properties) -> None:
    memory = dev.id_of("DynamoDB::GlobalTable", "MemoryTable")
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": [memory, "StreamArn"]}
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["FunctionName"] == dev.alias("Stream")


def test_one_bad_record_holds_up_no_others(mapping: Properties) -> None:
    assert mapping["BisectBatchOnFunctionError"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["MaximumRetryAttempts"] == -1  # the age of a record alone ends its retries


def test_a_small_account_can_limit_the_parallel_batches(
    mapping: Properties, chosen: Template
) -> None:
    assert mapping["ParallelizationFactor"] == 8
    assert chosen.one("Lambda::EventSourceMapping")["ParallelizationFactor"] == 2


def test_what_is_given_up_can_still_be_replayed(dev: Template, mapping: Properties) -> None:
    assert mapping["MaximumRecordAgeInSeconds"] <= 6 * _HOUR  # the stream keeps it for 24
    letters = dev.id_of("SQS::Queue", "StreamDeadLetters")
    destination = mapping["DestinationConfig"]["OnFailure"]["Destination"]
    assert destination == {"Fn::GetAtt": [letters, "Arn"]}
    queue = dev.named("SQS::Queue", "StreamDeadLetters")
    assert queue["MessageRetentionPeriod"] == 14 * 24 * _HOUR
    key = dev.id_of("KMS::Key", "StorageKey")
    assert queue["KmsMasterKeyId"] == {"Fn::GetAtt": [key, "Arn"]}


def test_the_stream_can_be_kept_from_taking_all_invocations(
    dev: Template, chosen: Template
) -> None:
    assert "ReservedConcurrentExecutions" not in dev.function("Stream")
    assert chosen.function("Stream")["ReservedConcurrentExecutions"] == 50
    assert "ReservedConcurrentExecutions" not in chosen.function("Api")
