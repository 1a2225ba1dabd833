"""What procedures and instances' working values cost."""

from collections.abc import Callable, Iterator

from benchmarks.capacity import Call
from benchmarks.inprocess import Function
from benchmarks.memories import Measured

_PROCEDURE = "/api/v1/procedures/sdr/outreach"
_WORKING = "/api/v1/instances/sdr-1/working"
_SPEC = {"steps": "x" * 600}
_WORKFLOWS = 20


def operations(running: Function, key: str) -> Iterator[Measured]:
    """Every operation. Raises `RequestError`."""

    def call(method: str, target: str, body: object = None, **headers: str) -> list[Call]:
        return running.call(method, target, key, body, **headers).calls

    first = call("PUT", f"{_PROCEDURE}/first", {"spec": _SPEC})
    yield "put workflow, the first of an agent type in a day", (3, 5, 1), first
    yield "put workflow", (2, 4, 1), call("PUT", f"{_PROCEDURE}/roi", {"spec": _SPEC})
    yield "put workflow, the same", (1, 0, 1), call("PUT", f"{_PROCEDURE}/roi", {"spec": _SPEC})
    outcome = f"{_PROCEDURE}/roi/outcome"
    yield "report outcome", (1, 1, 0), call("POST", outcome, {"score": 1})
    once = call("POST", outcome, {"score": 1}, idempotency_key="once")
    yield "report outcome, with Idempotency-Key", (2, 4, 1), once
    fading = {"spec": _SPEC, "half_life": "duration:P7D"}
    call("PUT", f"{_PROCEDURE}/fading", fading)
    fades = call("POST", f"{_PROCEDURE}/fading/outcome", {"score": 1})
    yield "report outcome, with half-life", (2, 2, 0), fades
    for number in range(_WORKFLOWS - 3):
        call("PUT", f"{_PROCEDURE}/{number}", {"spec": _SPEC})
    yield f"select of {_WORKFLOWS}", (1, 0, 5), call("POST", f"{_PROCEDURE}/select")
    yield from _values(call)


def _values(call: Callable[..., list[Call]]) -> Iterator[Measured]:
    call("PUT", f"{_WORKING}/draft", {"value": "x" * 500})
    yield "put working value", (2, 1, 1), call("PUT", f"{_WORKING}/contact", {"value": 123456})
    yield "get working value", (1, 0, 1), call("GET", f"{_WORKING}/contact")
    yield "get all working values", (1, 0, 1), call("GET", _WORKING)
    yield "delete working value", (2, 1, 1), call("DELETE", f"{_WORKING}/contact")
