"""Test which queries and headers of a request are well-formed."""

from typing import Any, cast
from urllib.parse import urlencode

import pytest

from functions.api.filters import read_filters
from functions.api.http import Request
from functions.api.parameters import LIMIT, OFFSET
from functions.platform.errors import PreconditionRequired, ValidationFailed


def request(query: str = "", **headers: str) -> Request:
    return Request({"rawQueryString": query}, headers, "/api/v1/memory", {}, cast("Any", None))


@pytest.mark.parametrize("form", ["1", '"1"', " 1 "])
def test_if_match_takes_a_version_bare_or_quoted(form: str) -> None:
    assert request(**{"if-match": form}).required_if_match == 1


@pytest.mark.parametrize(
    "form",
    [
        *('W/"1"', "*", "one", '"one"', '"1', '1"', '""', "'1'", '"1", "2"', "1,2", "-1", "+1"),
        *("1.0", "0x1", "1e0", "1_0", "1 1", "٣", "\uff11", ""),
    ],
)
def test_any_other_if_match_is_malformed(form: str) -> None:
    with pytest.raises(ValidationFailed) as raised:
        _ = request(**{"if-match": form}).if_match
    assert raised.value.members["errors"][0]["field"] == "If-Match"


def test_a_change_needs_if_match() -> None:
    assert request().if_match is None
    with pytest.raises(PreconditionRequired):
        _ = request().required_if_match


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("limit", value) for value in ("0", "1001", "-1", "ten", "1.5", "", "٣", "9" * 5000)),
        ("offset", "-1"),
        ("offset", "x"),
        ("pinned", "maybe"),
        ("pinned", "1 OR 1=1"),
        ("memory_type", "dream"),
        ("memory_type", "working,episodic"),
        ("updated_after", "yesterday"),
        ("updated_before", "2030-01-01"),
        ("updated_before", "1767225600"),
    ],
)
def test_a_malformed_parameter_is_named(name: str, value: str) -> None:
    asked = request(urlencode({name: value}))
    with pytest.raises(ValidationFailed) as raised:
        _ = read_filters(asked), LIMIT.read(asked), OFFSET.read(asked)
    assert [each["field"] for each in raised.value.members["errors"]] == [name]
