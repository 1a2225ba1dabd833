"""Costs of procedures and of working values."""

from collections.abc import Iterator

from benchmarks.inprocess import Caller
from benchmarks.memories import Measured

_PROCEDURE = "/api/v1/procedures/sdr/outreach"
_WORKING = "/api/v1/instances/sdr-1/working"
_SPEC = {"steps": "x" * 600}
_WORKFLOWS = 20


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    first = caller.calls("PUT", f"{_PROCEDURE}/first", {"spec": _SPEC})
    yield "put workflow, the first of an agent type in a day", (3, 5, 1), first
    yield "put workflow", (2, 4, 1), caller.calls("PUT", f"{_PROCEDURE}/roi", {"spec": _SPEC})
    yield (
        "put workflow, the same",
        (1, 0, 1),
        caller.calls("PUT", f"{_PROCEDURE}/roi", {"spec": _SPEC}),
    )
    outcome = f"{_PROCEDURE}/roi/outcome"
    yield "report outcome", (1, 1, 0), caller.calls("POST", outcome, {"score": 1})
    once = caller.calls("POST", outcome, {"score": 1}, idempotency_key="once")
    yield "report outcome, with Idempotency-Key", (2, 4, 1), once
    fading = {"spec": _SPEC, "half_life": "duration:P7D"}
    caller.calls("PUT", f"{_PROCEDURE}/fading", fading)
    fades = caller.calls("POST", f"{_PROCEDURE}/fading/outcome", {"score": 1})
    yield "report outcome, with half-life", (2, 2, 0), fades
    for number in range(_WORKFLOWS - 3):
        caller.calls("PUT", f"{_PROCEDURE}/{number}", {"spec": _SPEC})
    yield f"select of {_WORKFLOWS}", (1, 0, 5), caller.calls("POST", f"{_PROCEDURE}/select")
    yield from _values(caller)


def _values(caller: Caller) -> Iterator[Measured]:
    caller.calls("PUT", f"{_WORKING}/draft", {"value": "x" * 500})
    yield (
        "put working value",
        (2, 1, 1),
        caller.calls("PUT", f"{_WORKING}/contact", {"value": 123456}),
    )
    yield "get working value", (1, 0, 1), caller.calls("GET", f"{_WORKING}/contact")
    yield "get all working values", (1, 0, 1), caller.calls("GET", _WORKING)
    yield "delete working value", (2, 1, 1), caller.calls("DELETE", f"{_WORKING}/contact")
