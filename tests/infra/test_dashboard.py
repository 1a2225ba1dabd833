"""The dashboard answers the questions of a reader of an alarm."""

import json
import re
from pathlib import Path

from tests.infra.template import Template
from tests.infra.test_alarms import alarms, metrics_of

_ROOT = Path(__file__).parents[2]
_QUESTIONS = {  # of the dashboard, and the part of the guide that has the alarms
    "Are requests answered?": "Callers get errors",
    "What is throttled?": "Something is throttled",
    "Is the background behind?": "The background is behind",
    "Has protection changed?": "Protection has changed",
    "Is the second Region behind?": "The second Region is behind",
    "Has a tenant reached its quota?": "A tenant is full",
}


def test_the_page_shows_every_alarm(whole: Template) -> None:
    body = json.dumps(whole.one("CloudWatch::Dashboard")["DashboardBody"])
    assert [id for id in whole.of_type("CloudWatch::Alarm") if id not in body] == []


def test_the_page_shows_what_alarms_watch(whole: Template) -> None:
    body = json.dumps(whole.one("CloudWatch::Dashboard")["DashboardBody"])
    names = {each["MetricName"] for alarm in alarms(whole) for each in metrics_of(alarm)}
    assert [name for name in names if name not in body] == ["FailedRequests"]  # of a new version


def test_the_page_asks_what_the_guide_answers(whole: Template) -> None:
    """Each part of the guide that has alarms has a row of graphs."""
    body = json.dumps(whole.one("CloudWatch::Dashboard")["DashboardBody"])
    asked = [each.partition("\\")[0] for each in body.split("## ")[1:]]
    guide = (_ROOT / "docs/how-to/read-the-alarms.md").read_text("utf-8")
    parts = [each for each in guide.split("\n## ")[1:] if "| alarm |" in each]
    assert [each.partition("\n")[0] for each in parts] == [_QUESTIONS[each] for each in _QUESTIONS]
    assert [each for each in asked if each in _QUESTIONS] == list(_QUESTIONS)


def test_the_guide_names_every_alarm(whole: Template) -> None:
    guide = (_ROOT / "docs/how-to/read-the-alarms.md").read_text("utf-8")
    families = tuple(re.findall(r"`…(\w+)`", guide))
    ids = [id.removeprefix("Alarms")[:-8] for id in whole.of_type("CloudWatch::Alarm")]
    named = re.findall(r"`(\w+)`", guide)
    assert [each for each in ids if each not in named and not each.endswith(families)] == []
