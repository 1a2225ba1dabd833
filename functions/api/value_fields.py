"""Leave values of memory out of responses (RFC-0015 §6.4).

The types of responses mark the fields that hold what somebody stored, with `VALUE`. A caller
that lacks `memory.read` gets the rest: metadata, versions and ETags.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from functions.api.http import Response
from functions.api.responses.types import VALUE
from functions.platform.json_text import dumps, loads

Fields = Mapping[str, "Fields | None"]
"""The fields of a document that hold values (None), or documents with such fields."""


def omit_values(response: Response, document_type: Any, *, of_restricted: bool = False) -> Response:
    """Leave out the values of a response whose body is a document of this type.

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
