"""Costs of objects of 1 KB."""

from collections.abc import Iterator

from benchmarks.inprocess import Caller
from benchmarks.memories import Measured

_SPACE = "/api/v1/objects/bench"
_BODY = {"text": "x" * 700}


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    caller.calls("PUT", f"{_SPACE}/first", _BODY)
    yield "put new object", (3, 4, 3), caller.calls("PUT", f"{_SPACE}/k", _BODY)
    yield "put object of the same size", (2, 4, 2), caller.calls("PUT", f"{_SPACE}/k", _BODY)
    yield "read an object", (1, 0, 2), caller.calls("POST", f"{_SPACE}/read", {"keys": ["k"]})
    yield "list 2 objects", (2, 0, 2), caller.calls("GET", _SPACE)
    yield "delete object", (2, 4, 2), caller.calls("DELETE", f"{_SPACE}/k")
