"""A Region that writes, and one that follows it."""

from typing import Any

import pytest

from tests.infra.conftest import Synthesize
from tests.infra.template import FUNCTIONS, Template

_FIRST, _SECOND = "eu-central-1", "eu-west-1"
_KEY = f"arn:aws:kms:{_SECOND}:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
_VALUES_KEY = f"arn:aws:kms:{_FIRST}:123456789012:key/mrk-1234abcd12ab34cd56ef1234567890ab"
_TABLE = f"arn:aws:dynamodb:{_SECOND}:123456789012:table/agent-memory-prod-memory"
_LOG = f"{_TABLE.removesuffix('-memory')}-log"
_STREAM = f"{_TABLE}/stream/2026-11-01T00:00:00.000"
_SECRET = f"arn:aws:secretsmanager:{_SECOND}:123456789012:secret:RootKey-AbCdEf"
STANDBY = {
    "stage": "prod",
    "active_region": _FIRST,
    "replicated_values_key_arn": _VALUES_KEY,
    "storage_key_arn": _KEY,
    "memory_stream_arn": _STREAM,
    "log_table_arn": _LOG,
    "root_key_arn": _SECRET,
}


@pytest.fixture(scope="module")
def first(synthesize: Synthesize) -> Template:
    """The Region that writes."""
    return synthesize(stage="prod", standby_region=_SECOND, standby_storage_key_arn=_KEY)


@pytest.fixture(scope="module")
def second(synthesize: Synthesize) -> Template:
    """The Region that follows it."""
    return synthesize(**STANDBY)


@pytest.mark.parametrize("name", ["Memory", "Log"])
def test_a_table_is_replicated_with_a_key_of_the_other_region(first: Template, name: str) -> None:
    table = first.named("DynamoDB::GlobalTable", f"{name}Table")
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    _, replica = table["Replicas"]
    assert replica == {
        "Region": _SECOND,
        "SSESpecification": {"KMSMasterKeyId": _KEY},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    }


def test_root_key_and_values_key_are_for_both_regions(first: Template, second: Template) -> None:
    secret = first.named("SecretsManager::Secret", "RootKey")
    assert secret["ReplicaRegions"] == [{"Region": _SECOND, "KmsKeyId": _KEY}]
    assert first.named("KMS::Key", "ValuesKey")["MultiRegion"] is True
    assert second.named("KMS::ReplicaKey", "ValuesKey")["PrimaryKeyArn"] == _VALUES_KEY


def test_an_alarm_watches_what_is_promised(first: Template) -> None:
    for name in ("Memory", "Log"):
        alarm = first.named("CloudWatch::Alarm", f"Alarms{name}ReplicationIsLate")
        dimensions = {each["Name"]: each["Value"] for each in alarm["Dimensions"]}
        assert dimensions == {
            "TableName": f"agent-memory-prod-{name.lower()}",
            "ReceivingRegion": _SECOND,
        }
        assert (alarm["MetricName"], alarm["Threshold"]) == ("ReplicationLatency", 5000)


def test_the_standby_has_no_table_of_its_own_and_does_nothing(second: Template) -> None:
    assert second.of_type("DynamoDB::GlobalTable") == {}
    assert second.of_type("SecretsManager::Secret") == {}
    (mapping,) = second.of_type("Lambda::EventSourceMapping").values()
    assert mapping["Properties"]["Enabled"] is False
    assert mapping["Properties"]["EventSourceArn"] == _STREAM
    assert second.one("Scheduler::Schedule")["State"] == "DISABLED"
    variables: dict[str, Any] = second.function("Api")["Environment"]["Variables"]
    assert (variables["ACTIVE_REGION"], variables["ROOT_KEY_SECRET_ID"]) == (_FIRST, _SECRET)


def test_the_standby_opens_its_replicas_with_their_key(second: Template) -> None:
    assert second.of_type("KMS::Key") == {}
    allowed = second.statements("ApiFunctionRole")
    assert _KEY in {each["Resource"] for each in allowed if isinstance(each["Resource"], str)}


def test_the_standby_uses_its_own_tables(second: Template) -> None:
    for function in FUNCTIONS:
        variables = second.function(function)["Environment"]["Variables"]
        assert variables["MEMORY_TABLE"] == "agent-memory-prod-memory"
        assert variables["LOG_TABLE"] == "agent-memory-prod-log"


def test_the_region_that_writes_says_so_by_nothing(first: Template) -> None:
    assert "ACTIVE_REGION" not in first.function("Api")["Environment"]["Variables"]
    assert first.one("Scheduler::Schedule")["State"] == "ENABLED"


def test_the_schedule_of_the_standby_is_not_missed(first: Template, second: Template) -> None:
    for template, missing in ((first, "breaching"), (second, "notBreaching")):
        alarm = template.named("CloudWatch::Alarm", "AlarmsSweepIsLate")
        assert alarm["TreatMissingData"] == missing
