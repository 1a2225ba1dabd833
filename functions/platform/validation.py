"""Validate requests by pydantic models, and name wrong fields."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from functions.platform import limits
from functions.platform.clock import from_rfc3339
from functions.platform.errors import ValidationFailed
from functions.platform.keys import TENANT_PATTERN


class RequestModel(BaseModel):
    """The model of a request's body, or of a part of one; unknown fields are errors.

    Its validator is built at the first use, or by `model_rebuild`, not at import: a function has
    many models, and most instances use few of them. A field's docstring is its description in the
    OpenAPI document.
    """

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class ChangeModel(RequestModel):
    """The model of a change: only the given fields change, and defaults have no effect."""


Model = TypeVar("Model", bound=BaseModel)
READ_ONLY: JsonDict = {"readOnly": True}
"""Marks fields of a body that are accepted and ignored."""
Path = tuple[str | int, ...]


def _parse_timestamp(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("use an RFC 3339 date-time such as 2026-02-08T10:00:00Z")
    return from_rfc3339(value)


Timestamp = Annotated[
    int,
    BeforeValidator(_parse_timestamp),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""An RFC 3339 date-time in the request, epoch milliseconds in the model."""


AgentId = Annotated[str, Field(min_length=1, max_length=limits.MAX_ID_CHARACTERS)]
Name = Annotated[str, Field(min_length=1, max_length=limits.MAX_NAME_CHARACTERS)]
FieldName = Annotated[str, Field(min_length=1, max_length=limits.MAX_FIELD_CHARACTERS)]
_DURATION = r"^(duration:)?P.*$"
_FORMS = {
    _DURATION: "use an ISO 8601 duration such as PT10M or P7D",
    TENANT_PATTERN: "use 1 to 64 letters, digits, `.`, `_` and `-`; the first is a letter or digit",
}
IsoDuration = Annotated[str, Field(max_length=limits.MAX_TTL_CHARACTERS, pattern=_DURATION)]
Tag = Annotated[str, Field(min_length=1, max_length=limits.MAX_ID_CHARACTERS)]
Identifier = Annotated[str, Field(min_length=1, max_length=limits.MAX_ID_CHARACTERS)]
"""A task's or an intent's id."""


def _assert_not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


NotBlank = Annotated[
    str,
    AfterValidator(_assert_not_blank),
    Field(min_length=1, json_schema_extra={"pattern": r"\S"}),
]


_SECONDS = re.compile(r"\d{1,12}(\.\d{1,9})?", re.ASCII)
_LONGEST_SECONDS = 10**12


def _normalize_ttl(value: object) -> object:
    """Convert seconds, or an ISO 8601 duration without prefix, to the form of RFC-0015."""
    if isinstance(value, int | float) and value >= _LONGEST_SECONDS:
        raise ValueError("must end before the year 10000")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"duration:PT{value}S"
    if isinstance(value, float):
        return f"duration:PT{value:.9f}".rstrip("0").rstrip(".") + "S"
    if isinstance(value, str) and value.startswith("P"):
        return f"duration:{value}"
    if isinstance(value, str) and _SECONDS.fullmatch(value):
        return f"duration:PT{value}S"
    return value


TTL_PATTERN = "^(task_lifetime|duration:P.*)$"
Ttl = Annotated[
    str,
    BeforeValidator(_normalize_ttl),
    Field(max_length=limits.MAX_TTL_CHARACTERS),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "string",
                    "maxLength": limits.MAX_TTL_CHARACTERS,
                    "pattern": r"^(task_lifetime|(duration:)?P.*|\d+(\.\d+)?)$",
                },
                {"type": "number", "exclusiveMinimum": 0, "description": "seconds"},
            ]
        }
    ),
]
"""A lifetime; the service parses it and explains errors."""


def validate(model: type[Model], document: Any, whole: str = "body") -> Model:
    """Validate a document; `whole` is the document's name in errors."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise build_validation_error(list_problems(error, model), whole) from error


def list_problems(error: ValidationError, model: type[BaseModel]) -> Iterator[tuple[Path, str]]:
    """List the path and the problem of each wrong field, never its value.

    After a number of problems, the rest is only counted: listing 300,000 takes a second.
    """
    if error.error_count() > limits.MAX_LISTED_ERRORS:
        yield (), f"has {error.error_count():,} errors; see the fields in /openapi.json"
        return
    for each in error.errors(include_url=False):
        kinds = ("constrained-", "ExcludedSession")  # alternatives of a type are no fields
        path = tuple(part for part in each["loc"] if not str(part).startswith(kinds))
        yield path, _describe(each, model)


_EXPECTED = {
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "string_type": "must be a text, in quotes",
}


def _describe(problem: ErrorDetails, model: type[BaseModel]) -> str:
    """Describe a problem; lengths are those of what was sent."""
    if problem["type"] == "extra_forbidden":
        return f"there is no such field; the fields are {_list_fields(model, problem['loc'][:-1])}"
    if problem["type"] in _EXPECTED:
        return _EXPECTED[problem["type"]]
    if isinstance(given := problem["input"], str | list):
        parts = "characters" if isinstance(given, str) else "elements"
        match problem["type"]:
            case "too_long" | "string_too_long":
                most = problem["ctx"]["max_length"]
                return f"may have at most {most:,} {parts}, and has {len(given):,}; shorten it"
            case "too_short" | "string_too_short":
                return f"needs {problem['ctx']['min_length']} or more {parts}"
            case "string_pattern_mismatch" if form := _FORMS.get(problem["ctx"]["pattern"]):
                return form
    return problem["msg"].removeprefix("Value error, ")


def _list_fields(model: type[BaseModel], path: Path) -> str:
    fields = _name_fields(model)
    for name in path:
        if (field := fields.get(name)) and (inner := next(_list_models(field.annotation), None)):
            fields = _name_fields(inner)
    return ", ".join(sorted(map(str, fields)))


def _name_fields(model: type[BaseModel]) -> dict[str | int, FieldInfo]:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    return {name: field for name, field in fields.items() if field.json_schema_extra != READ_ONLY}


def _list_models(annotation: object) -> Iterator[type[BaseModel]]:
    """List the models that a type is made of, such as that of `list[Model] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _list_models(part)


def build_validation_error(
    problems: Iterable[tuple[Path, str]], whole: str = "body"
) -> ValidationFailed:
    """Build the error that names the first 20 problems."""
    errors = [
        (".".join(map(str, path)) or whole, problem)
        for path, problem in islice(problems, limits.MAX_VALIDATION_ERRORS)
    ]
    return ValidationFailed(*errors[0], *errors[1:])
