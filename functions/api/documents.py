"""The documents of API responses: the types of their fields, and their rendering.

A field has one name in the model and in the document. Its docstring is its description in the
OpenAPI document, whose schemas are derived from the types by `tools.openapi`. There, a type's name
does not end with `Document`.

Fields that hold stored values are marked with `VALUE` (RFC-0015 §6.4). A caller that lacks
`memory.read` gets the rest: metadata, versions and ETags.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import orjson
from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict, is_typeddict

from functions.api.http import Response
from functions.platform.clock import to_rfc3339
from functions.platform.json_text import dumps, loads

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
"""Marks the fields that hold stored values: absent for a caller that lacks `memory.read`."""


Count = Annotated[int, Field(ge=0)]


Version = Annotated[int, Field(ge=1)]


Probability = Annotated[float, Field(ge=0, le=1)]


JsonValue = Annotated[orjson.Fragment, WithJsonSchema({})]
"""JSON of any type, which is copied into the response without parsing."""


JsonObject = Annotated[orjson.Fragment, WithJsonSchema({"type": "object"})]
"""A JSON object, which is copied into the response without parsing."""


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
    """With an empty list: you may not read what the request names, or it does not exist."""


Document = TypeVar("Document")


_Convert = Callable[[Any], Any]


_TIMESTAMP = get_args(Timestamp)[1]  # marks a time; other marks may follow


_CAPITAL = re.compile("(?<=[a-z])[A-Z]")


_WRAPPERS = (Annotated, NotRequired, Union, UnionType)


def to_document(model: Any, document: type[Document], /, **computed: Any) -> Document:
    """Render a model as a document: each field is the model's field of that name.

    A field in OpenWOP's spelling, `createdAt`, is the model's `created_at`.

    A field that the model lacks, or an optional field of None, is omitted. Times in epoch ms become
    RFC 3339, stored JSON is copied, sets are sorted.

    Args:
        model: a named tuple or a dataclass.
        computed: fields that are not in the model, such as sums.
    """
    copied, converted = _plan((type(model), document), tuple(computed))
    rendered: Any = {name: getattr(model, field) for name, field in copied}
    for name, field, convert, is_required in converted:
        value = getattr(model, field)
        if value is not None:
            rendered[name] = value if convert is None else convert(value)
        elif is_required:
            rendered[name] = None
    rendered.update(computed)
    return cast("Document", rendered)


@cache
def _plan(
    types: tuple[type, type], computed: tuple[str, ...]
) -> tuple[list[tuple[str, str]], list[tuple[str, str, _Convert | None, bool]]]:
    """List the fields that are copied, and the others: name, field, conversion, is it required."""
    model, document = types
    required: frozenset[str] = getattr(document, "__required_keys__", frozenset())
    hints = get_type_hints(document, include_extras=True)
    fields = [
        (name, field, _find_conversion(hint), name in required)
        for name, hint in hints.items()
        if name not in computed and _has_field(model, field := _to_snake_case(name))
    ]
    missing = required.difference(computed, (name for name, *_ in fields))
    if missing:
        raise TypeError(f"{model.__name__} lacks {sorted(missing)} of {document.__name__}")
    copied = [each for each in fields if each[2] is None and each[3]]
    return [each[:2] for each in copied], [each for each in fields if each not in copied]


def _to_snake_case(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def _has_field(model: type, name: str) -> bool:
    """Tell whether instances have a field or property; methods, such as `tuple.count`, are none."""
    fields: tuple[str, ...] = getattr(model, "__match_args__", ())
    return name in fields or isinstance(getattr(model, name, None), property | cached_property)


def _find_conversion(hint: Any) -> _Convert | None:
    if hint is orjson.Fragment:
        return orjson.Fragment
    if get_origin(hint) is Annotated and _TIMESTAMP in hint.__metadata__:
        return to_rfc3339
    if get_origin(hint) is list:
        return _to_list
    parts = get_args(hint) if get_origin(hint) in _WRAPPERS else ()
    return next(filter(None, map(_find_conversion, parts)), None)


def _to_list(value: Any) -> list[Any]:
    return sorted(value) if isinstance(value, set | frozenset) else list(value)


Fields = Mapping[str, "Fields | None"]
"""The fields of a document that hold values (None), or documents with values."""


def omit_values(response: Response, document_type: Any, *, of_restricted: bool = False) -> Response:
    """Remove the values from a response whose body is a document of this type.

    Args:
        of_restricted: only those of the restricted elements of lists.
    """
    fields = find_value_fields(document_type)
    if not fields or not response.body:
        return response
    document = _omit(loads(response.body), fields, of_restricted=of_restricted)
    return replace(response, body=dumps(document))


@lru_cache(maxsize=256)
def find_value_fields(document_type: Any) -> Fields:
    """Find the fields of a document type that hold values, at any depth."""
    if not is_typeddict(document_type):
        found: dict[str, Fields | None] = {}
        for argument in get_args(document_type):
            found |= find_value_fields(argument)
        return found
    hints = get_type_hints(document_type, include_extras=True)
    fields = {
        name: None if _is_value(hint) else find_value_fields(hint) for name, hint in hints.items()
    }
    return {name: inner for name, inner in fields.items() if inner is None or inner}


def _is_value(hint: Any) -> bool:
    if VALUE in getattr(hint, "__metadata__", ()):
        return True
    return get_origin(hint) is not None and any(map(_is_value, get_args(hint)))


def _omit(document: Any, fields: Fields, *, of_restricted: bool) -> Any:
    if isinstance(document, list):
        return [
            _omit(each, fields, of_restricted=of_restricted and not _is_restricted(each))
            for each in document
        ]
    if not isinstance(document, dict):
        return document
    return {
        name: _omit(each, fields.get(name) or {}, of_restricted=of_restricted)
        for name, each in document.items()
        if of_restricted or fields.get(name, {}) is not None
    }


def _is_restricted(document: Any) -> bool:
    return isinstance(document, dict) and document.get("sensitivity") == "restricted"
