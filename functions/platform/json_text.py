"""Stored JSON text: compact UTF-8, exact in integers, strings and doubles; zlib if smaller."""

import re
import sys
import zlib
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json, to_json

from functions.platform.errors import UnreadableValue, ValidationFailed, ValueTooLarge
from functions.platform.limits import MAX_BODY_CONTAINERS, MAX_DECOMPRESSED_BYTES, MAX_JSON_DEPTH

BEYOND_DOUBLE = "holds NaN or a number beyond the range of a double; send it as a text"
_LARGE_NUMBER = re.compile(rb"\d{309}|[eE]\+?\d{3}")  # only these can exceed a double
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_MARKS = ("type", "id")  # the types of content parts, such as {"type": "text", "text": "Hello"}
_COMPRESS_FROM = 1024  # bytes; below, a value fits its write unit anyway


def dumps(value: Any) -> bytes:
    """Render a value as compact UTF-8 JSON."""
    return to_json(value)


def loads(text: str | bytes) -> Any:
    """Parse JSON. Integers are exact, up to the range of a double."""
    encoded = text if isinstance(text, bytes) else text.encode()
    value = from_json(encoded, allow_inf_nan=False)
    if _LARGE_NUMBER.search(encoded) and not _is_finite(value):
        raise ValueError("the text holds a number beyond the range of a double")
    return value


def find_large_number(text: bytes) -> str | None:
    """Return the member of a JSON object with a number beyond the range of a double.

    None without such a member. The text is valid JSON.
    """
    document = from_json(text) if _LARGE_NUMBER.search(text) else None
    members = document.items() if isinstance(document, dict) else ()
    return next((name for name, value in members if not _is_finite(value)), None)


def dumps_checked(
    value: Any,
    field: str,
    max_bytes: int | None = None,
    hint: str = "",
    *,
    subject: str | None = None,
) -> bytes:
    """Render a caller's value as compact UTF-8 JSON.

    Args:
        field: the name of the value in the request.
        max_bytes: the largest size, if there is one.
        hint: the remedy at the end of the message about the size.
        subject: the beginning of that message; "the <field> has" by default.
    """
    text = to_json(value)
    if max_bytes is not None and len(text) > max_bytes:
        message = f"{subject or f'the {field} has'} {len(text)} bytes{hint}"
        raise ValueTooLarge(message, max=max_bytes, actual=len(text))
    if count_containers(text) > MAX_JSON_DEPTH and _is_deeper(value, MAX_JSON_DEPTH):
        raise ValidationFailed(field, f"is nested more than {MAX_JSON_DEPTH} levels deep")
    is_suspect = b"Infinity" in text or b"NaN" in text or _LARGE_NUMBER.search(text)
    if is_suspect and not _is_finite(value):
        raise ValidationFailed(field, BEYOND_DOUBLE)
    return text


def compress(text: bytes, compress_from: int = _COMPRESS_FROM) -> str | bytes:
    """Compress a text of more than `compress_from` bytes, if that makes it smaller."""
    if len(text) > compress_from:
        compressed = zlib.compress(text)
        if len(compressed) < len(text):
            return compressed
    return text.decode()


def decompress(stored: str | bytes, most: int = MAX_DECOMPRESSED_BYTES) -> bytes:
    """Decompress a text of `compress`, up to a maximum of bytes."""
    if isinstance(stored, str):
        return stored.encode()
    expander = zlib.decompressobj()
    try:
        text = expander.decompress(stored, most)
    except zlib.error as error:
        raise UnreadableValue from error
    if not expander.eof:
        raise UnreadableValue
    return text


def get_escaped_size(text: bytes) -> int:
    """Get the size of a JSON text as a string in the JSON that a function returns."""
    return len(text) + text.count(b'"') + text.count(b"\\")


def count_containers(text: bytes) -> int:
    """Count the arrays and objects of a JSON text; the count is exact only if it is large."""
    count = text.count(b"[") + text.count(b"{")
    if count > MAX_BODY_CONTAINERS:  # brackets in strings don't count
        bare = _STRING.sub(b"", text)
        count = bare.count(b"[") + bare.count(b"{")
    return count


def _is_deeper(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        parts = (each.values() if isinstance(each, dict) else each for each in layer)
        layer = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
    return bool(layer)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, int | float) or abs(value) <= sys.float_info.max


def list_texts(content: Any) -> Iterator[str]:
    """List the texts and numbers of a value, in document order, without its names."""
    match content:
        case dict():
            for name, each in content.items():
                if name not in _MARKS:
                    yield from list_texts(each)
        case list():
            for each in content:
                yield from list_texts(each)
        case None | bool():
            return
        case _:
            yield str(content)
