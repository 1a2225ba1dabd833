"""Costs of conversations and states; a long conversation must cost the same as a short one."""

from collections.abc import Iterator

from benchmarks.inprocess import Caller
from benchmarks.memories import Measured

_CONVERSATION = "/api/v1/conversations/long"
_MESSAGE = {"role": "user", "content": "x" * 800}
_TURN = [
    {"role": "user", "content": "When does order 42 arrive? I need it this week."},
    {"role": "assistant", "content": "We promise delivery of order 42 by Friday."},
]
_QUESTION = {"query": "What did we promise about order 42?", "user_id": "user_1"}
_AT_ONCE, _LONG, _PAGE = 50, 500, 10


def operations(caller: Caller) -> Iterator[Measured]:
    """Yield each operation. Raises `RequestError`."""
    append = f"{_CONVERSATION}/messages"
    yield (
        "store conversation",
        (3, 10, 2),
        caller.calls("PUT", _CONVERSATION, {"user_id": "user_1"}),
    )
    yield "append", (2, 8, 1), caller.calls("POST", append, _MESSAGE)
    _fill(caller, _LONG)
    yield f"append after {_LONG}", (2, 8, 1), caller.calls("POST", append, _MESSAGE)
    once = caller.calls("POST", append, _MESSAGE, idempotency_key="once")
    yield "append, with Idempotency-Key", (2, 10, 1), once
    yield from _take_turn(caller, append)
    page = caller.calls("GET", f"{_CONVERSATION}?offset={_LONG // 2}&limit={_PAGE}")
    yield f"page of {_PAGE} in the middle of {_LONG}", (2, 0, 5), page
    yield (
        "list a user's conversations",
        (3, 0, 4),
        caller.calls("GET", "/api/v1/users/user_1/conversations"),
    )
    state = "/api/v1/agents/admin/state/user_1/k"
    # the first state for a person writes a row, by which forgetting finds it
    yield "put state", (3, 2, 1), caller.calls("PUT", state, {"value": 1})
    yield "get state", (1, 0, 1), caller.calls("GET", state)


def _take_turn(caller: Caller, append: str) -> Iterator[Measured]:
    caller.send("POST", "/api/v1/recall", _QUESTION)  # later ones read only what is new
    turn = caller.calls("POST", append, {"messages": _TURN}, idempotency_key="turn")
    yield "append a turn of two messages", (2, 12, 1), turn
    recalled = caller.calls("POST", "/api/v1/recall", _QUESTION)
    yield "recall about a user, ten items", (7, 0, 6), recalled


def _fill(caller: Caller, messages: int) -> None:
    body = {"messages": [_MESSAGE] * _AT_ONCE}
    for _ in range(messages // _AT_ONCE):
        caller.send("POST", f"{_CONVERSATION}/messages", body)
