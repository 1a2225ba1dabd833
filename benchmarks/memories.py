"""Costs of OpenWOP's runs and memories."""

from collections.abc import Iterator

from benchmarks.capacity import Call
from benchmarks.inprocess import Answer, Caller

_MATCHES, _LATER = 10, 100
_SECRETS = [{"label": "key", "value": "sk-12345678"}]
_ENTRY = {"content": "x" * 800, "tags": ["billing"]}

Measured = tuple[str, tuple[int, float, float], list[Call]]
"""Name; the maximum of calls in sequence, of write units and of read units; the calls."""


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    memory = f"/v1/memory/{_start(caller).body['memoryRef']}"
    for _ in range(_MATCHES):
        made = caller.send("POST", memory, _ENTRY)
    started = _start(caller)
    run = started.body
    yield "start run", (2, 13, 0), started.calls
    secrets_changed = caller.calls("POST", memory, _ENTRY)
    yield "put, 1 tag, after a start with secrets", (3, 6, 1), secrets_changed
    yield from _puts(caller, memory, run["runId"])
    yield from _reads(caller, memory, made["id"], f"runId={run['runId']}")
    yield "delete from memory", (1, 4, 0), caller.calls("DELETE", f"{memory}/{made['id']}")
    yield "end run", (2, 8, 1), caller.calls("POST", f"/v1/runs/{run['runId']}/end")


def _start(caller: Caller) -> Answer:
    return caller.call("POST", "/v1/runs", {"agent": "a", "secrets": _SECRETS})


def _puts(caller: Caller, memory: str, run: str) -> Iterator[Measured]:
    """Put entries: each put is one transaction with the memory's head."""
    yield "put", (1, 4, 0), caller.calls("POST", memory, _ENTRY | {"tags": []})
    yield "put, 1 tag", (1, 6, 0), caller.calls("POST", memory, _ENTRY)
    in_run = caller.calls("POST", memory, _ENTRY | {"runId": run})
    yield "put, 1 tag, in a run with secrets", (1, 8, 0), in_run
    once = caller.calls("POST", memory, _ENTRY, idempotency_key="once")
    yield "put, 1 tag, with Idempotency-Key", (1, 8, 0), once


def _reads(caller: Caller, memory: str, entry: str, query: str) -> Iterator[Measured]:
    """Read the entries that existed at a run's start, behind many later entries."""
    yield "get in a run", (1, 0, 2), caller.calls("GET", f"{memory}/{entry}?{query}")
    for _ in range(_LATER):
        caller.call("POST", memory, _ENTRY)
    name = f"list {_MATCHES} of {_MATCHES + _LATER} in a run"
    yield name, (2, 0, 4), caller.calls("GET", f"{memory}?{query}")
    tagged = caller.calls("GET", f"{memory}?{query}&tag=billing")
    yield f"{name}, by a tag", (3, 0, 12), tagged
