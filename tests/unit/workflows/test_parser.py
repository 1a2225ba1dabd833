"""Workflow files, and the line of what is wrong in one."""

import pytest

from functions.platform.errors import BodyTooLarge, ValidationFailed
from functions.workflows.parser import parse_workflow

YAML = "application/yaml"
FILE = """\
name: billing
memory:
  semantic_namespaces: [rules]
plan:
  - task: extract
    agent: reader
  - task: check
    depends_on: [extract]
"""


def test_yaml_and_json_say_the_same() -> None:
    json = b"""{"name": "billing", "memory": {"semantic_namespaces": ["rules"]},
        "plan": [{"task": "extract", "agent": "reader"},
                 {"task": "check", "depends_on": ["extract"]}]}"""
    parsed = parse_workflow(FILE.encode(), YAML)
    assert parsed == parse_workflow(json, "application/json")
    assert (parsed.name, [step.task for step in parsed.plan]) == ("billing", ["extract", "check"])


@pytest.mark.parametrize("text", [FILE, '{"name": "billing"}', '  {"name": "billing"}'])
def test_the_first_character_says_the_type_if_the_header_does_not(text: str) -> None:
    assert parse_workflow(text.encode(), "").name == "billing"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("name: [", 1, ""),
        ("name: a\nname: b", 1, "names a key twice"),
        ("name: a\nmemory: &m {}", 2, "anchors and aliases"),
        ("name: !!str a", 1, "tags"),
        ("name: a\nplans: []", 2, ""),
        ("name: a\nplan:\n  - task: x\n    agents: y", 4, ""),
        ("name: a\nplan:\n  - task: x\n  - task: x", 4, "another task has this name"),
        ("name: a\nplan:\n  - task: x\n    depends_on:\n      - y", 5, "no such task"),
        ("name: a\nplan:\n  - task: x\n    depends_on: [x]", 4, "waits for itself"),
        ("name: 7", 1, ""),
        ("plan: []", 1, ""),
    ],
)
def test_an_error_names_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(ValidationFailed) as failed:
        parse_workflow(text.encode(), YAML)
    (message,) = [each["message"] for each in failed.value.members["errors"]]
    assert f"line {line}: " in message
    assert says in message


@pytest.mark.parametrize("levels", [19, 21])
def test_nesting_has_a_limit(levels: int) -> None:
    text = f"name: a\nagents: {'[' * levels}{']' * levels}"
    with pytest.raises(ValidationFailed) as failed:
        parse_workflow(text.encode(), YAML)
    messages = [each["message"] for each in failed.value.members["errors"]]
    assert any("nested too deeply" in each for each in messages) is (levels == 21)


@pytest.mark.parametrize("body", [b"\xff", b"name: 2026-99-99", b"- a", b"a: b: c"])
def test_what_is_no_workflow_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationFailed):
        parse_workflow(body, YAML)


@pytest.mark.parametrize("body", [b"{", b'{"name": NaN}', b"name: a"])
def test_malformed_json_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationFailed):
        parse_workflow(body, "application/json")


def test_a_file_has_at_most_256_kb() -> None:
    comment = b"\n#" + b"x" * (262_144 - len(FILE) - 2)
    parse_workflow(FILE.encode() + comment, YAML)
    with pytest.raises(BodyTooLarge):
        parse_workflow(FILE.encode() + comment + b"x", YAML)
