"""What the end of a task costs, by the number of entries in its working memory."""

from collections.abc import Iterator

from benchmarks.capacity import Call, in_sequence
from benchmarks.inprocess import Function
from benchmarks.memories import Measured
from benchmarks.workload import entry

_TASKS = "/api/v1/tasks"
_INTENT = "intent"
_LIMITS = {0: (4, 10, 2), 1: (7, 24, 5), 25: (7, 126, 29), 100: (10, 449, 105.5)}
"""By entries: calls in sequence (6, and 1 for each 25), write and read units; 2 write units are of
the audit record."""
_TRIES = 10  # on a busy machine a thread may start too late to run beside another


def operations(function: Function, key: str) -> Iterator[Measured]:
    """The end of a task by its coordinator, with entries of 1 KB. Raises `RequestError`.

    One task ends before: where a stream runs, the entries' own events have begun the log.
    """
    _end_task(function, key, "first", 1)
    for entries, limit in _LIMITS.items():
        for number in range(_TRIES):
            calls = _end_task(function, key, f"{entries}-{number}", entries)
            if in_sequence(calls) <= limit[0]:
                break
        yield f"end a task of {entries} entries", limit, calls


def _end_task(function: Function, key: str, name: str, entries: int) -> list[Call]:
    agent, task_id = f"worker-{name}", f"task-{name}"
    principal = {"id": agent, "kind": "agent"}
    agent_key = function.call("POST", "/api/v1/principals", key, principal).body["api_key"]
    task = {"id": task_id, "intent_id": _INTENT, "assigned_agent": agent}
    function.call("POST", _TASKS, key, task)
    for number in range(entries):
        new = entry(agent, f"key-{number}", "working", ()) | {"scope": {"task_id": task_id}}
        function.call("POST", "/api/v1/memory", agent_key, new)
    change = {"status": "completed"}
    return function.call("PATCH", f"{_TASKS}/{task_id}", key, change, if_match="1").calls
