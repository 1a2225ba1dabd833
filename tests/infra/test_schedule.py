"""The schedule: a sweep each minute, and a letter where it can't be invoked."""

import json

from tests.infra.template import Template


def test_the_scheduled_function_is_invoked_each_minute(dev: Template) -> None:
    schedule = dev.one("Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    target = schedule["Target"]
    assert target["Arn"] == dev.alias("Schedule")
    assert target["RoleArn"] == {"Fn::GetAtt": [dev.id_of("IAM::Role", "ScheduleRole"), "Arn"]}


def test_each_part_is_invoked_with_its_number(chosen: Template) -> None:
    schedules = chosen.of_type("Scheduler::Schedule").values()
    inputs = sorted(each["Properties"]["Target"]["Input"] for each in schedules)
    assert inputs == [json.dumps({"part": part, "parts": 3}) for part in range(3)]


def test_a_sweep_that_can_not_be_invoked_leaves_a_letter(dev: Template) -> None:
    target = dev.one("Scheduler::Schedule")["Target"]
    letters = dev.id_of("SQS::Queue", "ScheduleDeadLetters")
    assert target["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": [letters, "Arn"]}}
    assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] == 60


def test_a_failed_sweep_is_not_repeated_on_top_of_the_next(dev: Template) -> None:
    invoked = dev.one("Lambda::EventInvokeConfig")
    function = dev.id_of("Lambda::Function", "ScheduleFunction")
    assert invoked["FunctionName"] == {"Ref": function}
    assert invoked["Qualifier"] == "live"
    assert (invoked["MaximumRetryAttempts"], invoked["MaximumEventAgeInSeconds"]) == (0, 60)
