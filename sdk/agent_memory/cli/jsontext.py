"""Reads JSON exactly, as the service does, or not at all."""

import json
import math
from typing import Any, NoReturn

BOM = b"\xef\xbb\xbf"  # some programs put it before UTF-8


def parse_json(text: str | bytes) -> Any:
    """Return a JSON text's document.

    Raises:
        ValueError: it is no JSON, or can't be kept exactly: NaN, a number beyond a double, an
            integer of more than 4,300 digits, a name twice in one object, half a surrogate pair.
    """
    if isinstance(text, bytes):
        text = decode_utf8(text)
    try:
        document = json.loads(
            text, parse_float=_float, parse_constant=_constant, object_pairs_hook=_object
        )
        json.dumps(document, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at {_place(error)}") from error
    except UnicodeEncodeError as error:
        raise ValueError("a text holds half of a surrogate pair") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return document


def decode_utf8(text: bytes) -> str:
    """Decode UTF-8.

    Raises:
        ValueError: it is no UTF-8; the message has the position.
    """
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} isn't UTF-8") from error


def _place(error: json.JSONDecodeError) -> str:
    place = f"column {error.colno}"
    return place if error.lineno == 1 else f"line {error.lineno}, {place}"


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is beyond the range of a double")
    return number


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object has a name twice")
    return members
