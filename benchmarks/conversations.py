"""What conversations and states cost: short ones beside long ones, which must cost the same."""

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.capacity import Call, in_sequence
from benchmarks.inprocess import Function, function
from benchmarks.memories import Measured
from benchmarks.tables import text_table

_CONVERSATION = "/api/v1/conversations/long"
_MESSAGE = {"role": "user", "content": "x" * 800}
_AT_ONCE, _LONG, _PAGE = 50, 500, 10


def operations(running: Function, key: str) -> Iterator[Measured]:
    """Every operation. Raises `RequestError`."""

    def call(method: str, target: str, body: object = None, **headers: str) -> list[Call]:
        return running.call(method, target, key, body, **headers).calls

    append = f"{_CONVERSATION}/messages"
    yield "store conversation", (3, 10, 2), call("PUT", _CONVERSATION, {"user_id": "user_1"})
    yield "append", (2, 8, 1), call("POST", append, _MESSAGE)
    _fill(running, key, _LONG)
    yield f"append after {_LONG}", (2, 8, 1), call("POST", append, _MESSAGE)
    once = call("POST", append, _MESSAGE, idempotency_key="once")
    yield "append, with Idempotency-Key", (2, 10, 1), once
    page = call("GET", f"{_CONVERSATION}?offset={_LONG // 2}&limit={_PAGE}")
    yield f"page of {_PAGE} in the middle of {_LONG}", (2, 0, 5), page
    yield (
        "list a user's conversations",
        (3, 0, 4),
        call("GET", "/api/v1/users/user_1/conversations"),
    )
    state = "/api/v1/agents/admin/state/user_1/k"
    yield "put state", (2, 1, 1), call("PUT", state, {"value": 1})
    yield "get state", (1, 0, 1), call("GET", state)


def _fill(running: Function, key: str, messages: int) -> None:
    body = {"messages": [_MESSAGE] * _AT_ONCE}
    for _ in range(messages // _AT_ONCE):
        running.call("POST", f"{_CONVERSATION}/messages", key, body)


def long_conversation(messages: int) -> str:
    """One conversation of so many messages: what each step takes at its start and at its end."""
    with function() as running:
        tenant = running.call("POST", "/api/v1/tenants", running.root_key, {"id": "bench"}).body
        key: str = tenant["admin"]["api_key"]
        running.call("PUT", _CONVERSATION, key, {"user_id": "user_1"})
        append = ("POST", f"{_CONVERSATION}/messages", key, _MESSAGE)
        rows = [_timed(running, "append to an empty one", *append)]
        _fill(running, key, messages)
        rows.append(_timed(running, f"append to one of {messages:,}", *append))
        middle = f"{_CONVERSATION}?offset={messages // 2}&limit=100"
        rows.append(_timed(running, "page of 100 in its middle", "GET", middle, key))
        gone = _timed(running, "delete: gone for every reader", "DELETE", _CONVERSATION, key)
        return text_table(("step", "calls in sequence", "write", "read", "ms"), [*rows, gone])


def _timed(running: Function, step: str, *request: Any) -> list[str]:
    began = time.perf_counter()
    calls = running.call(*request).calls
    took = (time.perf_counter() - began) * 1000
    write, read = sum(call.write for call in calls), sum(call.read for call in calls)
    return [step, str(in_sequence(calls)), f"{write:g}", f"{read:g}", f"{took:.1f}"]
