"""What a caller gives, read as a model of pydantic's; whatever doesn't fit is told by its field."""

from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from functions.platform.errors import ValidationFailed
from functions.platform.limits import MAX_VALIDATION_ERRORS


class RequestModel(BaseModel):
    """The model of a request's body, or of a part of one; unknown fields are errors.

    Its validator is built at the first use, or by `model_rebuild`, and not at import: a function
    has many models, and most containers serve few of them. A field's docstring is its description
    in the OpenAPI document.
    """

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class ChangeModel(RequestModel):
    """The model of a change: only the given fields change, and a default has no meaning."""


Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str | int, ...]


def validated(model: type[Model], document: Any, whole: str = "body") -> Model:
    """A document as a model; `whole` is what the errors call the document itself.

    Raises:
        ValidationFailed: it doesn't fit; every field is named.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise invalid(problems_of(error), whole) from error


def validated_json(model: type[Model], text: bytes) -> Model:
    """A body's JSON as a model.

    Raises:
        ValidationFailed: it is no JSON, or doesn't fit; every field is named.
    """
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise invalid(problems_of(error)) from error


def problems_of(error: ValidationError) -> list[tuple[Path, str]]:
    """Where a document doesn't fit, and how; never what it holds there."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [(each["loc"], each["msg"].removeprefix("Value error, ")) for each in found]


def invalid(found: Iterable[tuple[Path, str]], whole: str = "body") -> ValidationFailed:
    """The error that names the first 20 of what was found, of at least one."""
    errors = [
        (".".join(map(str, path)) or whole, problem)
        for path, problem in islice(found, MAX_VALIDATION_ERRORS)
    ]
    return ValidationFailed(*errors[0], *errors[1:])
