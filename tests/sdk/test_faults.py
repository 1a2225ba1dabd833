"""Calls that networks and servers break: nothing is written twice, nothing is lost, nothing hangs.

Each call meets a fault, a create meets it twice, and then comes through; or it never does. A
client that goes to the server directly reads the result.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import cycle, repeat
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.exceptions import (
    AgentMemoryError,
    ConnectionFailedError,
    InvalidAnswerError,
    MemoryConflictError,
    ServiceUnavailableError,
    ThrottledError,
)

from tests.contract.local_server import LocalServer
from tests.sdk import faults
from tests.sdk.calling import Calling, Kind, calling
from tests.sdk.crew import Agent, Crew, until
from tests.sdk.fault_proxy import Fault, FaultProxy, passed

BRIEF, LONG = 0.25, 10.0  # timeouts in seconds: of a call that stalls, and of any other
KINDS: tuple[Kind, Kind] = ("sync", "async")


@dataclass(frozen=True)
class Bench:
    """A client behind the proxy, a client that goes straight, and an agent of their own.

    Attributes:
        name: the client's kind and the fault.
        fault: what calls through the proxy meet.
        namespace: for this bench alone.
    """

    name: str
    fault: Fault
    proxy: FaultProxy
    call: Calling
    straight: Client
    api_key: str
    namespace: str

    def meet(self, *planned: Fault) -> None:
        """Have the next calls meet these faults, or the bench's own if none is given."""
        self.proxy.plan(*(planned or [self.fault]))

    def entry(self, key: str) -> Any:
        return self.straight.memory.get_entry(self.namespace, key)

    def set(self, key: str, value: dict[str, Any]) -> Any:
        return self.call(lambda c: c.memory.set(self.namespace, key, value))

    def keys_sent(self) -> list[str | None]:
        return [request.idempotency_key for request in self.proxy.requests]


class MakeBenches:
    """Make benches of one new agent: one for each pair of a kind of client and a fault."""

    def __init__(self, proxy: FaultProxy, agent: Agent, calls: dict[Kind, Calling]) -> None:
        self.agent = agent
        self._proxy = proxy
        self._calls = calls

    def __call__(self, named: Mapping[str, Fault], kinds: Iterable[Kind]) -> Iterator[Bench]:
        """Yield a bench for each fault, with a client of the kind that belongs to it."""
        for number, ((name, fault), kind) in enumerate(zip(named.items(), kinds, strict=False)):
            timeout = BRIEF if fault in faults.STALLS else LONG
            call = self._calls[kind].with_options(timeout=timeout)
            agent, namespace = self.agent, f"faults-{kind}-{number}"
            yield Bench(
                f"{kind}: {name}", fault, self._proxy, call, agent.client, agent.api_key, namespace
            )


@pytest.fixture
def make_benches(proxy: FaultProxy, crew: Crew) -> Iterator[MakeBenches]:
    """Makes benches with either client."""
    agent = crew.agent()
    with (
        calling("sync", proxy.address, agent.api_key) as sync_call,
        calling("async", proxy.address, agent.api_key) as async_call,
    ):
        yield MakeBenches(proxy, agent, {"sync": sync_call, "async": async_call})


Check = Callable[[Bench], None]


@pytest.fixture
def with_each_fault(
    make_benches: MakeBenches, subtests: pytest.Subtests
) -> Callable[[Check], None]:
    """Runs a check with each fault, by one client or the other: their logic is the same."""

    def run(check: Check) -> None:
        for bench in make_benches(faults.FAULTS, cycle(KINDS)):
            with subtests.test(bench.name):
                check(bench)

    return run


@pytest.fixture(params=KINDS)
def bench(request: pytest.FixtureRequest, make_benches: MakeBenches) -> Bench:
    return next(make_benches({"none": passed}, [request.param]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_create_is_carried_out_once(
    make_benches: MakeBenches, kind: Kind, subtests: pytest.Subtests
) -> None:
    for bench in make_benches(faults.FAULTS, repeat(kind)):
        with subtests.test(bench.name):
            bench.meet(bench.fault, bench.fault)
            created = bench.set("k", {"n": 1})
            assert (created.version, created.value) == (1, {"n": 1})
            assert (bench.entry("k").id, bench.entry("k").version) == (created.id, 1)
            assert len(bench.proxy.requests) == 3
            assert None not in bench.keys_sent()
            assert len(set(bench.keys_sent())) == 1


def test_an_update_is_carried_out_once_at_the_version_that_it_tracks(
    with_each_fault: Callable[[Check], None],
) -> None:
    def update(bench: Bench) -> None:
        bench.meet()
        bench.set("k", {"n": 1})
        bench.meet()
        updated = bench.set("k", {"n": 2})
        assert (updated.version, updated.value) == (2, {"n": 2})
        assert (bench.entry("k").version, bench.entry("k").value) == (2, {"n": 2})
        assert len(set(bench.keys_sent())) == 1
        assert bench.set("k", {"n": 3}).version == 3

    with_each_fault(update)


def test_a_delete_is_carried_out(with_each_fault: Callable[[Check], None]) -> None:
    def delete(bench: Bench) -> None:
        bench.set("k", {"n": 1})
        bench.meet()
        assert bench.call(lambda c: c.memory.delete(bench.namespace, "k"))
        assert bench.entry("k") is None

    with_each_fault(delete)


def test_a_batch_is_carried_out_once(with_each_fault: Callable[[Check], None]) -> None:
    def write_batch(bench: Bench) -> None:
        named = {"namespace": bench.namespace, "key": "new", "memory_type": "working"}
        changed = {"id": bench.set("k", {"n": 1}).id, "version": 1, "value": {"n": 2}}
        bench.meet()
        written = bench.call(lambda c: c.memory.batch([{**named, "value": {"n": 1}}, changed]))
        assert [entry.version for entry in written] == [1, 2]
        assert (bench.entry("new").version, bench.entry("k").version) == (1, 2)
        assert len(set(bench.keys_sent())) == 1

    with_each_fault(write_batch)


def test_a_query_gives_every_entry_once(
    make_benches: MakeBenches, with_each_fault: Callable[[Check], None]
) -> None:
    for number in range(5):
        make_benches.agent.client.memory.set("queried", f"k{number}", {"n": number})

    def query(bench: Bench) -> None:
        bench.meet(bench.fault, passed, bench.fault)
        found = bench.call(
            lambda c: c.memory.query(namespace="queried", memory_type="working", page_size=2)
        )
        assert [entry.value["n"] for entry in found] == [4, 3, 2, 1, 0]

    with_each_fault(query)


def test_events_come_once_each(
    make_benches: MakeBenches, with_each_fault: Callable[[Check], None]
) -> None:
    agent = make_benches.agent
    for number in range(3):
        agent.client.memory.set("logged", f"k{number}", {"n": number})
    until(lambda: len(list(agent.client.events.list_for_agent(agent.id))) >= 3)

    def list_events(bench: Bench) -> None:
        bench.meet()
        assert len(bench.call(lambda c: c.events.list_for_agent(agent.id))) == 3

    with_each_fault(list_events)


def test_a_delete_by_filter_is_carried_out(with_each_fault: Callable[[Check], None]) -> None:
    def delete(bench: Bench) -> None:
        for number in range(3):
            bench.set(f"k{number}", {"n": number})
        bench.meet()
        bench.call(lambda c: c.memory.delete_batch(namespace=bench.namespace))
        assert list(bench.straight.memory.query(namespace=bench.namespace)) == []

    with_each_fault(delete)


def test_a_task_is_registered_and_changed_once(with_each_fault: Callable[[Check], None]) -> None:
    def register_and_complete(bench: Bench) -> None:
        intent = f"intent-{bench.namespace}"
        bench.meet()
        task = bench.call(lambda c: c.tasks.create(intent))
        assert [each.id for each in bench.straight.tasks.list(intent)] == [task.id]
        bench.meet()
        ended = bench.call(lambda c: c.tasks.update(task.id, version=1, status="completed"))
        assert (ended.status, ended.version) == ("completed", 2)

    with_each_fault(register_and_complete)


NEVER_THROUGH: dict[str, tuple[type[AgentMemoryError], bool]] = {
    "stalled before": (ConnectionFailedError, True),
    "stalled after": (ConnectionFailedError, True),
    "dropped after": (ConnectionFailedError, True),
    "cut": (ConnectionFailedError, True),
    "garbage": (ConnectionFailedError, True),
    "not JSON": (InvalidAnswerError, True),
    "HTML 502": (ServiceUnavailableError, True),
    "503": (ServiceUnavailableError, True),
    "429": (ThrottledError, False),
}


def test_a_call_that_never_comes_through_says_whether_it_may_have_happened(
    make_benches: MakeBenches, subtests: pytest.Subtests
) -> None:
    named = {name: faults.FAULTS[name] for name in NEVER_THROUGH}
    for bench, (error, maybe) in zip(
        make_benches(named, cycle(KINDS)), NEVER_THROUGH.values(), strict=True
    ):
        with subtests.test(bench.name):
            bench.proxy.follow(repeat(bench.fault))
            impatient = bench.call.with_options(max_retries=2)
            with pytest.raises(error) as raised:
                replace(bench, call=impatient).set("k", {"n": 1})
            assert raised.value.may_have_happened is maybe
            assert len(bench.proxy.requests) == 3
            assert bench.api_key not in f"{raised.value!r} {raised.value}"


def test_a_service_that_is_not_there_is_told(server: LocalServer) -> None:
    with (
        Client("http://127.0.0.1:1", server.api_key, max_retries=1) as client,
        pytest.raises(ConnectionFailedError) as raised,
    ):
        client.memory.set("n", "k", {"n": 1})
    assert raised.value.may_have_happened is False


def test_it_waits_as_long_as_the_service_asks(bench: Bench) -> None:
    bench.meet(faults.throttled(retry_after=1))
    began = time.monotonic()
    bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 1}))
    assert time.monotonic() - began >= 1


def test_a_refusal_is_not_tried_again(bench: Bench) -> None:
    bench.straight.memory.set(bench.namespace, "k", {"n": 1})
    bench.proxy.plan()
    with pytest.raises(MemoryConflictError) as raised:
        bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 2}))
    assert (raised.value.current_value, raised.value.current_version) == ({"n": 1}, 1)
    assert raised.value.may_have_happened is False
    assert len(bench.proxy.requests) == 1


def test_each_call_has_a_key_of_its_own(bench: Bench) -> None:
    bench.proxy.plan()
    for _ in range(2):
        bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 1}))
    first, second = bench.keys_sent()
    assert first != second
