"""Costs of runs and episodes; an append is one write, and one read that detects deleted runs."""

from collections.abc import Iterator
from random import Random

from benchmarks.inprocess import Caller
from benchmarks.memories import Measured

_RUNS = "/api/v1/runs"
_RECALLED = 10


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    started = caller.call("POST", _RUNS, {"agent_type": "sdr", "input": "x" * 500})
    yield "start run, the first of its type", (2, 2, 0), started.calls
    run = f"{_RUNS}/{started.body['id']}"
    caller.calls(
        "POST", f"{run}/episodes", _content(1)
    )  # the tenant's count is looked up once a minute
    yield "append episode", (2, 1, 1), caller.calls("POST", f"{run}/episodes", _content(1))
    once = caller.calls("POST", f"{run}/episodes", _content(1), idempotency_key="once")
    yield "append episode, with Idempotency-Key", (2, 1, 1), once
    yield (
        "append episode of 10 KB",
        (2, 10, 1),
        caller.calls("POST", f"{run}/episodes", _content(10)),
    )
    for _ in range(_RECALLED + 1):
        caller.calls("POST", f"{run}/episodes", _content(1))
    recall = caller.calls("GET", f"/api/v1/episodes?agent_type=sdr&limit={_RECALLED}")
    yield f"recall the last {_RECALLED}", (1, 0, 2), recall
    yield "complete run", (2, 2, 1), caller.calls("POST", f"{run}/complete", {"output": "x" * 500})


def _content(kb: int) -> dict[str, object]:
    """Build the body of an episode whose item has this size; its text hardly compresses."""
    noise = Random(kb)  # noqa: S311 - the same figures each time
    return {"content": "".join(chr(noise.randrange(0x4E00, 0x9FA5)) for _ in range(kb * 341 - 130))}
