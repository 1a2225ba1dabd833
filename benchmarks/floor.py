"""Compare the CPU of a request with the CPU of its DynamoDB calls by stock botocore.

Both send the same requests to the same engine, which runs in another process.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from botocore.session import get_session

from benchmarks.inprocess import Caller, Function, function, request_event
from benchmarks.tables import text_table
from benchmarks.workload import entry, value

_MEMORY = "/api/v1/memory"
_OWNED = 100
_ROUNDS, _REQUESTS = 28, 10
_ALWAYS = "({}) OR attribute_exists(pk) OR attribute_not_exists(pk)"
_SENDING = "before-send.dynamodb"
_NOTES = (
    "Client CPU, the minimum of interleaved rounds. Writes are repeated with a condition that",
    "always holds. Goals: get at most 1.00 of stock botocore, a query of 100 at most 0.40.",
)


@dataclass(frozen=True, slots=True)
class Row:
    """CPU microseconds of one operation; `goal` is a share of botocore's, None without one."""

    operation: str
    botocore_us: float
    ours_us: float
    goal: float | None

    @property
    def to_botocore(self) -> float:
        return self.ours_us / self.botocore_us

    @property
    def met(self) -> bool:
        return self.goal is None or self.to_botocore <= self.goal


_Events = Iterator[dict[str, Any]]
_Request = tuple[str, dict[str, Any]]
"""A DynamoDB request: its action, and its body with a condition that always holds."""


def measure() -> list[Row]:
    """Measure each operation on tables in memory. Raises `RequestError`."""
    with function() as running:
        admin = running.new_tenant("bench")
        agent = running.new_agent(admin, "owner")
        config = {"episodic": {"capacity": 100_000}}
        admin.send("PATCH", f"/api/v1/agents/{agent.id}/memory/config", config)
        return [_row(running, *operation) for operation in _operations(agent)]


def _operations(agent: Caller) -> Iterator[tuple[str, _Events, _Events, float | None]]:
    """Yield each operation with endless events: to capture its calls, and to measure."""
    made = [agent.send(*_create(agent, f"kept-{number}")) for number in range(_OWNED)]
    first, second = (f"{_MEMORY}/{each['id']}" for each in made[:2])
    yield "get", _same(agent, first), _same(agent, first), 1.0
    yield "patch", _patches(agent, first), _patches(agent, second), None
    creates = (_event(agent, *_create(agent, f"new-{number}", "episodic")) for number in count())
    yield "create", creates, creates, None
    queries = _same(agent, f"{_MEMORY}?agent_id={agent.id}&memory_type=working&limit={_OWNED}")
    yield "query of 100", queries, queries, 0.4


def _create(agent: Caller, key: str, tier: str = "working") -> tuple[str, str, dict[str, Any]]:
    return "POST", _MEMORY, entry(agent.id, key, tier, ["billing"])


def _event(agent: Caller, method: str, target: str, *more: Any, **headers: str) -> dict[str, Any]:
    return request_event(method, target, agent.key, *more, **headers)


def _same(agent: Caller, target: str) -> _Events:
    event = _event(agent, "GET", target)
    return (event for _ in count())


def _patches(agent: Caller, target: str) -> _Events:
    for version in count(1):
        body = {"value": value(version)}
        yield _event(agent, "PATCH", target, body, if_match=str(version))


def _row(
    running: Function, name: str, samples: _Events, events: _Events, goal: float | None
) -> Row:
    requests = _captured(running, lambda: running.send(next(samples)))
    ways = (_stock(requests), lambda: running.answer(next(events)))
    rounds = [[_cpu_us(way) for way in ways] for _ in range(_ROUNDS)]
    botocore_us, ours_us = (min(each) for each in zip(*rounds, strict=True))
    return Row(name, botocore_us, ours_us, goal)


def _captured(running: Function, send: Callable[[], object]) -> list[_Request]:
    """Return the DynamoDB requests behind a call."""
    found: list[_Request] = []

    def keep(request: Any, **_: Any) -> None:
        target = request.headers["X-Amz-Target"]
        action = target.decode() if isinstance(target, bytes) else target
        found.append((action.partition(".")[2], _repeatable(json.loads(request.body))))

    send()  # the first request fills caches
    running.client.meta.events.register_last(_SENDING, keep)
    try:
        send()
    finally:
        running.client.meta.events.unregister(_SENDING, keep)
    return found


def _repeatable(body: dict[str, Any]) -> dict[str, Any]:
    for each in (
        body,
        *(write for item in body.get("TransactItems", ()) for write in item.values()),
    ):
        if "ConditionExpression" in each:
            each["ConditionExpression"] = _ALWAYS.format(each["ConditionExpression"])
    body.pop("ClientRequestToken", None)
    return body


def _stock(requests: Sequence[_Request]) -> Callable[[], object]:
    client = get_session().create_client("dynamodb")
    names = {operation: method for method, operation in client.meta.method_to_api_mapping.items()}
    calls = [(getattr(client, names[action]), body) for action, body in requests]
    return lambda: [call(**body) for call, body in calls]


def _cpu_us(send: Callable[[], object]) -> float:
    send()
    began = time.process_time()
    for _ in range(_REQUESTS):
        send()
    return (time.process_time() - began) / _REQUESTS * 1_000_000


def as_text(rows: Sequence[Row]) -> str:
    """Render the table."""
    heads = ["CPU of", "botocore us", "ours us", "to botocore", "goal", ""]
    return "\n".join([text_table(heads, [_cells(row) for row in rows]), *_NOTES])


def _cells(row: Row) -> list[str]:
    times = [f"{each:.0f}" for each in (row.botocore_us, row.ours_us)]
    goal = ["", ""] if row.goal is None else [f"<= {row.goal:g}", "met" if row.met else "MISSED"]
    return [row.operation, *times, f"{row.to_botocore:.2f}", *goal]
