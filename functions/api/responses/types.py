"""Types of fields that many documents share, with their JSON schemas."""

from typing import Annotated, Literal, NotRequired

import orjson
from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

Timestamp = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
        }
    ),
]
"""RFC 3339 in UTC, with milliseconds."""

VALUE = Field(description="Absent without `memory.read`.")
"""Marks the fields that hold what somebody stored: absent for a caller that lacks `memory.read`."""

Count = Annotated[int, Field(ge=0)]
Version = Annotated[int, Field(ge=1)]
Probability = Annotated[float, Field(ge=0, le=1)]

JsonValue = Annotated[orjson.Fragment, WithJsonSchema({})]
"""JSON of any type, which is copied into the response as it is stored."""

JsonObject = Annotated[orjson.Fragment, WithJsonSchema({"type": "object"})]
"""A JSON object, which is copied into the response as it is stored."""


class UncountedPosition(TypedDict):
    """The position of a page in a list that is not counted."""

    limit: Version
    next: NotRequired[str]
    """The value of `after` for the next page, with the same filters; absent on the last page."""


class PagePosition(TypedDict):
    """The position of a page in its list."""

    total: NotRequired[Count]
    """The number of matches on all pages; absent with `total=none` and after a cursor."""
    limit: Version
    offset: NotRequired[Count]
    """The number of elements before the page; absent after a cursor."""
    next_offset: NotRequired[Count]
    """The `offset` of the next page; absent on the last page and after a cursor."""
    next: NotRequired[str]
    """The value of `after` for the next page, with the same filters; absent on the last page."""
    hidden: NotRequired[Literal[True]]
    """With an empty list: the request names what you may not read, whether it exists or not."""
