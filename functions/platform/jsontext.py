"""JSON text as it is stored: compact UTF-8, exact in its integers, strings and doubles."""

import math
from typing import Any

from pydantic_core import to_json

from functions.platform.errors import ValidationFailed


def compact_json(value: Any, field: str) -> bytes:
    """`value` as compact UTF-8 JSON.

    Raises:
        ValidationFailed: it holds a number that JSON can't write: NaN, or beyond a double.
    """
    text = to_json(value)
    if (b"Infinity" in text or b"NaN" in text) and not _finite(value):
        raise ValidationFailed(field, "holds NaN, or a number beyond the range of a double")
    return text


def _finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
