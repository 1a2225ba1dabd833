"""Bodies as models."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from functions.api.call import Call
from functions.platform.errors import ValidationFailed

Body = TypeVar("Body", bound=BaseModel)


def parsed(call: Call, model: type[Body]) -> Body:
    """A request's body as a model.

    Raises:
        ValidationFailed: it doesn't fit; every field is named.
    """
    try:
        return model.model_validate_json(call.body)
    except ValidationError as error:
        raise _invalid(error) from error


def validated(model: type[Body], document: dict[str, Any]) -> Body:
    """A part of a body as a model.

    Raises:
        ValidationFailed: it doesn't fit; every field is named.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise _invalid(error) from error


def _invalid(error: ValidationError) -> ValidationFailed:
    found = error.errors(include_url=False, include_context=False, include_input=False)[:20]
    fields = [".".join(str(part) for part in each["loc"]) or "body" for each in found]
    messages = [each["msg"].removeprefix("Value error, ") for each in found]
    first, *rest = zip(fields, messages, strict=True)
    return ValidationFailed(*first, *rest)
