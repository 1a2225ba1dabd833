"""Test that learning from conversations has a function that may call its model alone."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infra.agent_memory_cdk.settings import Settings, WrongChoice
from operations import dead_letters
from tests.infra.conftest import Synthesize
from tests.infra.template import PARTITION, Template, as_list

_ROOT = Path(__file__).parents[2]
_BEDROCK = "anthropic.claude-haiku-4-5-20251001-v1:0"
_KEY = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:model-AbCdEf"
_ENDPOINT = {
    "learning_model": "openai:gpt-5-mini",
    "learning_url": "https://models.example.com/v1",
    "learning_key_arn": _KEY,
}


def _list_resources(template: Template, action: str) -> list[Any]:
    return [
        resource
        for each in template.statements("LearningFunction")
        if action in as_list(each["Action"])
        for resource in as_list(each["Resource"])
    ]


def test_nothing_learns_unless_a_model_is_chosen(dev: Template) -> None:
    functions = dev.of_type("Lambda::Function")
    assert not [each for each in functions if "LearningFunction" in each]
    assert "LEARNING_MODEL" not in dev.function("Api")["Environment"]["Variables"]


def test_an_endpoint_has_its_address_and_its_key(synthesize: Synthesize) -> None:
    template = synthesize(**_ENDPOINT)
    variables = template.function("Learning")["Environment"]["Variables"]
    assert variables["LEARNING_URL"] == "https://models.example.com/v1"
    assert variables["LEARNING_KEY_SECRET_ID"] == _KEY
    assert variables["STREAM_CONSUMERS"] == "learning"
    assert _list_resources(template, "secretsmanager:GetSecretValue") == [_KEY]
    assert _list_resources(template, "bedrock:InvokeModel") == []
    api = template.function("Api")["Environment"]["Variables"]
    assert api["LEARNING_MODEL"] == "openai:gpt-5-mini"
    assert "LEARNING_KEY_SECRET_ID" not in api


def test_a_replay_knows_every_queue_of_dead_letters(whole: Template) -> None:
    described = str(whole.of_type("SSM::Parameter"))
    assert set(re.findall(r"\b\w+DeadLetters\b(?=\\*\":)", described)) == dead_letters.QUEUES.keys()
    assert len(whole.of_type("SQS::Queue")) == len(dead_letters.QUEUES)


def test_only_the_chosen_model_of_bedrock_may_be_called(synthesize: Synthesize) -> None:
    template = synthesize(learning_model=f"bedrock:{_BEDROCK}")
    (model,) = _list_resources(template, "bedrock:InvokeModel")
    assert model["Fn::Join"][1][-1] == f"::foundation-model/{_BEDROCK}"
    assert _list_resources(template, "secretsmanager:GetSecretValue") == []


def test_an_inference_profile_calls_its_model_in_several_regions(synthesize: Synthesize) -> None:
    template = synthesize(learning_model=f"bedrock:eu.{_BEDROCK}")
    profile, model = _list_resources(template, "bedrock:InvokeModel")
    assert profile["Fn::Join"][1][-1] == f":inference-profile/eu.{_BEDROCK}"
    assert model["Fn::Join"][1][-1] == f":bedrock:*::foundation-model/{_BEDROCK}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"learning_model": "gpt-5"},
        {"learning_model": "openai:gpt-5"},
        {"learning_model": "bedrock:a,openai:b"},
        {"learning_url": "https://models.example.com/v1"},
    ],
    ids=str,
)
def test_a_wrong_choice_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(WrongChoice, match="learning_"):
        Settings(name="dev", **wrong)  # type: ignore[arg-type]


def test_it_may_do_on_the_table_exactly_what_it_does(
    synthesize: Synthesize, tmp_path: Path
) -> None:
    notes = tmp_path / "calls.txt"
    options = ["-q", "-n", "0", "-p", "tests.infra.recording", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, "tests/contract/test_learning.py"]
    environment = {**os.environ, "CALLS_FILE": str(notes)}
    ran = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    called = {
        (action, resource)
        for function, action, resource in map(str.split, notes.read_text("utf-8").splitlines())
        if function == "stream" and not action.startswith(PARTITION)
    }
    on_table = {action for action, resource in called if resource == "memory"}
    indexes = {resource for action, resource in called if resource not in ("memory", "log")}
    template = synthesize(**_ENDPOINT)
    granted = [
        each
        for each in template.statements("LearningFunction")
        if "dynamodb:PutItem" in as_list(each["Action"])
    ]
    assert {action for each in granted for action in each["Action"]} == on_table
    queried = [str(each) for each in _list_resources(template, "dynamodb:Query")]
    assert sorted(
        each.rpartition("/index/")[2].split("'")[0] for each in queried if "/index/" in each
    ) == sorted(indexes)
