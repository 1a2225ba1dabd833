"""OpenWOP RFC 0004 §A: a run's start, step by step, against what may come between its steps."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import httpx
import pytest

from tests.contract.faults import FaultyClient, faulty
from tests.contract.openwop_calls import Run, memory_items, path, start
from tests.contract.service import Service
from tests.contract.service import start as start_service
from tests.contract.sweeping import sweep
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.in_process


@contextmanager
def slow_function(
    ada: httpx.Client, service: Service
) -> Iterator[tuple[httpx.Client, FaultyClient]]:
    """The caller at another instance of the function, whose calls can be held up."""
    with faulty() as held:
        again = start_service(service.engine, service.clock, service.key_file, 60)
        client = again.client(ada.headers["X-API-Key"])
        client.get("/api/v1/me")
        yield client, held


def test_a_delete_during_a_start_is_in_its_snapshot(ada: httpx.Client, service: Service) -> None:
    maker = start(ada)
    gone, kept = maker.put("gone"), maker.put("kept")
    with slow_function(ada, service) as (client, held):
        held.interrupt("transact_write_items", lambda _: True, lambda: maker.delete(gone["id"]))
        run = start(client)
    assert run.entries() == [kept]
    assert run.get(gone["id"]) is None
    assert len(memory_items(service, "r#")) == 2


def test_a_put_during_a_start_is_not_in_its_snapshot(ada: httpx.Client, service: Service) -> None:
    maker = start(ada)
    kept = maker.put("kept")
    with slow_function(ada, service) as (client, held):
        held.interrupt("transact_write_items", lambda _: True, lambda: maker.put("later"))
        run = start(client)
    assert run.entries() == [kept]


@pytest.mark.usefixtures("parallel")
def test_a_slow_start_loses_nothing(
    ada: httpx.Client, service: Service, clock: MovableClock
) -> None:
    """A function may be frozen there, while the schedule is about to remove what was deleted."""
    maker = start(ada)
    gone = maker.put("gone")
    maker.end()
    asleep, awake = Event(), Event()
    runs: list[Run] = []
    seen: list[object] = []

    def sleep() -> None:
        asleep.set()
        assert awake.wait(10)

    def wake() -> None:
        awake.set()
        sleeper.join(10)
        seen.append(runs[0].entries())

    with slow_function(ada, service) as (client, held), faulty() as sweeping:
        held.interrupt("transact_write_items", lambda _: True, sleep)
        sleeper = Thread(target=lambda: runs.append(start(client)))
        sleeper.start()
        assert asleep.wait(10)
        ada.delete(path(maker.reference, gone["id"]))
        clock.advance(seconds=3)
        sweeping.interrupt("transact_write_items", lambda _: True, wake)
        sweep(service)
    assert seen == [runs[0].entries()]
    assert not memory_items(service, "o#")


def test_a_put_with_a_taken_sequence_number_is_retried(ada: httpx.Client, service: Service) -> None:
    """The other put takes its position first; both land, in the order of their commits."""
    maker = start(ada)
    with slow_function(ada, service) as (client, held):
        held.interrupt("transact_write_items", lambda _: True, lambda: maker.put("first"))
        made = start(client, scope="other")
        late = Run(client, maker.id, maker.reference, made.snapshot)
        held.interrupt("transact_write_items", lambda _: True, lambda: maker.put("second"))
        late.put("third")
    assert start(ada).contents() == ["third", "second", "first"]
