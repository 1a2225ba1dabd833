"""The estimate counts what the template makes."""

from operations.estimate import ALARM_METRICS
from tests.infra.template import Template


def test_all_metrics_of_alarms_are_in_the_estimate(prod: Template) -> None:
    alarms = prod.of_type("CloudWatch::Alarm").values()
    used = [
        sum("MetricStat" in each for each in alarm["Properties"].get("Metrics", ())) or 1
        for alarm in alarms
    ]
    assert sum(used) == ALARM_METRICS
