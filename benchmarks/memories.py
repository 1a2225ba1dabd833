"""What OpenWOP's runs and memories cost: each operation once, with what it may use."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.capacity import Call
from benchmarks.inprocess import Function

_MATCHES, _LATER = 10, 100
_SECRETS = [{"label": "key", "value": "sk-12345678"}]
_ENTRY = {"content": "x" * 800, "tags": ["billing"]}

Measured = tuple[str, tuple[int, float, float], list[Call]]
"""Name; calls in a row, write and read units that it may use; its calls."""


@dataclass(frozen=True, slots=True)
class _Caller:
    function: Function
    key: str

    def call(
        self, method: str, target: str, body: object = None, **headers: str
    ) -> tuple[Any, list[Call]]:
        answer = self.function.call(method, target, self.key, body, **headers)
        return answer.body, answer.calls

    def start(self) -> tuple[Any, list[Call]]:
        return self.call("POST", "/v1/runs", {"agent": "a", "secrets": _SECRETS})


def operations(function: Function, key: str) -> Iterator[Measured]:
    """Every operation. Raises `RequestError`."""
    caller = _Caller(function, key)
    memory = f"/v1/memory/{caller.start()[0]['memoryRef']}"
    for _ in range(_MATCHES):
        made, _ = caller.call("POST", memory, _ENTRY)
    run, calls = caller.start()
    yield "start run", (2, 13, 0), calls
    secrets_changed = caller.call("POST", memory, _ENTRY)[1]
    yield "put, 1 tag, after a start with secrets", (3, 6, 1), secrets_changed
    yield from _puts(caller, memory, run["runId"])
    yield from _reads(caller, memory, made["id"], f"runId={run['runId']}")
    yield "delete from memory", (1, 4, 0), caller.call("DELETE", f"{memory}/{made['id']}")[1]
    yield "end run", (2, 8, 1), caller.call("POST", f"/v1/runs/{run['runId']}/end")[1]


def _puts(caller: _Caller, memory: str, run: str) -> Iterator[Measured]:
    """Each is one transaction, of the memory's head, the entry, and what it needs beside."""
    yield "put", (1, 4, 0), caller.call("POST", memory, _ENTRY | {"tags": []})[1]
    yield "put, 1 tag", (1, 6, 0), caller.call("POST", memory, _ENTRY)[1]
    in_run = caller.call("POST", memory, _ENTRY | {"runId": run})[1]
    yield "put, 1 tag, in a run with secrets", (1, 8, 0), in_run
    once = caller.call("POST", memory, _ENTRY, idempotency_key="once")[1]
    yield "put, 1 tag, with Idempotency-Key", (1, 8, 0), once


def _reads(caller: _Caller, memory: str, entry: str, query: str) -> Iterator[Measured]:
    """What was there at a run's start, behind many entries that came later."""
    yield "get in a run", (1, 0, 2), caller.call("GET", f"{memory}/{entry}?{query}")[1]
    for _ in range(_LATER):
        caller.call("POST", memory, _ENTRY)
    name = f"list {_MATCHES} of {_MATCHES + _LATER} in a run"
    yield name, (2, 0, 4), caller.call("GET", f"{memory}?{query}")[1]
    tagged = caller.call("GET", f"{memory}?{query}&tag=billing")[1]
    yield f"{name}, by a tag", (3, 0, 12), tagged
