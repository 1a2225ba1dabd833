"""Task events of other systems: only where a deployment asks for them, and none is lost."""

import json

import pytest

from functions.platform.settings import TaskEventSettings
from infra.config import Config, ConfigError
from tests.infra.conftest import TASK_EVENTS, Synthesize
from tests.infra.template import Template
from tests.infra.variables import LEFT_OUT


def test_a_deployment_takes_none_unless_it_asks_for_some(dev: Template) -> None:
    assert not [id for id in dev.of_type("Events::Rule") if id.startswith("TaskEvents")]
    assert not [id for id in dev.of_type("Lambda::Function") if id.startswith("TaskEvents")]


def test_a_rule_brings_the_sources_events_to_the_function(taking: Template) -> None:
    rule = taking.named("Events::Rule", "TaskEvents")
    assert rule["EventPattern"] == {"source": ["com.example.planner", "com.example.desk"]}
    assert "EventBusName" not in rule
    (target,) = rule["Targets"]
    assert target["Arn"] == taking.alias("TaskEvents")


def test_what_is_not_delivered_or_refused_waits_in_a_queue(taking: Template) -> None:
    letters = {"Fn::GetAtt": [taking.id_of("SQS::Queue", "TaskEventsDeadLetters"), "Arn"]}
    (target,) = taking.named("Events::Rule", "TaskEvents")["Targets"]
    assert target["DeadLetterConfig"] == {"Arn": letters}
    invoked = taking.named("Lambda::EventInvokeConfig", "TaskEvents")
    assert invoked["Qualifier"] == "live"
    assert invoked["DestinationConfig"] == {"OnFailure": {"Destination": letters}}
    watched = [
        each["Properties"]["AlarmDescription"]
        for each in taking.of_type("CloudWatch::Alarm").values()
        if letters["Fn::GetAtt"][0] in str(each["Properties"].get("Dimensions"))
    ]
    assert watched == ["task events of other systems failed and are in a queue"]


def test_another_bus_may_bring_them(synthesize: Synthesize) -> None:
    arn = "arn:aws:events:eu-central-1:123456789012:event-bus/planning"
    template = synthesize(**TASK_EVENTS, task_event_bus_arn=arn)
    rule = template.named("Events::Rule", "TaskEvents")
    assert rule["EventBusName"] == "planning"


def test_the_function_gets_its_principal(taking: Template) -> None:
    given = taking.function("TaskEvents")["Environment"]["Variables"]
    used = {name.upper() for name in TaskEventSettings.USED}
    assert set(given) == used - LEFT_OUT["TaskEvents"]
    assert (given["TASK_EVENTS_TENANT"], given["TASK_EVENTS_PRINCIPAL"]) == ("acme", "desk/planner")
    assert taking.function("TaskEvents")["Handler"] == "functions.task_events.main.handler"


def test_sources_and_principal_go_together() -> None:
    for alone in TASK_EVENTS.items():
        with pytest.raises(ConfigError, match="must be set together"):
            Config.from_context(dict([alone]))
    with pytest.raises(ConfigError, match="task_event_principal"):
        Config.from_context(TASK_EVENTS | {"task_event_principal": "planner"})


def test_the_queue_needs_no_service_to_be_let_into_a_key(taking: Template) -> None:
    assert taking.named("SQS::Queue", "TaskEventsDeadLetters")["SqsManagedSseEnabled"]
    services = [
        json.dumps(statement["Principal"]["Service"])
        for key in taking.of_type("KMS::Key").values()
        for statement in key["Properties"]["KeyPolicy"]["Statement"]
        if "Service" in statement["Principal"]
    ]
    assert len(services) == 1
    assert "logs." in services[0]  # which encrypts the logs of functions
