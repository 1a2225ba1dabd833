"""Count the functions and files that a request passes, which a reader has to follow."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks import inprocess
from benchmarks.capacity import recorded
from benchmarks.tables import text_table

_MOST_OF_PATCH, _MOST_OF_CREATE, _MOST_OF_END = (60, 22), (104, 30), (148, 35)
"""The most functions and files of a flow."""
MOST_END_CALLS = 7  # DynamoDB calls for the end of a task with 25 entries
_MEMORY = "/api/v1/memory"
_FUNCTIONS = f"{Path(__file__).parents[1] / 'functions'}/"


@dataclass(slots=True)
class Trace:
    """The functions that a request passed, with their limits, and the DynamoDB calls it made."""

    flow: str
    most_functions: int = 0
    most_files: int = 0
    calls: int = 0
    dynamodb_calls: int = 0
    functions: set[tuple[str, str]] = field(default_factory=set)

    @property
    def files(self) -> set[str]:
        """Return the files of the functions."""
        return {file for file, _ in self.functions}


def measure() -> list[Trace]:
    """Trace each flow once, after one untraced request of its kind."""
    with inprocess.function() as function:
        admin = function.new_tenant("trace")
        return [_patch(admin), _create_semantic(admin), _end_task(admin)]


def _patch(admin: inprocess.Caller) -> Trace:
    target = f"{_MEMORY}/{admin.send('POST', _MEMORY, _entry('patched', 'working'))['id']}"
    for version in (1, 2):
        change = {"value": {"n": version}}
        trace = _trace("PATCH of a value", admin, "PATCH", target, change, if_match=str(version))
    trace.most_functions, trace.most_files = _MOST_OF_PATCH
    return trace


def _create_semantic(admin: inprocess.Caller) -> Trace:
    for key in ("warm", "traced"):
        trace = _trace("create semantic", admin, "POST", _MEMORY, _entry(key, "semantic"))
    trace.most_functions, trace.most_files = _MOST_OF_CREATE
    return trace


def _end_task(admin: inprocess.Caller) -> Trace:
    for task in ("warm", "traced"):
        body = {"id": task, "intent_id": "intent", "assigned_agent": admin.id}
        admin.send("POST", "/api/v1/tasks", body)
        for number in range(25):
            made = _entry(f"{task}{number}", "working") | {"scope": {"task_id": task}}
            admin.send("POST", _MEMORY, made)
        target, ends = f"/api/v1/tasks/{task}", {"status": "completed"}
        trace = _trace("end of a task, 25 entries", admin, "PATCH", target, ends, if_match="1")
    trace.most_functions, trace.most_files = _MOST_OF_END
    return trace


def _entry(key: str, memory_type: str) -> dict[str, Any]:
    place = {"namespace": "trace", "key": key, "memory_type": memory_type}
    return place | {"value": {"number": 1}, "tags": ["trace"]}


def _trace(
    flow: str, caller: inprocess.Caller, method: str, target: str, body: object, **headers: str
) -> Trace:
    event = inprocess.request_event(method, target, caller.key, body, **headers)
    trace = Trace(flow)
    with recorded(caller.function.client) as calls, _profiled(trace):
        caller.function.send(event)
    trace.dynamodb_calls = len(calls)
    return trace


@contextmanager
def _profiled(trace: Trace) -> Iterator[None]:
    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and _is_deployed(code.co_filename) and "<" not in code.co_name:
            trace.calls += 1
            trace.functions.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def _is_deployed(file: str) -> bool:
    return file.startswith(_FUNCTIONS) and not file.startswith(f"{_FUNCTIONS}local/")


def as_text(traces: list[Trace]) -> str:
    """Render the table."""
    rows = [
        [t.flow, str(t.calls), str(len(t.functions)), str(len(t.files)), str(t.dynamodb_calls)]
        for t in traces
    ]
    return text_table(("flow", "calls", "functions", "files", "DynamoDB calls"), rows)
