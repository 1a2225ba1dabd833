"""Test what every request body refuses; a route's fields and bounds are in `openapi.json`."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from functions.platform.errors import ValidationFailed
from functions.platform.validation import RequestModel, Timestamp, Ttl, validate
from functions.recall.requests import Question


class Part(RequestModel):
    text: str = ""


class Body(RequestModel):
    """A body with a field of each kind."""

    count: int = 0
    share: float = 0
    flag: bool = False
    text: Annotated[str, Field(max_length=2)] = ""
    parts: list[Part] = Field(default=[])
    at: Timestamp | None = None
    ttl: Ttl | None = None


MALFORMED: dict[str, list[Any]] = {
    "count": ["7", 1.5, True, None, [1]],
    "share": ["0.5", True],
    "flag": ["true", "yes", 1],
    "text": [7, None, ["x"], "xxx"],
    "parts": ["x", {}, None],
    "parts.1": [[{}, "x"]],
    "parts.1.text": [[{}, {"text": 7}]],
    "parts.0.bogus": [[{"bogus": 1}]],
    "ttl": [[3600], 10**400, True, {"duration": "PT1H"}],
    "bogus": [1],
}


def list_failing_fields(model: Any, body: Any) -> list[str]:
    with pytest.raises(ValidationFailed) as raised:
        validate(model, body)
    return [each["field"] for each in raised.value.members["errors"]]


@pytest.mark.parametrize("field", MALFORMED)
def test_a_malformed_field_is_named_where_it_stands(field: str) -> None:
    for value in MALFORMED[field]:
        assert list_failing_fields(Body, {field.partition(".")[0]: value}) == [field]


@pytest.mark.parametrize("body", [None, [], "x", 1])
def test_a_body_that_is_no_object_is_named(body: Any) -> None:
    assert list_failing_fields(Body, body) == ["body"]


def test_an_error_names_every_bad_field() -> None:
    assert list_failing_fields(Body, {"count": "7", "text": 7, "x": 1}) == ["count", "text", "x"]


def test_a_bound_of_text_counts_characters() -> None:
    assert validate(Body, {"text": "🙂🙂"}).text == "🙂🙂"


@pytest.mark.parametrize(
    "moment",
    [
        "2040-01-01",
        "2040-01-01T00:00:00",
        "2040-13-01T00:00:00Z",
        "2039-02-29T00:00:00Z",
        "2040-01-01T25:00:00Z",
        "2040-W01-1T00:00:00Z",
        "٢٠٤٠-01-01T00:00:00Z",
        "99999-01-01T00:00:00Z",
        "9999-12-31T23:59:59-10:00",
        "tomorrow",
        "",
        2208988800,
        True,
        ["2040-01-01T00:00:00Z"],
    ],
)
def test_a_malformed_moment_is_named(moment: Any) -> None:
    assert list_failing_fields(Body, {"at": moment}) == ["at"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (3600, "duration:PT3600S"),
        (100, "duration:PT100S"),
        (0.5, "duration:PT0.5S"),
        ("PT24H", "duration:PT24H"),
        ("duration:P1D", "duration:P1D"),
        ("task_lifetime", "task_lifetime"),
    ],
)
def test_a_ttl_is_also_seconds_or_a_duration_without_a_prefix(given: Any, stored: str) -> None:
    assert validate(Body, {"ttl": given}).ttl == stored


@pytest.mark.parametrize(
    ("body", "field", "problem"),
    [
        (
            {"query": "x" * 8193},
            "query",
            "may have at most 8,192 characters, and has 8,193; shorten it",
        ),
        ({"query": "x", "run_id": ""}, "run_id", "needs 1 or more characters"),
    ],
)
def test_a_text_of_a_wrong_length_is_told_its_characters(
    body: Any, field: str, problem: str
) -> None:
    with pytest.raises(ValidationFailed) as raised:
        validate(Question, body)
    assert raised.value.members["errors"] == [{"field": field, "message": problem}]


@pytest.mark.parametrize(
    ("body", "field", "fields"),
    [
        ({"tex": "x"}, "tex", "at, count, flag, parts, share, text, ttl"),
        ({"parts": [{"tex": "x"}]}, "parts.0.tex", "text"),
    ],
)
def test_an_unknown_field_is_told_the_known_ones(body: Any, field: str, fields: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        validate(Body, body)
    problem = f"there is no such field; the fields are {fields}"
    assert raised.value.members["errors"] == [{"field": field, "message": problem}]
