"""Which bodies of runs and entries are well-formed."""

from typing import Any

import pytest

from functions.openwop.requests import NewMemoryEntry, NewMemoryRun
from functions.platform.errors import ValidationFailed
from functions.platform.validation import validate

SECRET = {"label": "a", "value": "12345678"}


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        (NewMemoryEntry, {"content": None}),
        (NewMemoryEntry, {"content": {"a": 1}}),
        (NewMemoryEntry, {"tags": ["x" * 257]}),
        (NewMemoryEntry, {"tags": ["x"] * 51}),
        (NewMemoryEntry, {"tags": "x"}),
        (NewMemoryEntry, {"tags": [1]}),
        (NewMemoryEntry, {"expiresAt": "tomorrow"}),
        (NewMemoryEntry, {"expiresAt": 1_900_000_000}),
        (NewMemoryEntry, {"runId": 7}),
        (NewMemoryEntry, {"runId": "x" * 129}),
        (NewMemoryEntry, {"id": "mem_x"}),
        (NewMemoryEntry, {"createdAt": "2030-01-01T00:00:00Z"}),
        (NewMemoryRun, {"agent": ""}),
        (NewMemoryRun, {"agent": "x" * 129}),
        (NewMemoryRun, {"scope": ""}),
        (NewMemoryRun, {"scope": "x" * 256}),
        (NewMemoryRun, {"secrets": [SECRET | {"label": ""}]}),
        (NewMemoryRun, {"secrets": [SECRET | {"label": "a b"}]}),
        (NewMemoryRun, {"secrets": [SECRET | {"label": "x" * 65}]}),
        (NewMemoryRun, {"secrets": [SECRET | {"value": ""}]}),
        (NewMemoryRun, {"secrets": [{"label": "a"}]}),
        (NewMemoryRun, {"secrets": [SECRET] * 33}),
        (NewMemoryRun, {"secrets": [SECRET | {"value": "1234567"}]}),
        (NewMemoryRun, {"ttl": 1.5}),
        (NewMemoryRun, {"ttl": -1}),
        (NewMemoryRun, {"retainSnapshot": [1]}),
        (NewMemoryRun, {"memoryRefs": []}),
        (NewMemoryRun, {"memoryRefs": ["x"] * 17}),
        (NewMemoryRun, {"snapshotAt": "2030-01-01T00:00:00Z"}),
        (NewMemoryRun, {"onSecret": "ignore"}),
        (NewMemoryRun, {"tenant": "other"}),
        (NewMemoryRun, {"principal": "bob"}),
    ],
)
def test_a_malformed_body_is_rejected(model: Any, wrong: dict[str, Any]) -> None:
    valid = {"content": "x"} if model is NewMemoryEntry else {"agent": "planner"}
    validate(model, valid)
    with pytest.raises(ValidationFailed) as raised:
        validate(model, valid | wrong)
    (field,) = wrong
    assert raised.value.members["errors"][0]["field"].startswith(field)


@pytest.mark.parametrize(
    ("body", "is_valid"),
    [
        ({"agent": "planner"}, True),
        ({"memoryRef": "mref_1"}, True),
        ({"memoryRefs": ["mref_1"]}, True),
        ({"agent": "planner", "memoryRef": "mref_1"}, True),
        ({"replayOf": "run_1"}, True),
        ({}, False),
        ({"scope": "s"}, False),
        ({"memoryRef": "mref_1", "memoryRefs": ["mref_1"]}, False),
        ({"replayOf": "run_1", "agent": "planner"}, False),
        ({"replayOf": "run_1", "memoryRef": "mref_1"}, False),
    ],
)
def test_a_run_is_on_a_memory_or_replays_a_run(body: dict[str, Any], is_valid: bool) -> None:
    if is_valid:
        validate(NewMemoryRun, body)
        return
    with pytest.raises(ValidationFailed):
        validate(NewMemoryRun, body)
