"""JSON text as it is stored: compact UTF-8, exact in its integers, strings and doubles."""

import math
from typing import Any

from functions.platform.errors import ValidationFailed, ValueTooLarge
from functions.platform.limits import MAX_JSON_DEPTH


def exact_text(value: Any) -> bytes:
    """`value` as compact UTF-8 JSON; integers of any size."""
    from pydantic_core import to_json  # noqa: PLC0415 - 25 ms, and most cold starts read values only

    return to_json(value)


def exact_value(text: str | bytes) -> Any:
    """What compact JSON says; integers of any size."""
    from pydantic_core import from_json  # noqa: PLC0415 - as above

    return from_json(text)


def compact_json(value: Any, field: str) -> bytes:
    """`value` as compact UTF-8 JSON.

    Raises:
        ValidationFailed: it is nested too deeply, or holds a number that JSON can't write: NaN, or
            beyond a double.
    """
    text = exact_text(value)
    if text.count(b"[") + text.count(b"{") > MAX_JSON_DEPTH and _deeper(value, MAX_JSON_DEPTH):
        raise ValidationFailed(field, f"is nested more than {MAX_JSON_DEPTH} levels deep")
    if (b"Infinity" in text or b"NaN" in text) and not _finite(value):
        raise ValidationFailed(field, "holds NaN, or a number beyond the range of a double")
    return text


def bounded_json(
    value: Any, field: str, most: int, hint: str = "", *, said: str | None = None
) -> bytes:
    """`value` as compact UTF-8 JSON of at most `most` bytes.

    Args:
        hint: what to do instead; stands after the size.
        said: what stands before the size, "the <field> has" unless told.

    Raises:
        ValueTooLarge: it has more.
        ValidationFailed: as `compact_json`.
    """
    text = compact_json(value, field)
    if len(text) > most:
        message = f"{said or f'the {field} has'} {len(text)} bytes{hint}"
        raise ValueTooLarge(message, max=most, actual=len(text))
    return text


def _deeper(value: Any, levels: int) -> bool:
    """Whether a value is nested more than so many levels deep."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(each, levels - 1) for each in inner)


def payload_size(text: bytes) -> int:
    """How long a JSON text is inside the JSON in which a function hands it over."""
    return len(text) + text.count(b'"') + text.count(b"\\")


def _finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
