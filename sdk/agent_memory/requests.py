"""Render requests: their body, fields and the parts of the path."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from enum import Enum
from typing import Any
from urllib.parse import quote

from agent_memory.model import EntryFields, Model

_OTHER_NAMES = {  # names in other memory libraries
    "k": "top_k",
    "limit": "top_k",
    "threshold": "min_score",
    "user": "user_id",
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"


UNSET = Unset.UNSET
"""The default of arguments for which None is a value."""


def render_json(document: Any) -> bytes:
    """Return the document as UTF-8 JSON; a model in it becomes its original document.

    Raises:
        ValueError: it holds NaN, an infinity, or half a surrogate pair.
        TypeError: it holds a value that JSON can't represent.
    """
    text = json.dumps(
        document,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
        default=_to_document,
    )
    return text.encode()


def _to_document(thing: object) -> dict[str, Any]:
    if isinstance(thing, Model):
        return dict(thing.raw)
    raise TypeError(f"JSON has no form for {type(thing).__name__}")


def drop_none(**fields: Any) -> dict[str, Any]:
    """Return the fields that aren't None."""
    return {name: value for name, value in fields.items() if value is not None}


def drop_unset(**fields: Any) -> dict[str, Any]:
    """Return the fields that are given."""
    return {name: value for name, value in fields.items() if value is not UNSET}


def to_entry_fields(value: Any, fields: EntryFields) -> dict[str, Any]:
    """Return an entry's value and the given fields, in the form of the service.

    Raises:
        TypeError: raised when the value is no JSON object, or a field isn't one of an entry's.
    """
    if not isinstance(value, Mapping):
        raise TypeError(
            f"the value of an entry must be a dict, not {type(value).__name__}; wrap it, such as "
            '{"text": ...}, or use client.remember(text)'
        )
    assert_known(fields, EntryFields)
    given: dict[str, Any] = {**fields}
    if "tags" in given:
        given["tags"] = to_list(given["tags"])
    if "vector" in given:
        given["vector"] = to_numbers(given["vector"])
    for name in given.keys() & {"ttl", "expires_at", "occurred_at"}:
        given[name] = render_time(given[name])
    return {"value": dict(value), **given}


def to_numbers(vector: Iterable[float] | None) -> list[float] | None:
    """Return the numbers of a vector, including numpy's, for JSON."""
    return None if vector is None else [float(each) for each in vector]


def assert_known(fields: Mapping[str, Any], kind: type, *others: str) -> None:
    """Check that the keywords of a call are fields of this `TypedDict`, or the call's other ones.

    Raises:
        TypeError: raised when a keyword is unknown.
    """
    unknown = [name for name in fields if name not in kind.__annotations__]
    if unknown:
        known = [*kind.__annotations__, *others]
        near = [_OTHER_NAMES.get(unknown[0]), *get_close_matches(unknown[0], known, n=1)]
        hint = next((f"; use {each!r}" for each in near if each in known), "")
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}{hint}")


def render_time(time: Any) -> Any:
    """Return a moment as RFC 3339 in UTC, a duration as seconds, other values unchanged.

    Raises:
        ValueError: raised when a moment has no time zone.
    """
    if isinstance(time, timedelta):
        seconds = time.total_seconds()
        return int(seconds) if seconds.is_integer() else seconds
    if not isinstance(time, datetime):
        return time
    if time.tzinfo is None:
        raise ValueError("give a datetime with a time zone: datetime.now(timezone.utc)")
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def render_moment(time: date | str) -> Any:
    """Return a moment as RFC 3339; a day becomes its first moment in UTC.

    Raises:
        ValueError: raised when a moment has no time zone.
    """
    if isinstance(time, datetime):
        return render_time(time)
    day = str(time)
    return f"{day}T00:00:00Z" if _DAY.fullmatch(day) else time


def join_scope(
    scope: Mapping[str, str] | None, task_id: str | None, intent_id: str | None
) -> dict[str, str]:
    """Return the scope of a call, given by `scope` or by its members.

    Raises:
        TypeError: raised when the two contradict each other.
    """
    named: dict[str, str] = drop_none(task_id=task_id, intent_id=intent_id)
    for name, id in (scope or {}).items():
        if named.setdefault(name, id) != id:
            raise TypeError(f"scope and {name} name different ids")
    return named


def to_list(several: Iterable[str] | None) -> list[str] | None:
    """Return several texts, such as tags; None if they aren't given.

    Raises:
        TypeError: it is one text, not several.
    """
    if isinstance(several, str):
        raise TypeError(
            "give a list of texts, not one text, whose characters would be the elements"
        )
    return None if several is None else list(several)


def to_bytes(data: bytes | bytearray | memoryview) -> bytes:
    """Return the bytes of an object.

    Raises:
        TypeError: they are no bytes, such as a text, which must be encoded.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(
            f"the data of an object must be bytes, not {type(data).__name__}: encode them"
        )
    return bytes(data)


def join_tags(tags: Iterable[str] | None) -> str | None:
    """Return tags in the form of a query; None without tags.

    Raises:
        ValueError: one holds a comma, and would become two.
    """
    named = to_list(tags)
    if named and any("," in tag for tag in named):
        raise ValueError("a tag in a query must not contain a comma, which separates tags")
    return ",".join(named) if named else None


def expect_own(user_id: str | None, *, join: bool) -> dict[str, Any]:
    """Return the expectations of an append, unless it joins another principal's conversation."""
    return {} if join else {"expect_trusted": True, "expect_user_id": user_id}


def quote_segment(name: str) -> str:
    """Return a name as a part of a path, with `.` and `..` encoded."""
    if not name:
        raise ValueError("a name or an id must have at least one character")
    quoted = quote(name, safe="")
    return quoted.replace(".", "%2E") if quoted in {".", ".."} else quoted
