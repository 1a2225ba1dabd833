"""Costs of conversations, states, runs, memories, objects, procedures, values, ends of tasks.

A row is a request: name, limits of calls in sequence, write units and read units, method, path,
body, Idempotency-Key. A request without a name prepares the ones that follow.
"""

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from benchmarks.capacity import Call, in_sequence
from benchmarks.inprocess import Caller
from benchmarks.workload import entry

Limits = tuple[int, float, float]
Measured = tuple[str, Limits, list[Call]]
"""Name; the maximum of calls in sequence, of write units and of read units; the calls."""
_LONG, _AT_ONCE, _MATCHES, _LATER, _WORKFLOWS = 500, 50, 10, 100, 20
_NONE = (0, 0, 0)
_MESSAGE = {"role": "user", "content": "x" * 800}
_TURN = [
    {"role": "user", "content": "When does order 42 arrive? I need it this week."},
    {"role": "assistant", "content": "We promise delivery of order 42 by Friday."},
]
_QUESTION = {"query": "What did we promise about order 42?", "user_id": "user_1"}
_SPEC = {"spec": {"steps": "x" * 600}}
_SECRETS = [{"label": "key", "value": "sk-12345678"}]
_ENTRY = {"content": "x" * 800, "tags": ["billing"]}
_RECALL, _RUNS, _OBJECTS = "/api/v1/recall", "/api/v1/runs", "/api/v1/objects/bench"
_TALK, _STATE = "/api/v1/conversations/long", "/api/v1/agents/admin/state/user_1/k"
_SAY, _MIDDLE = f"{_TALK}/messages", f"page of 10 in the middle of {_LONG}"
_FLOW, _WORKING = "/api/v1/procedures/sdr/outreach", "/api/v1/instances/sdr-1/working"
_TALKS = "/api/v1/users/user_1/conversations"

# fmt: off
_TALK_ROWS: tuple[tuple[Any, ...], ...] = (
    ("store conversation", (3, 10, 2), "PUT", _TALK, {"user_id": "user_1"}),
    ("append", (2, 8, 1), "POST", _SAY, _MESSAGE),
    *[("", _NONE, "POST", _SAY, {"messages": [_MESSAGE] * _AT_ONCE})] * (_LONG // _AT_ONCE),
    (f"append after {_LONG}", (2, 8, 1), "POST", _SAY, _MESSAGE),
    ("append, with Idempotency-Key", (2, 10, 1), "POST", _SAY, _MESSAGE, "once"),
    ("", _NONE, "POST", _RECALL, _QUESTION),  # later ones read only what is new
    ("append a turn of two messages", (2, 12, 1), "POST", _SAY, {"messages": _TURN}, "turn"),
    ("recall about a user, ten items", (7, 0, 6), "POST", _RECALL, _QUESTION),
    (_MIDDLE, (2, 0, 5), "GET", f"{_TALK}?offset={_LONG // 2}&limit=10"),
    ("list a user's conversations", (3, 0, 4), "GET", _TALKS),
    # the first state for a person writes a row, by which forgetting finds it
    ("put state", (3, 2, 1), "PUT", _STATE, {"value": 1}),
    ("get state", (1, 0, 1), "GET", _STATE),
    ("", _NONE, "PUT", f"{_OBJECTS}/first", {"text": "x" * 700}),
    ("put object", (2, 1, 2), "PUT", f"{_OBJECTS}/k", {"text": "x" * 700}),
    ("read an object", (1, 0, 2), "POST", f"{_OBJECTS}/read", {"keys": ["k"]}),
    ("list 2 objects", (2, 0, 2), "GET", _OBJECTS),
    ("delete object", (2, 2, 2), "DELETE", f"{_OBJECTS}/k"),
)
_FLOW_ROWS: tuple[tuple[Any, ...], ...] = (
    ("put workflow, the first of an agent type in a day", (3, 5, 1), "PUT", f"{_FLOW}/1", _SPEC),
    ("put workflow", (2, 4, 1), "PUT", f"{_FLOW}/roi", _SPEC),
    ("put workflow, the same", (1, 0, 1), "PUT", f"{_FLOW}/roi", _SPEC),
    ("report outcome", (1, 1, 0), "POST", f"{_FLOW}/roi/outcome", {"score": 1}),
    ("report outcome, with Idempotency-Key", (2, 4, 1), "POST", f"{_FLOW}/roi/outcome",
        {"score": 1}, "once"),
    ("", _NONE, "PUT", f"{_FLOW}/fading", _SPEC | {"half_life": "duration:P7D"}),
    ("report outcome, with half-life", (2, 2, 0), "POST", f"{_FLOW}/fading/outcome", {"score": 1}),
    *(("", _NONE, "PUT", f"{_FLOW}/more-{number}", _SPEC) for number in range(_WORKFLOWS - 3)),
    (f"select of {_WORKFLOWS}", (1, 0, 5), "POST", f"{_FLOW}/select"),
    ("", _NONE, "PUT", f"{_WORKING}/draft", {"value": "x" * 500}),
    ("put working value", (2, 1, 1), "PUT", f"{_WORKING}/contact", {"value": 123456}),
    ("get working value", (1, 0, 1), "GET", f"{_WORKING}/contact"),
    ("get all working values", (1, 0, 1), "GET", _WORKING),
    ("delete working value", (2, 1, 1), "DELETE", f"{_WORKING}/contact"),
)
# fmt: on


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    yield from _remember(caller)
    yield from _send(caller, _TALK_ROWS)
    yield from _run(caller)
    yield from _send(caller, _FLOW_ROWS)
    yield from _end_tasks(caller)


def _send(caller: Caller, rows: Iterable[tuple[Any, ...]]) -> Iterator[Measured]:
    for name, limit, method, path, *rest in rows:
        key = {"idempotency_key": rest[1]} if len(rest) > 1 else {}
        calls = caller.calls(method, path, rest[0] if rest else None, **key)
        if name:
            yield name, limit, calls


def _run(caller: Caller) -> Iterator[Measured]:
    """Keep a run; an append is one write, and one read that detects deleted runs."""
    started = caller.call("POST", _RUNS, {"agent_type": "sdr", "input": "x" * 500})
    yield "start run, the first of its type", (2, 2, 0), started.calls
    run = f"{_RUNS}/{started.body['id']}"
    append = ("POST", f"{run}/episodes", _build_content(1))
    recall = "/api/v1/episodes?agent_type=sdr&limit=10"
    yield from _send(
        caller,
        (
            ("", _NONE, *append),  # the tenant's count is looked up once a minute
            ("append episode", (2, 1, 1), *append),
            ("append episode, with Idempotency-Key", (2, 1, 1), *append, "once"),
            ("append episode of 10 KB", (2, 10, 1), *append[:2], _build_content(10)),
            *[("", _NONE, *append)] * 11,
            ("recall the last 10", (1, 0, 2), "GET", recall),
            ("complete run", (2, 2, 1), "POST", f"{run}/complete", {"output": "x" * 500}),
        ),
    )


def _build_content(kb: int) -> dict[str, object]:
    """Build the body of an episode whose item has this size; its text hardly compresses."""
    noise = Random(kb)  # noqa: S311 - the same figures each time
    return {"content": "".join(chr(noise.randrange(0x4E00, 0x9FA5)) for _ in range(kb * 341 - 130))}


def _remember(caller: Caller) -> Iterator[Measured]:
    """Use OpenWOP's memory: each put is one transaction with the memory's head."""
    start = {"agent": "a", "secrets": _SECRETS}
    memory = f"/v1/memory/{caller.send('POST', '/v1/runs', start)['memoryRef']}"
    for _ in range(_MATCHES):
        made = caller.send("POST", memory, _ENTRY)
    started = caller.call("POST", "/v1/runs", start)
    run, entry = started.body["runId"], f"{memory}/{made['id']}"
    in_run = _ENTRY | {"runId": run}
    yield "start run", (2, 13, 0), started.calls
    listed = f"list {_MATCHES} of {_MATCHES + _LATER} in a run"
    yield from _send(
        caller,
        (
            ("put, 1 tag, after a start with secrets", (3, 6, 1), "POST", memory, _ENTRY),
            ("put", (1, 4, 0), "POST", memory, _ENTRY | {"tags": []}),
            ("put, 1 tag", (1, 6, 0), "POST", memory, _ENTRY),
            ("put, 1 tag, in a run with secrets", (1, 8, 0), "POST", memory, in_run),
            ("put, 1 tag, with Idempotency-Key", (1, 8, 0), "POST", memory, _ENTRY, "once"),
            ("get in a run", (1, 0, 2), "GET", f"{entry}?runId={run}"),
            *[("", _NONE, "POST", memory, _ENTRY)] * _LATER,  # later than the run's start
            (listed, (2, 0, 4), "GET", f"{memory}?runId={run}"),
            (f"{listed}, by a tag", (3, 0, 12), "GET", f"{memory}?runId={run}&tag=billing"),
            ("delete from memory", (1, 4, 0), "DELETE", entry),
            ("end run", (2, 8, 1), "POST", f"/v1/runs/{run}/end"),
        ),
    )


_TASKS = "/api/v1/tasks"
_INTENT = "intent"
_END_LIMITS = {0: (3, 12, 1), 1: (6, 26, 4), 25: (6, 128, 28), 100: (9, 451, 105)}
"""The maximum of calls in sequence, of write units and of read units, by number of entries.

Two write units are those of the audit record.
"""
_TRIES = 10  # on a busy machine, a thread can start too late to run in parallel


def _end_tasks(admin: Caller) -> Iterator[Measured]:
    """Yield the end of a task by its coordinator, with entries of 1 KB. Raises `RequestError`.

    One more task ends first: with a stream, the events of its entries would have created the log.
    """
    _end_task(admin, "first", 1)
    for entries, limit in _END_LIMITS.items():
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
