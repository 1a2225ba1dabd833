"""Prices are measured units times published prices, and what each request and event takes."""

import pytest

from benchmarks import prices
from benchmarks.behind import build_event
from benchmarks.costs import Cost, Limit
from functions.events.items import (
    LogTime,
    build_events_write,
    build_log_partition,
    encode_events,
)
from functions.events.model import LogName

NOTHING = Limit(0, 0, 0)


def cost(name: str, write: float = 0, index_write: float = 0, read: float = 0) -> Cost:
    """Return the cost of an operation."""
    return Cost(name, NOTHING, 1, 1, write, index_write, read)


def measured() -> dict[str, Cost]:
    """All operations, of which only a put and what follows it use anything."""
    found = {each.name: cost(each.name) for each in prices.OPERATIONS}
    used = (
        cost("put value", write=1),
        cost("patch value", write=1),
        cost("log an event", write=1, read=1),
        cost("embed an entry again", write=2, index_write=1),
        cost("embed an entry", write=2),
    )
    return found | {each.operation: each for each in used}


def price(name: str) -> prices.Price:
    (found,) = [each for each in prices.price_operations(measured()) if each.operation.name == name]
    return found


def test_a_price_has_the_units_of_the_operation_its_event_and_its_vector() -> None:
    patch = price("patch value")
    assert patch.units == 0.625
    assert patch.vector == pytest.approx(3 * 0.625 + 0.0415, abs=0.001)
    assert patch.events == pytest.approx(0.625 + 0.125 + 0.02 + 0.0531, abs=0.001)
    assert patch.total == pytest.approx(patch.units + patch.request + patch.events + patch.vector)


def test_working_memory_has_no_vector() -> None:
    put = price("put value")
    assert put.total == pytest.approx(put.units + put.request + put.events)


def test_a_read_has_neither_event_nor_vector() -> None:
    get = price("get working by id")
    assert (get.events, get.vector, get.storage) == (0, 0, 0)
    assert get.request == pytest.approx(1.00 + 0.20 + 0.007 * 13.3334 + 0.0108, abs=0.001)


def test_the_row_of_an_event_is_as_large_as_its_price_says() -> None:
    (encoded,) = encode_events([build_event(1)._replace(timestamp=1_763_800_000_000)])
    partition = build_log_partition("default", LogName("agent", "ada"))
    time = LogTime().add(encoded)
    write = build_events_write(partition, time.newest, encoded, time, time.newest)
    assert prices.LOG_ROW_BYTES - 20 < write.size + 100 <= prices.LOG_ROW_BYTES


def test_a_month_is_the_sum_of_what_an_agent_does() -> None:
    found = prices.price_operations(measured())
    totals = {each.operation.name: each.total for each in found}
    expected = sum(count * totals[name] / 1e6 for name, count in prices.AGENT_MONTH.items())
    assert prices.price_agent_month(found) == pytest.approx(expected)
