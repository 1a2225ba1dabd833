"""A deployment can raise an alarm when others than its functions write to its tables."""

import pytest

from tests.infra.conftest import Synthesize
from tests.infra.template import Properties, Template


@pytest.fixture(scope="module")
def watched(synthesize: Synthesize) -> Template:
    return synthesize(watch_table_writes="true")


def _selectors(template: Template) -> dict[str, Properties]:
    (selector,) = template.one("CloudTrail::Trail")["AdvancedEventSelectors"]
    return {each["Field"]: each for each in selector["FieldSelectors"]}


def test_only_writes_to_the_two_tables_are_recorded(watched: Template) -> None:
    chosen = _selectors(watched)
    assert "EventSelectors" not in watched.one("CloudTrail::Trail")
    assert chosen["eventCategory"]["Equals"] == ["Data"]
    assert chosen["readOnly"]["Equals"] == ["false"]
    arns = str(chosen["resources.ARN"]["Equals"])
    assert len(chosen["resources.ARN"]["Equals"]) == 2
    assert "MemoryTable" in arns
    assert "LogTable" in arns


def test_the_functions_own_writes_are_not_recorded(watched: Template) -> None:
    excluded = _selectors(watched)["userIdentity.arn"]["NotStartsWith"]
    roles = {each["Properties"]["Role"]["Fn::GetAtt"][0] for each in _own_functions(watched)}
    assert len(excluded) == len(roles) + 1  # DynamoDB's own replication
    assert all(any(role in str(each) for each in excluded) for role in roles)


def _own_functions(template: Template) -> list[Properties]:
    found = template.of_type("Lambda::Function").items()
    names = ("ApiFunction", "StreamFunction", "ScheduleFunction")
    return [each for id, each in found if any(name in id for name in names)]


def test_an_alarm_rises_at_the_first_write(watched: Template, dev: Template) -> None:
    (filter_,) = watched.of_type("Logs::MetricFilter").values()
    (counted,) = filter_["Properties"]["MetricTransformations"]
    alarms = [each["Properties"] for each in watched.of_type("CloudWatch::Alarm").values()]
    (alarm,) = [each for each in alarms if each.get("MetricName") == "ForeignWrites"]
    assert (counted["MetricName"], counted["MetricNamespace"]) == (
        alarm["MetricName"],
        alarm["Namespace"],
    )
    assert (alarm["Threshold"], alarm["Statistic"], counted["MetricValue"]) == (1, "Sum", "1")
    assert dev.of_type("CloudTrail::Trail") == {}
