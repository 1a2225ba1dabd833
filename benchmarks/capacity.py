"""Record the DynamoDB calls of a piece of code, with their capacity units.

The engine reports the units (`ReturnConsumedCapacity`). Handlers of botocore's events collect them,
so the measured code runs unchanged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

TRIES = 12  # repetitions of parallel calls
_STARTED = "benchmarks.capacity.started"
_SENT = "benchmarks.capacity.sent"
_BEFORE = "provide-client-params.dynamodb"
_PREPARED = "before-call.dynamodb"
_AFTER = "after-call.dynamodb"
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


class Call(NamedTuple):
    """One DynamoDB request and the capacity units that it used.

    `write` and `read` are units of the table, `index_write` and `index_read` units of its global
    indexes; a refused call has none. `sent` and `received` are the bytes of the bodies. `started`
    and `ended` are seconds of `perf_counter`.
    """

    operation: str
    write: float
    read: float
    index_write: float
    index_read: float
    sent: int
    received: int
    started: float
    ended: float


@contextmanager
def recorded(client: Any) -> Iterator[list[Call]]:
    """Record the calls of a boto3 DynamoDB client, in the order in which they end.

    Yields a list that grows while the block runs. It includes the calls of all threads.
    """
    calls: list[Call] = []

    def collect(**event: Any) -> None:
        calls.append(_call(event))

    hooks = {_BEFORE: _ask, _PREPARED: _weigh, _AFTER: collect}
    for event, hook in hooks.items():
        client.meta.events.register_last(event, hook)
    try:
        yield calls
    finally:
        for event, hook in hooks.items():
            client.meta.events.unregister(event, hook)


def in_sequence(calls: Iterable[Call]) -> int:
    """Count the calls that waited for an earlier one to end, including the first."""
    depth, free_at = 0, float("-inf")
    for call in sorted(calls, key=lambda each: each.ended):
        if call.started >= free_at:
            depth, free_at = depth + 1, call.ended
    return depth


def find_promptest(read: Callable[[], list[Call]]) -> list[Call]:
    """Read several times, and return the calls of the time with the fewest in sequence.

    On a busy machine, a thread can start so late that parallel calls run in sequence.
    """
    return min((read() for _ in range(TRIES)), key=in_sequence)


def _ask(params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> dict[str, Any]:
    context[_STARTED] = perf_counter()
    if model.input_shape is None or "ReturnConsumedCapacity" not in model.input_shape.members:
        return params
    return params | {"ReturnConsumedCapacity": "INDEXES"}


def _weigh(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    context[_SENT] = len(params["body"])


def _call(event: Mapping[str, Any]) -> Call:
    operation: str = event["model"].name
    spent = event["parsed"].get("ConsumedCapacity", [])
    tables = [spent] if isinstance(spent, Mapping) else spent
    indexes = sum(map(_index_units, tables))
    own = sum(float(each["CapacityUnits"]) for each in tables) - indexes
    write, read = (1.0, 0.0) if operation in _WRITES else (0.0, 1.0)
    return Call(
        operation=operation,
        write=write * own,
        read=read * own,
        index_write=write * indexes,
        index_read=read * indexes,
        sent=event["context"][_SENT],
        received=len(event["http_response"].content),
        started=event["context"][_STARTED],
        ended=perf_counter(),
    )


def _index_units(spent: Mapping[str, Any]) -> float:
    indexes = spent.get("GlobalSecondaryIndexes") or {}
    return sum(float(each["CapacityUnits"]) for each in indexes.values())
