"""The steps of a day on AWS, on an emulated account that runs ten functions at a time.

They are tests of the deployment, too: each fails if it doesn't find what it should.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from operations.aws_day.cleanup import clean_up
from operations.aws_day.day import Day, run_steps
from operations.aws_day.report import render
from operations.aws_day.steps import STEPS, describe_steps
from operations.deployment import Deployment
from tests.e2e import cloud
from tests.e2e.cloud import ACCOUNT, REGION, Cloud
from tests.e2e.fixtures import E2E
from tests.e2e.leftovers import list_leftovers
from tests.e2e.toolkit import Toolkit

pytestmark = [E2E, pytest.mark.day]
_CONCURRENCY = 10  # as in a new account
_NEEDS_MORE = {"index", "edge"}  # than the emulator has
_STANDBY = "eu-west-1"


@pytest.fixture(autouse=True)
def nothing_is_denied() -> None:
    """Allow denials: this test has a separate cloud, where it denies a call itself."""


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    with cloud.running(tmp_path, _CONCURRENCY) as there:
        for name, value in there.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("SSL_CERT_FILE", str(there.certificate))
        yield there


def test_a_day_finds_nothing_wrong_and_leaves_nothing(account: Cloud, tmp_path: Path) -> None:
    folder = tmp_path / "toolkit"
    folder.mkdir()
    toolkit = Toolkit(folder, None, {"stage": "{name}"})
    before = {}
    for region in (REGION, _STANDBY):
        toolkit.bootstrap(account, region)
        before[region] = list_leftovers(account, region)

    def find(name: str) -> Deployment:
        """Find a deployment at the address where the emulator serves its API."""
        found = Deployment.find(name)
        api = found.outputs["ApiUrl"].removeprefix("https://").partition(".")[0]
        address = f"{account.url}/_aws/execute-api/{api}/$default"
        return replace(found, outputs=found.outputs | {"ApiUrl": address})

    day = Day("day", tmp_path / "day.json", toolkit.render_deployment(), {}, _STANDBY, find)
    day.calls, day.threads = 40, 4
    run_steps(day, STEPS)
    results = {name: each["status"] for name, each in day.state["steps"].items()}
    expected = {name: "skipped" if name in _NEEDS_MORE else "done" for name in describe_steps()}
    assert results == expected, day.state["steps"]
    assert clean_up(day) == []
    for region, present in before.items():
        left = list_leftovers(account, region)
        assert {kind: each for kind, each in left.items() if each != present[kind]} == {}
    day.save(began="", region=REGION, commit=ACCOUNT, left=[])
    assert "p99_ms" in render(day)
