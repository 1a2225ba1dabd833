"""Record the DynamoDB calls of a piece of code, with their capacity units.

The engine reports the units (`ReturnConsumedCapacity`). Handlers of botocore's events collect them,
so the measured code runs unchanged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

TRIES = 12  # repetitions of parallel calls
_STARTED = "benchmarks.capacity.started"
_SENT = "benchmarks.capacity.sent"
_BEFORE = "provide-client-params.dynamodb"
_PREPARED = "before-call.dynamodb"
_AFTER = "after-call.dynamodb"
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


@dataclass(frozen=True, slots=True)
class Call:
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

    client.meta.events.register_last(_BEFORE, _ask)
    client.meta.events.register_last(_PREPARED, _weigh)
    client.meta.events.register_last(_AFTER, collect)
    try:
        yield calls
    finally:
        client.meta.events.unregister(_BEFORE, _ask)
        client.meta.events.unregister(_PREPARED, _weigh)
        client.meta.events.unregister(_AFTER, collect)


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
    parsed: Mapping[str, Any] = event["parsed"]
    spent = parsed.get("ConsumedCapacity", [])
    tables = [spent] if isinstance(spent, Mapping) else spent
    own = sum(_own_units(each) for each in tables)
    indexes = sum(_index_units(each) for each in tables)
    writes = operation in _WRITES
    return Call(
        operation=operation,
        write=own if writes else 0.0,
        read=0.0 if writes else own,
        index_write=indexes if writes else 0.0,
        index_read=0.0 if writes else indexes,
        sent=event["context"][_SENT],
        received=len(event["http_response"].content),
        started=event["context"][_STARTED],
        ended=perf_counter(),
    )


def _own_units(spent: Mapping[str, Any]) -> float:
    return float(spent["CapacityUnits"]) - _index_units(spent)


def _index_units(spent: Mapping[str, Any]) -> float:
    indexes = spent.get("GlobalSecondaryIndexes") or {}
    return sum(float(each["CapacityUnits"]) for each in indexes.values())
