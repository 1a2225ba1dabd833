"""Count the functions and files of ours that a request passes: what a reader has to follow."""

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

MOST_FUNCTIONS, MOST_FILES = 60, 22  # of a PATCH of a value
MOST_END_CALLS = 7  # of DynamoDB, for the end of a task with 25 entries
_FUNCTIONS = f"{Path(__file__).parents[1] / 'functions'}/"


@dataclass(slots=True)
class Trace:
    """The functions that a request passed, with their limits, and the DynamoDB calls it made."""

    flow: str
    most_functions: int | None = None
    most_files: int | None = None
    calls: int = 0
    dynamodb_calls: int = 0
    functions: set[tuple[str, str]] = field(default_factory=set)

    @property
    def files(self) -> set[str]:
        """The files of the functions."""
        return {file for file, _ in self.functions}


def measure() -> list[Trace]:
    """Trace each flow once, after one untraced request of its kind."""
    with inprocess.function() as function:
        admin = function.new_tenant("trace")
        flows = (_patch, _create_at_capacity, _end_task)
        return [trace for flow in flows for trace in [flow(admin)]]


def _patch(admin: inprocess.Caller) -> Trace:
    made = admin.send("POST", "/api/v1/memory", _entry(1))
    target = f"/api/v1/memory/{made['id']}"
    for version in (1, 2):
        trace = _traced(
            "PATCH of a value", admin, "PATCH", target, {"value": {"n": version}}, str(version)
        )
    trace.most_functions, trace.most_files = MOST_FUNCTIONS, MOST_FILES
    return trace


def _create_at_capacity(admin: inprocess.Caller) -> Trace:
    agent = admin.function.new_agent(admin, "full")
    config = {"episodic": {"capacity": 3}}
    admin.send("PATCH", "/api/v1/agents/full/memory/config", config)
    for number in range(3):
        agent.send("POST", "/api/v1/memory", _episode(number))
    return _traced("create at capacity", agent, "POST", "/api/v1/memory", _episode(3))


def _end_task(admin: inprocess.Caller) -> Trace:
    for name in ("warm", "task"):
        task = {"id": name, "intent_id": "intent", "assigned_agent": admin.id}
        admin.send("POST", "/api/v1/tasks", task)
        for number in range(25):
            admin.send(
                "POST",
                "/api/v1/memory",
                _entry(number) | {"key": f"{name}{number}", "scope": {"task_id": name}},
            )
        trace = _traced(
            "end of a task, 25 entries",
            admin,
            "PATCH",
            f"/api/v1/tasks/{name}",
            {"status": "completed"},
            "1",
        )
    return trace


def _entry(number: int) -> dict[str, Any]:
    return {
        "namespace": "trace",
        "key": f"key-{number}",
        "memory_type": "working",
        "value": {"number": number},
        "tags": ["trace"],
    }


def _episode(number: int) -> dict[str, Any]:
    return {
        "namespace": "trace",
        "key": f"episode-{number}",
        "memory_type": "episodic",
        "value": {"number": number},
    }


def _traced(
    flow: str,
    caller: inprocess.Caller,
    method: str,
    target: str,
    body: object,
    if_match: str | None = None,
) -> Trace:
    headers = {} if if_match is None else {"if_match": if_match}
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


def as_data(traces: list[Trace]) -> object:
    """The counts, ready for JSON."""
    return [
        {
            "flow": trace.flow,
            "calls": trace.calls,
            "functions": len(trace.functions),
            "files": len(trace.files),
            "dynamodb_calls": trace.dynamodb_calls,
        }
        for trace in traces
    ]


def as_text(traces: list[Trace]) -> str:
    """The traces as a table."""
    rows = [
        [t.flow, str(t.calls), str(len(t.functions)), str(len(t.files)), str(t.dynamodb_calls)]
        for t in traces
    ]
    return text_table(("flow", "calls", "functions", "files", "DynamoDB calls"), rows)
