"""The day on AWS: its plan needs no account, it continues after a cut, and it always cleans up.

tests/e2e/test_aws_day.py runs its steps on the emulator.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from moto import mock_aws

from functions.platform.schema import build_log_table
from operations.aws_day import __main__ as command
from operations.aws_day.cleanup import clean_up
from operations.aws_day.day import Day, Facts, Interrupted, NotApplicable, Step, run_steps
from operations.aws_day.steps import STEPS, describe_steps
from operations.deployment import Deployment, UnknownDeployment
from tests.contract.aws_sessions import open_session
from tests.contract.regions import describe
from tests.e2e.environment import ROOT


def call(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Call the command without credentials."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    nothing = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nonexistent"}
    return subprocess.run(
        [sys.executable, "-m", "operations.aws_day", *arguments],
        cwd=ROOT,
        env=bare | nothing | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_dry_run_needs_no_account_and_names_each_step() -> None:
    ran = call("--stage", "day", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    for number, (name, meaning) in enumerate(describe_steps().items(), 1):
        assert f"{number:2} {name}: {meaning}" in ran.stdout
    assert "SKIPPED: no --standby REGION" in ran.stdout
    assert "USD" in ran.stdout
    assert (
        "SKIPPED: no --standby"
        not in call("--stage", "day", "--dry-run", "--standby", "eu-west-1").stdout
    )


def test_without_credentials_it_is_skipped() -> None:
    ran = call("--stage", "day", AWS_DEFAULT_REGION="eu-central-1")
    assert (ran.returncode, "no credentials" in ran.stdout) == (0, True), ran.stderr


@pytest.mark.parametrize("stage", ["prod", "dev", "daylight", "day-of-much-too-long"])
def test_a_name_that_another_deployment_may_have_is_refused(stage: str) -> None:
    assert call("--stage", stage, "--dry-run").returncode == 2


def test_all_that_the_review_asks_for_is_a_step() -> None:
    wanted = (
        "deploy|load|large objects|index|rotate|release|failing release|read only"
        "|poison and replay|restore under load|standby and back|edge|destroy and reattach"
        "|failing first create"
    )
    assert set(wanted.split("|")) <= describe_steps().keys()
    assert all(each.__doc__ for each in STEPS)


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Day:
    monkeypatch.setattr(command, "clean_up", lambda _: [])
    monkeypatch.setattr(command, "find_cost", lambda _: None)
    monkeypatch.setattr(command, "client", lambda _: boto3.client("sts", "eu-central-1"))
    monkeypatch.setattr(Deployment, "find", find_none)
    return reopen(tmp_path)


def reopen(folder: Path) -> Day:
    return Day("day", folder / "day.json", "false", {}, find=lambda _: describe())


def find_none(name: str) -> None:
    raise UnknownDeployment(name)


def good(_day: Day) -> Facts:
    """Succeed."""
    return {"n": 1}


def bad(_day: Day) -> Facts:
    """Fail."""
    raise ValueError("it broke")


def absent(_day: Day) -> Facts:
    """Be skipped."""
    raise NotApplicable("no second Region")


def interrupting(_day: Day) -> Facts:
    """End the process by a signal."""
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError("the signal changes nothing")


def statuses(day: Day) -> dict[str, str]:
    return {name: each["status"] for name, each in day.state["steps"].items()}


def test_a_step_that_fails_is_reported_and_the_others_run(
    day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "STEPS", [bad, absent, good])
    report = tmp_path / "report.md"
    assert command.run(day, report) == 1
    assert statuses(day) == {"bad": "failed", "absent": "skipped", "good": "done"}
    assert day.state["steps"]["bad"]["facts"]["reason"] == "ValueError: it broke"
    assert "# A day on AWS" in report.read_text("utf-8")
    assert "Nothing is left of it." in report.read_text("utf-8")


@pytest.mark.parametrize("keep", [True, False])
def test_a_signal_leads_to_the_cleaning_up_and_the_day_continues(
    day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, keep: bool
) -> None:
    monkeypatch.setattr(command, "STEPS", [good, interrupting])
    with pytest.raises(Interrupted, match="SIGTERM"):
        command.run(day, tmp_path / "report.md", keep=keep)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    continued = reopen(tmp_path)
    assert statuses(continued) == {"good": "done"}
    assert continued.state.get("left") == (None if keep else [])
    done: list[str] = []

    def later(_day: Day) -> Facts:
        """Run once more."""
        return {"before": done}

    monkeypatch.setattr(command, "STEPS", [note(good, done), later])
    assert command.run(continued, tmp_path / "report.md") == 0
    assert done == ([] if keep else ["good"])  # what is cleaned up begins again


def note(step: Step, done: list[str]) -> Step:
    def noted(day: Day) -> Facts:
        done.append(step.__name__)
        return step(day)

    noted.__name__ = step.__name__
    return noted


def test_results_are_kept_where_only_their_owner_reads_them(day: Day) -> None:
    run_steps(day, [good], show=lambda _: None)
    assert json.loads(day.file.read_text("utf-8"))["steps"]["good"]["facts"] == {"n": 1}
    assert day.file.stat().st_mode & 0o077 == 0


def test_a_deployment_of_somebody_else_is_left_alone(
    day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Deployment, "find", lambda _: describe())
    with pytest.raises(SystemExit, match="not by this day"):
        command.run(day, tmp_path / "report.md")
    assert "left" not in day.state


def test_cleaning_up_deletes_what_the_day_made_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        session = open_session()
        session.events.register("before-call.cloudformation.DescribeStacks", find_no_stack)
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
        for name in ("day", "day-f", "day-two", "prod"):
            _make_leftovers(name)
        assert clean_up(reopen(tmp_path)) == []
        assert clean_up(reopen(tmp_path)) == []  # nothing is left, which is no error
        tables = boto3.client("dynamodb").list_tables()["TableNames"]
        assert tables == ["agent-memory-day-two-log", "agent-memory-prod-log"]
        secrets = boto3.client("secretsmanager").list_secrets()["SecretList"]
        assert [each["Name"] for each in secrets] == ["day-two", "prod"]
        groups = boto3.client("logs").describe_log_groups()["logGroups"]
        kept = [each["logGroupName"] for each in groups]
        assert kept == ["agent-memory-day-two-ApiLog", "agent-memory-prod-ApiLog"]
        kms = boto3.client("kms")
        ids = [each["KeyId"] for each in kms.list_keys()["Keys"]]
        keys = [kms.describe_key(KeyId=id)["KeyMetadata"] for id in ids]
        enabled = [each["Description"] for each in keys if each["KeyState"] == "Enabled"]
        assert sorted(enabled) == ["agent-memory day-two: a", "agent-memory prod: a"]
        buckets = [each["Name"] for each in boto3.client("s3").list_buckets()["Buckets"]]
        assert [each.split("-1234")[0] for each in buckets] == [
            "agent-memory-day-two",
            "agent-memory-prod",
        ]


def test_cleaning_up_deletes_a_secret_with_its_replica(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        session = open_session()
        session.events.register("before-call.cloudformation.DescribeStacks", find_no_stack)
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
        boto3.client("secretsmanager").create_secret(
            Name="day",
            Description="agent-memory day: a",
            SecretString="s",
            AddReplicaRegions=[{"Region": "eu-west-1"}],
        )
        assert clean_up(replace(reopen(tmp_path), standby="eu-west-1")) == []
        for region in ("eu-central-1", "eu-west-1"):
            assert not boto3.client("secretsmanager", region).list_secrets()["SecretList"]


def find_no_stack(**_: Any) -> tuple[AWSResponse, dict[str, Any]]:
    """Answer as CloudFormation does, which moto can't play here."""
    absent = {"Code": "ValidationError", "Message": "Stack with id x does not exist"}
    return AWSResponse("", 400, {}, None), {"Error": absent}


def _make_leftovers(name: str) -> None:
    """Make what a deployment of this name leaves behind."""
    dynamodb = boto3.client("dynamodb")
    dynamodb.create_table(**build_log_table(f"agent-memory-{name}-log"))
    dynamodb.update_table(TableName=f"agent-memory-{name}-log", DeletionProtectionEnabled=True)
    boto3.client("secretsmanager").create_secret(
        Name=name, Description=f"agent-memory {name}: a", SecretString="s"
    )
    boto3.client("kms").create_key(Description=f"agent-memory {name}: a")
    boto3.client("logs").create_log_group(logGroupName=f"agent-memory-{name}-ApiLog")
    s3, bucket = boto3.client("s3"), f"agent-memory-{name}-123456789012-eu-central-1"
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    s3.put_object(Bucket=bucket, Key="k", Body=b"v")
