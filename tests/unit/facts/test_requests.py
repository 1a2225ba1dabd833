"""Test what bodies of facts and procedures refuse, apart from the rules of every body."""

from typing import Any

import pytest

from functions.facts.requests import NewFact, Recall
from functions.platform.validation import validate
from functions.procedures.requests import LearnedStats, Outcome
from tests.unit.platform.test_validation import list_failing_fields

FACT = {"subject": "acme", "predicate": "prefers", "object": "email"}
LEARNED = {"alpha": 1, "beta": 1, "outcomes": 0}


@pytest.mark.parametrize("field", FACT)
def test_a_part_of_a_fact_is_in_words(field: str) -> None:
    assert list_failing_fields(NewFact, FACT | {field: " "}) == [field]
    assert list_failing_fields(Recall, {"query": " "}) == ["query"]


@pytest.mark.parametrize(
    ("model", "valid", "field"),
    [
        (NewFact, FACT, "confidence"),
        (Recall, {"query": "x"}, "top_k"),
        (Outcome, {}, "score"),
        *((LearnedStats, LEARNED, field) for field in LEARNED),
    ],
)
def test_a_number_is_no_text_and_no_truth_value(
    model: Any, valid: dict[str, Any], field: str
) -> None:
    for value in ("1", True):
        assert list_failing_fields(model, valid | {field: value}) == [field]


@pytest.mark.parametrize("moment", ["tomorrow", 7, ["2026-01-01T00:00:00Z"]])
def test_when_a_fact_was_learned_is_set_by_the_service(moment: Any) -> None:
    assert validate(NewFact, FACT | {"created_at": moment}).subject == FACT["subject"]
