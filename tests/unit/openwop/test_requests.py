"""Contract §7: which bodies of runs and entries are well-formed."""

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
        (NewMemoryRun, {"agent": None}),
        (NewMemoryRun, {"scope": ""}),
        (NewMemoryRun, {"scope": "x" * 256}),
        (NewMemoryRun, {"secrets": [SECRET | {"label": ""}]}),
        (NewMemoryRun, {"secrets": [SECRET | {"label": "a b"}]}),
        (NewMemoryRun, {"secrets": [SECRET | {"label": "x" * 65}]}),
        (NewMemoryRun, {"secrets": [SECRET | {"value": ""}]}),
        (NewMemoryRun, {"secrets": [{"label": "a"}]}),
        (NewMemoryRun, {"secrets": [SECRET] * 33}),
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
