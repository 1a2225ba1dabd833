"""What objects of 1 KB cost."""

from collections.abc import Iterator

from benchmarks.capacity import Call
from benchmarks.inprocess import Function
from benchmarks.memories import Measured

_SPACE = "/api/v1/objects/bench"
_BODY = {"text": "x" * 700}


def operations(running: Function, key: str) -> Iterator[Measured]:
    """Every operation. Raises `RequestError`."""

    def call(method: str, target: str, body: object = None) -> list[Call]:
        return running.call(method, target, key, body).calls

    call("PUT", f"{_SPACE}/first", _BODY)
    yield "put new object", (3, 4, 3), call("PUT", f"{_SPACE}/k", _BODY)
    yield "put object of the same size", (2, 4, 2), call("PUT", f"{_SPACE}/k", _BODY)
    yield "read an object", (1, 0, 2), call("POST", f"{_SPACE}/read", {"keys": ["k"]})
    yield "list 2 objects", (2, 0, 2), call("GET", _SPACE)
    yield "delete object", (2, 4, 2), call("DELETE", f"{_SPACE}/k")
