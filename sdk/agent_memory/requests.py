"""Render what a request holds: its body, its fields and the parts of its path."""

import json
from collections.abc import Iterable
from enum import Enum
from typing import Any
from urllib.parse import quote

_FOREVER = "forever"


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"


UNSET = Unset.UNSET
"""Stands for an argument that isn't given, where None is a value."""


def render_json(document: Any) -> bytes:
    """Return the document as UTF-8 JSON.

    Raises:
        ValueError: it holds NaN, an infinity, or half a surrogate pair.
        TypeError: it holds what JSON has no form for.
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()


def drop_none(**fields: Any) -> dict[str, Any]:
    """Return the fields that aren't None."""
    return {name: value for name, value in fields.items() if value is not None}


def drop_unset(**fields: Any) -> dict[str, Any]:
    """Return the fields that are given."""
    return {name: value for name, value in fields.items() if value is not UNSET}


def to_entry_fields(**fields: Any) -> dict[str, Any]:
    """Return the fields of an entry that are given, as the service takes them."""
    named = drop_none(**fields)
    if "tags" in named:
        named["tags"] = to_list(named["tags"])
    if named.get("ttl") == _FOREVER:
        named["ttl"] = None
    return named


def to_list(several: Iterable[str] | None) -> list[str] | None:
    """Return several texts, such as tags; None if they aren't given.

    Raises:
        TypeError: it is one text, whose characters nobody means.
    """
    if isinstance(several, str):
        raise TypeError("give a list of texts, not a text: its characters would be taken for them")
    return None if several is None else list(several)


def join_tags(tags: Iterable[str] | None) -> str | None:
    """Return tags as a query names them; None if there are none.

    Raises:
        ValueError: one holds a comma, and would be taken for two.
    """
    named = to_list(tags)
    if named and any("," in tag for tag in named):
        raise ValueError("a query separates tags by commas, so it can't ask for one that holds one")
    return ",".join(named) if named else None


def quote_segment(name: str) -> str:
    """Return a name as a part of a path."""
    return quote(name, safe="")
