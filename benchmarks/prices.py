"""Price a million of each operation: measured units and calls, times published prices.

The price includes all features that a deployment has by default: units of the table and its
indexes, the request with its log line, its events, and vectors in DynamoDB's index. AWS publishes
no price for the bytes of that index. A function runs for 5 ms per call that it waits for, and for
its measured CPU. The stream processes batches of ten changes in different logs.
Prices are those of us-east-1, on demand; docs/explanation/cost.md names their sources.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from benchmarks import costs
from benchmarks.tables import text_table

WRITE_UNIT, READ_UNIT = 0.625, 0.125  # USD for a million
HTTP_API, LAMBDA_REQUEST = 1.00, 0.20  # USD for a million
GB_SECOND, LOG_GB, STORED_GB_MONTH = 0.0000133334, 0.50, 0.45  # USD; storage with PITR
CALL_MS = 5.0  # assumed latency of a DynamoDB call
REQUEST_GB, REQUEST_CORE = 1.0, 1024 / 1769  # the API function's memory; 1,769 MB is one core
READ_MS, LIST_MS, WRITE_MS = 1.1, 4.2, 2.2  # CPU of one core (`python -m benchmarks floor`)
RECALL_MS = 12.0  # CPU of one core among 500 messages
STREAM_GB, STREAM_BATCH = 1.73, 10  # the stream function's memory; changes per invocation
EVENT_MS, VECTOR_MS = 1.8, 1.8  # CPU of one core (`python -m benchmarks stream`)
LINE_BYTES = 404 + 26  # a request's log line, and CloudWatch's overhead
SAMPLE = 0.05  # the share of successful requests with a log line
LOG_ROW_BYTES, KEPT_MONTHS = 480, 12  # an event's item with DynamoDB's overhead of 100 bytes
_LOGGED = "log an event"
_VECTOR, _NEW_VECTOR = "embed an entry again", "embed an entry"


class Operation(NamedTuple):
    """The parts of a price; `name` and `vector` are operations in `costs`."""

    name: str
    cpu_ms: float  # of its request, on one core
    goal: float | None = None  # the most USD for a million
    events: int = 0
    vector: str | None = None  # what updates the entry's vector


OPERATIONS = (
    Operation("get working by id", READ_MS, 1.50),
    Operation("get episodic by id", READ_MS),
    Operation("get semantic by id", READ_MS),
    Operation("put value", WRITE_MS, 3.00, 1),
    Operation("patch value", WRITE_MS, None, 1, _VECTOR),
    Operation("create working", WRITE_MS, 5.30, 1),
    Operation("create episodic", WRITE_MS, None, 1, _NEW_VECTOR),
    Operation("create semantic, 0 tags", WRITE_MS, None, 1, _NEW_VECTOR),
    Operation("create semantic, 5 tags", WRITE_MS, 13.20, 1, _NEW_VECTOR),
    Operation("delete", WRITE_MS, None, 1, _VECTOR),
    Operation("query own, 100 of 1 KB", LIST_MS),
    Operation("append a turn of two messages", WRITE_MS),
    Operation("recall about a user, ten items", RECALL_MS),
)
AGENT_MONTH = {  # eight hours a day, 22 days: a checkpoint written and one read each minute
    "put value": 10_560,
    "get working by id": 10_560,
    "create episodic": 1_056,
    "query own, 100 of 1 KB": 1_056,
}
AGENT_MONTH_GOAL = 0.06


class Price(NamedTuple):
    """The price of a million of an operation, in USD."""

    operation: Operation
    units: float  # the operation's own units
    request: float  # the gateway and the function, with the log line
    events: float  # the processing of its events by the stream function
    vector: float  # the update of the entry's vector
    storage: float  # the items of its events, until they expire after a year

    @property
    def total(self) -> float:
        """Return the price without the storage, which is billed over a year."""
        return self.units + self.request + self.events + self.vector

    @property
    def is_met(self) -> bool | None:
        """Tell whether the goal is met; None without a goal."""
        goal = self.operation.goal
        return None if goal is None else round(self.total, 2) <= goal


def measure() -> list[Price]:
    """Measure all operations, and price them. Raises `RequestError`."""
    return price_operations({cost.operation: cost for cost in costs.measure()})


def price_operations(measured: Mapping[str, costs.Cost]) -> list[Price]:
    """Price each operation by its measured units."""
    return [
        Price(
            each,
            _price_units(measured[each.name]),
            _price_request(measured[each.name].in_sequence, each.cpu_ms),
            each.events * _price_event(measured[_LOGGED]),
            _price_vector(measured[each.vector]) if each.vector else 0.0,
            each.events * LOG_ROW_BYTES / 1000 * STORED_GB_MONTH * KEPT_MONTHS,
        )
        for each in OPERATIONS
    ]


def _price_units(cost: costs.Cost) -> float:
    return (cost.write + cost.index_write) * WRITE_UNIT + cost.read * READ_UNIT


def _price_request(calls: int, cpu_ms: float) -> float:
    """Price a request by its calls in sequence; Lambda bills whole milliseconds."""
    took = ceil(calls * CALL_MS + cpu_ms / REQUEST_CORE)
    function = LAMBDA_REQUEST + _price_ms(took, REQUEST_GB)
    return HTTP_API + function + SAMPLE * LINE_BYTES / 1000 * LOG_GB


def _price_event(logged: costs.Cost) -> float:
    """Price the processing of an event; the events of a batch share the latency of calls."""
    waits = logged.in_sequence * CALL_MS / STREAM_BATCH
    invocation = LAMBDA_REQUEST / STREAM_BATCH + _price_ms(waits + EVENT_MS, STREAM_GB)
    return _price_units(logged) + invocation


def _price_vector(embedded: costs.Cost) -> float:
    """Price a vector, which is computed while the events of the batch are written."""
    return _price_units(embedded) + _price_ms(VECTOR_MS, STREAM_GB)


def _price_ms(milliseconds: float, size_gb: float) -> float:
    """Price a million times a duration of a function."""
    return milliseconds * 1000 * size_gb * GB_SECOND


def price_agent_month(prices: Iterable[Price]) -> float:
    """Price a month of an agent's work, without storage."""
    by_name = {each.operation.name: each.total for each in prices}
    return sum(count * by_name[name] / 1e6 for name, count in AGENT_MONTH.items())


def as_text(found: Sequence[Price]) -> str:
    """Render the table."""
    heads = ["a million, 1 KB: USD", "units", "request", "events", "vector", "in all", "goal", ""]
    heads.append("log kept a year")
    month = price_agent_month(found)
    rows = [_build_cells(each) for each in found]
    return f"{text_table(heads, rows)}\n\nAn agent-month: {month:.3f} USD, goal {AGENT_MONTH_GOAL}."


def _build_cells(price: Price) -> list[str]:
    figures = (price.units, price.request, price.events, price.vector, price.total)
    goal = price.operation.goal
    return [
        price.operation.name,
        *(f"{each:.2f}" for each in figures),
        "" if goal is None else f"{goal:.2f}",
        {None: "", True: "met", False: "ABOVE"}[price.is_met],
        f"{price.storage:.2f}",
    ]
