"""Count the functions and files of a request that a reader has to follow."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks import inprocess
from benchmarks.capacity import recorded
from benchmarks.tables import text_table
from functions.platform.parallel import run_parallel

_MOST_OF_PATCH, _MOST_OF_CREATE, _MOST_OF_END = (60, 22), (100, 30), (130, 35)
"""The most functions and files of a flow in the thread of its request."""
MOST_END_CALLS = 7  # DynamoDB calls for the end of a task with 25 entries
_MEMORY = "/api/v1/memory"
_FUNCTIONS = f"{Path(__file__).parents[1] / 'functions'}/"
_Request = Callable[[], object]
_Passed = Counter[tuple[str, str]]  # how often each function of a file was called


@dataclass(slots=True)
class Trace:
    """The functions that a request passed, with their limits, and the DynamoDB calls it made.

    Attributes:
        functions: of the request's thread.
        all_functions: of the threads of the pool, too.
    """

    flow: str
    most_functions: int
    most_files: int
    dynamodb_calls: int = 0
    functions: _Passed = field(default_factory=Counter)
    all_functions: _Passed = field(default_factory=Counter)

    @property
    def files(self) -> set[str]:
        """Return the files of the functions."""
        return {file for file, _ in self.functions}


def measure() -> list[Trace]:
    """Trace each flow, after one untraced request of its kind."""
    with inprocess.function() as function:
        admin = function.new_tenant("trace")
        return [
            _trace(admin, "PATCH of a value", _MOST_OF_PATCH, _patch(admin)),
            _trace(admin, "create semantic", _MOST_OF_CREATE, _create_semantic(admin)),
            _trace(admin, "end of a task, 25 entries", _MOST_OF_END, _end_task(admin)),
        ]


def _patch(admin: inprocess.Caller) -> Iterator[_Request]:
    target = f"{_MEMORY}/{admin.send('POST', _MEMORY, _entry('patched', 'working'))['id']}"
    for version in (1, 2, 3):
        change = {"value": {"n": version}}
        yield _prepare(admin, "PATCH", target, change, if_match=str(version))


def _create_semantic(admin: inprocess.Caller) -> Iterator[_Request]:
    for key in ("warm", "traced", "pooled"):
        yield _prepare(admin, "POST", _MEMORY, _entry(key, "semantic"))


def _end_task(admin: inprocess.Caller) -> Iterator[_Request]:
    for task in ("warm", "traced", "pooled"):
        body = {"id": task, "intent_id": "intent", "assigned_agent": admin.id}
        admin.send("POST", "/api/v1/tasks", body)
        for number in range(25):
            made = _entry(f"{task}{number}", "working") | {"scope": {"task_id": task}}
            admin.send("POST", _MEMORY, made)
        target, ends = f"/api/v1/tasks/{task}", {"status": "completed"}
        yield _prepare(admin, "PATCH", target, ends, if_match="1")


def _entry(key: str, memory_type: str) -> dict[str, Any]:
    place = {"namespace": "trace", "key": key, "memory_type": memory_type}
    return place | {"value": {"number": 1}, "tags": ["trace"]}


def _prepare(
    caller: inprocess.Caller, method: str, target: str, body: object, **headers: str
) -> _Request:
    event = inprocess.request_event(method, target, caller.key, body, **headers)
    return partial(caller.function.send, event)


def _trace(
    caller: inprocess.Caller, flow: str, most: tuple[int, int], requests: Iterator[_Request]
) -> Trace:
    trace = Trace(flow, *most)
    warm, traced, pooled = requests
    warm()
    with recorded(caller.function.client) as calls:
        _profile(trace.functions, traced)
    trace.dynamodb_calls = len(calls)
    # Nested calls of the pool run in its own thread, so all of them are traced.
    together: list[_Request] = [partial(_profile, trace.all_functions, pooled), list]
    run_parallel(together)
    return trace


def _profile(passed: _Passed, request: _Request) -> None:
    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and _is_deployed(code.co_filename) and "<" not in code.co_name:
            passed[code.co_filename, code.co_qualname] += 1

    sys.setprofile(note)
    try:
        request()
    finally:
        sys.setprofile(None)


def _is_deployed(file: str) -> bool:
    return file.startswith(_FUNCTIONS) and not file.startswith(f"{_FUNCTIONS}local/")


def as_text(traces: list[Trace]) -> str:
    """Render the table."""
    heads = ("flow", "calls", "functions", "files", "with the pool's", "DynamoDB calls")
    figures = (
        (
            t.functions.total(),
            len(t.functions),
            len(t.files),
            len(t.all_functions),
            t.dynamodb_calls,
        )
        for t in traces
    )
    rows = [[t.flow, *map(str, each)] for t, each in zip(traces, figures, strict=True)]
    return text_table(heads, rows)
