"""Which bodies of facts and recalls are well-formed."""

from typing import Any

import pytest

from functions.facts.requests import NewFact, Recall
from functions.platform.errors import ValidationFailed
from functions.platform.validation import validate

FACT = {"subject": "acme", "predicate": "prefers", "object": "email"}


@pytest.mark.parametrize(
    ("model", "wrong", "field"),
    [
        (NewFact, {"subject": ""}, "subject"),
        (NewFact, {"subject": " "}, "subject"),
        (NewFact, {"predicate": "x" * 2049}, "predicate"),
        (NewFact, {"object": 7}, "object"),
        (NewFact, {"confidence": 1.1}, "confidence"),
        (NewFact, {"confidence": "high"}, "confidence"),
        (NewFact, {"agent_type": ""}, "agent_type"),
        (NewFact, {"colour": "red"}, "colour"),
        (Recall, {"query": None}, "query"),
        (Recall, {"query": " "}, "query"),
        (Recall, {"query": "x" * 8193}, "query"),
        (Recall, {"top_k": 0}, "top_k"),
        (Recall, {"top_k": 101}, "top_k"),
        (Recall, {"filters": {"colour": "red"}}, "filters.colour"),
        (Recall, {"filters": {"min_confidence": 2}}, "filters.min_confidence"),
    ],
)
def test_a_malformed_body_is_rejected(model: Any, wrong: dict[str, Any], field: str) -> None:
    valid = FACT if model is NewFact else {"query": "x"}
    validate(model, valid)
    with pytest.raises(ValidationFailed) as raised:
        validate(model, valid | wrong)
    assert [each["field"] for each in raised.value.members["errors"]] == [field]
