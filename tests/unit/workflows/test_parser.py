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


def errors_of(body: bytes, media_type: str) -> list[str]:
    """Each error of a file that must be refused: field and message."""
    with pytest.raises(ValidationFailed) as failed:
        parse_workflow(body, media_type)
    return [f"{each['field']}: {each['message']}" for each in failed.value.members["errors"]]


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
        ("name: w\nmemroy: {}", 2, "memroy"),
        ("name: w\nmemory:\n  semantic: [a]", 3, "memory.semantic"),
        ("name: w\nnamespaces: [a]", 2, "namespaces"),
        ("name: w\nagents:\n  a:\n    episodic_memroy: {}", 4, "is it episodic_memory?"),
        ("name: w\nagents:\n  a:\n    working_memory: {}", 4, "working_memory"),
        ("name: w\nplan:\n- task: a\n  depend_on: [b]", 4, "is it depends_on?"),
        ("info:\n  name: w\nmemroy: {}", 3, "is it memory?"),
        ("name: w\nagents:\n  a:\n    episodic_memory:\n      capacity: 0", 5, "capacity"),
        ("name: w\nagents:\n  a:\n    episodic_memory: {eviction_policy: fifo}", 4, "eviction"),
        ("name: w\nplan:\n- task: a\n- agent: b", 4, "plan.1.task"),
        ("name: w\nplan:\n- task: a\n- task: a", 4, "plan.1.task"),
        ("name: w\nplan:\n- task: a\n  depends_on:\n  - b", 5, "no such task"),
        ("name: w\nplan:\n- task: a\n  depends_on: [a]", 4, "depends on itself"),
        ("name: w\nplan:\n- task: a\n  memory_policy:\n    max: 1", 5, "plan.0.memory_policy.max"),
        (
            "name: w\nplan:\n- task: a\n  memory_policy:\n    inherit_from_parent: true",
            5,
            "no parent",
        ),
        ("name: w\nplan: [", 2, "body"),
        ("name: w\n\tplan: []", 2, "body"),
        ("name: w\nname: v", 1, "twice"),
        ("name: w\nplan: &p []\nagents: *p", 2, "aliases"),
        ("name: !!python/object:os.system w", 1, "tags"),
        ("name: w\nplan: " + "[" * 100 + "]" * 100, 2, "deeply"),
        ("name: 7", 1, "name"),
        ("version: 1", 1, "name"),
        ("- name", 1, "body"),
        ("name: w\n---\nname: v", 2, "body"),
    ],
)
def test_an_error_names_its_line(text: str, line: int, says: str) -> None:
    errors = errors_of(text.encode(), YAML)
    assert any(f"line {line}: " in each and says in each for each in errors), errors


def test_an_error_in_json_names_its_line() -> None:
    body = b'{\n "name": "w",\n "plan": [{"task": 7}]\n}'
    (error,) = errors_of(body, "application/json")
    assert "line 3: " in error
    (error,) = errors_of(b'{\n "name": ,}', "application/json")
    assert "line 2" in error


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "\ufeff",
        "name: 2026-99-99",
        "name: 0x_",
        'name: "\\ud800"',
        "a: !!timestamp x",
        "name: w\nversion: .nan",
        "name: w\nversion: .inf",
        "? [a]\n: b",
        "{[a]: b}",
        "\x00",
        "name: w\nversion: " + "9" * 5000,
        "<<: 1",
        "name: =",
        "name: w\nplan: [null]",
    ],
)
@pytest.mark.parametrize("media", ["application/json", "application/yaml", "text/plain"])
def test_a_malformed_file_is_refused(text: str, media: str) -> None:
    assert errors_of(text.encode(), media)


@pytest.mark.parametrize("levels", [19, 21])
def test_nesting_has_a_limit(levels: int) -> None:
    text = f"name: a\nagents: {'[' * levels}{']' * levels}"
    errors = errors_of(text.encode(), YAML)
    assert any("nested too deeply" in each for each in errors) is (levels == 21)


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
