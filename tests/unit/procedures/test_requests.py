"""Which bodies of workflows, selections and outcomes are well-formed."""

from typing import Any

import pytest

from functions.platform.errors import ValidationFailed
from functions.platform.validation import validate
from functions.procedures.requests import NewWorkflow, Outcome, Selection

_NONE = {"alpha": 1, "beta": 1, "outcomes": 0}


@pytest.mark.parametrize(
    ("model", "body", "field"),
    [
        *((Outcome, {"score": score}, "score") for score in (-0.01, 1.01, "1", None, True)),
        (Outcome, {}, "score"),
        (NewWorkflow, {}, "spec"),
        (NewWorkflow, {"spec": 1, "half_life": 5}, "half_life"),
        (NewWorkflow, {"spec": 1, "learned": {"alpha": 1, "beta": 1}}, "learned.outcomes"),
        *(
            (NewWorkflow, {"spec": 1, "learned": {**_NONE, name: value}}, f"learned.{name}")
            for name, value in (("alpha", 0.9), ("beta", 1e9 + 1), ("outcomes", -1))
        ),
        (Selection, {"seed": -1}, "seed"),
        (Selection, {"seed": 2**63}, "seed"),
    ],
)
def test_a_malformed_body_is_rejected(model: Any, body: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        validate(model, body)
    assert [each["field"] for each in raised.value.members["errors"]] == [field]
