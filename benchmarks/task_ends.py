"""Costs of the end of a task, by the number of entries in its working memory."""

from collections.abc import Iterator

from benchmarks.capacity import Call, in_sequence
from benchmarks.inprocess import Caller
from benchmarks.rows import Measured
from benchmarks.workload import entry

_TASKS = "/api/v1/tasks"
_INTENT = "intent"
_LIMITS = {0: (3, 12, 1), 1: (6, 26, 4), 25: (6, 128, 28), 100: (9, 451, 105)}
"""The maximum of calls in sequence, of write units and of read units, by number of entries.

Two write units are those of the audit record.
"""
_TRIES = 10  # on a busy machine, a thread can start too late to run in parallel


def operations(admin: Caller) -> Iterator[Measured]:
    """Yield the end of a task by its coordinator, with entries of 1 KB. Raises `RequestError`.

    One more task ends first: with a stream, the events of its entries would have created the log.
    """
    _end_task(admin, "first", 1)
    for entries, limit in _LIMITS.items():
        for number in range(_TRIES):
            calls = _end_task(admin, f"{entries}-{number}", entries)
            if in_sequence(calls) <= limit[0]:
                break
        yield f"end a task of {entries} entries", limit, calls


def _end_task(admin: Caller, name: str, entries: int) -> list[Call]:
    agent, task = admin.function.new_agent(admin, f"worker-{name}"), f"task-{name}"
    admin.send("POST", _TASKS, {"id": task, "intent_id": _INTENT, "assigned_agent": agent.id})
    for number in range(entries):
        new = entry(agent.id, f"key-{number}", "working", ()) | {"scope": {"task_id": task}}
        agent.send("POST", "/api/v1/memory", new)
    return admin.calls("PATCH", f"{_TASKS}/{task}", {"status": "completed"}, if_match="1")
