"""Render models as the documents of the API. A field has one name in both."""

import re
from collections.abc import Callable
from functools import cache, cached_property
from types import UnionType
from typing import (
    Annotated,
    Any,
    NotRequired,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import orjson

from functions.api.responses.types import Timestamp
from functions.platform.clock import to_rfc3339

Document = TypeVar("Document")

_Convert = Callable[[Any], Any]
_TIMESTAMP = get_args(Timestamp)[1]  # marks a time; further marks may stand beside it
_CAPITAL = re.compile("(?<=[a-z])[A-Z]")
_WRAPPERS = (Annotated, NotRequired, Union, UnionType)


def to_document(model: Any, document: type[Document], /, **computed: Any) -> Document:
    """Render a model as a document: each field is the model's field of that name.

    A field in OpenWOP's spelling, `createdAt`, is the model's `created_at`.

    A field that the model lacks, or that is None and not required, is left out. Times in epoch ms
    become RFC 3339, stored JSON is copied, sets are sorted.

    Args:
        model: a named tuple or a dataclass.
        document: the TypedDict of the answer.
        computed: the fields that are not the model's own, such as sums.
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
    """Tell whether instances have a field or property; a method, as `count` of tuples, is none."""
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
