"""The command line of operations: the Region, and arguments that can't be right."""

import sys

import boto3
import pytest
from moto import mock_aws

from operations.__main__ import main


def test_commands_act_in_the_region_that_aws_region_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setattr(sys, "argv", ["operations", "--name", "none", "switches"])
    with mock_aws(), pytest.raises(SystemExit, match="eu-west-1 has no parameter"):
        main()


@pytest.mark.parametrize("amount", ["-1", "-0.5", "many"])
def test_an_estimate_of_a_negative_use_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], amount: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["operations", "estimate", "--turns", amount])
    with pytest.raises(SystemExit):
        main()
    assert "--turns: must be 0 or more" in capsys.readouterr().err
