"""Values that can be stored: JSON up to a size."""

import math
from typing import Any

from agent_memory.exceptions import TooLargeError
from agent_memory.requests import render_json

_MOST_BYTES = 4_194_304
_MOST_DEPTH = 150


def fitting(value: Any, what: str) -> Any:
    """Return the value, if it is JSON and not too large.

    Raises:
        TypeError: it isn't JSON.
        TooLargeError: it is too large.
    """
    _assert_json(value, what, _MOST_DEPTH)
    size = len(render_json(value))
    if size > _MOST_BYTES:
        problem = {"max": _MOST_BYTES, "actual": size}
        raise TooLargeError(f"the {what} has {size} bytes; {_MOST_BYTES} fit", problem=problem)
    return value


def _assert_json(value: Any, what: str, levels: int) -> None:
    if isinstance(value, dict | list):
        if levels == 0:
            raise TypeError(f"the {what} is nested more than {_MOST_DEPTH} levels deep")
        for name in value if isinstance(value, dict) else ():
            if not isinstance(name, str):
                raise TypeError(f"the {what} has a key that is {type(name).__name__}, not str")
            _assert_json(name, what, levels)
        for inner in value.values() if isinstance(value, dict) else value:
            _assert_json(inner, what, levels - 1)
    elif not _is_plain(value):
        kind = type(value).__name__
        raise TypeError(f"the {what} holds a {kind} that JSON can't write; store JSON values only")


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return not any("\ud800" <= each <= "\udfff" for each in value)
    return value is None or isinstance(value, bool | int)
