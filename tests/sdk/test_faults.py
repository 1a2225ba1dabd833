"""Calls that networks and servers break: nothing is written twice, nothing is lost, nothing hangs.

Each call meets a fault, a create meets it twice, and then comes through; or it never does. A
client that goes to the server directly tells what came of it.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
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
from tests.sdk.crew import Crew, until
from tests.sdk.fault_proxy import Fault, FaultProxy, passed

BRIEF, LONG = 0.25, 10.0  # seconds until the client gives up on a call that stalls, on any other
KINDS: tuple[Kind, Kind] = ("sync", "async")
each_fault = pytest.mark.parametrize("fault", faults.FAULTS.values(), ids=list(faults.FAULTS))
each_fault_once = pytest.mark.parametrize(  # by one client or the other: their logic is the same
    ("bench", "fault"),
    list(zip(cycle(KINDS), faults.FAULTS.values(), strict=False)),
    ids=list(faults.FAULTS),
    indirect=["bench"],
)


@dataclass(frozen=True)
class Bench:
    """A client behind the proxy, a client that goes straight, and an agent of their own."""

    proxy: FaultProxy
    call: Calling
    straight: Client
    agent_id: str
    api_key: str
    namespace: str = "faults"

    def entry(self, key: str) -> Any:
        """An entry as it stands."""
        return self.straight.memory.get_entry(self.namespace, key)

    def create(self, key: str, value: dict[str, Any]) -> Any:
        """Creates an entry, without a fault; the client behind the proxy has seen it."""
        return self.call(lambda c: c.memory.set(self.namespace, key, value))

    def keys_sent(self) -> list[str | None]:
        """The Idempotency-Key of each request since the plan was made."""
        return [request.idempotency_key for request in self.proxy.requests]

    def own_events(self, client: Any) -> Any:
        """A fresh look at the events of the caller, an agent of its own."""
        return client.events.agent(self.agent_id)

    def await_events(self, count: int) -> None:
        """Returns once the agent's log has so many."""
        until(lambda: len(list(self.own_events(self.straight))) >= count)


@pytest.fixture(params=KINDS)
def bench(request: pytest.FixtureRequest, proxy: FaultProxy, crew: Crew) -> Iterator[Bench]:
    """The bench of a new agent, for either client."""
    agent = crew.agent()
    kind: Kind = request.param
    stalls = request.node.callspec.params.get("fault") in faults.STALLS
    timeout = BRIEF if stalls else LONG
    with calling(kind, proxy.address, agent.api_key, timeout=timeout) as call:
        yield Bench(proxy, call, agent.client, agent.id, agent.api_key)


@each_fault
def test_a_create_is_carried_out_once(bench: Bench, fault: Fault) -> None:
    bench.proxy.plan(fault, fault)
    created = bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 1}))
    assert (created.version, created.value) == (1, {"n": 1})
    assert (bench.entry("k").id, bench.entry("k").version) == (created.id, 1)
    assert len(bench.proxy.requests) == 3
    assert None not in bench.keys_sent()
    assert len(set(bench.keys_sent())) == 1


@each_fault_once
def test_an_update_is_carried_out_once(bench: Bench, fault: Fault) -> None:
    bench.create("k", {"n": 1})
    bench.proxy.plan(fault)
    updated = bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 2}))
    assert (updated.version, updated.value) == (2, {"n": 2})
    assert (bench.entry("k").version, bench.entry("k").value) == (2, {"n": 2})
    assert len(set(bench.keys_sent())) == 1


@each_fault_once
def test_the_version_it_tracks_is_right_afterwards(bench: Bench, fault: Fault) -> None:
    bench.proxy.plan(fault)
    bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 1}))
    bench.proxy.plan(fault)
    bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 2}))
    assert bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 3})).version == 3


@each_fault_once
def test_a_delete_is_carried_out(bench: Bench, fault: Fault) -> None:
    bench.create("k", {"n": 1})
    bench.proxy.plan(fault)
    assert bench.call(lambda c: c.memory.delete(bench.namespace, "k"))
    assert bench.entry("k") is None


@each_fault_once
def test_a_batch_is_carried_out_once(bench: Bench, fault: Fault) -> None:
    first = bench.create("k", {"n": 1})
    new = {"namespace": bench.namespace, "key": "new", "memory_type": "working", "value": {"n": 1}}
    changed = {"id": first.id, "version": 1, "value": {"n": 2}}
    bench.proxy.plan(fault)
    written = bench.call(lambda c: c.memory.batch([new, changed]))
    assert [entry.version for entry in written] == [1, 2]
    assert (bench.entry("new").version, bench.entry("k").version) == (1, 2)
    assert len(set(bench.keys_sent())) == 1


@each_fault_once
def test_a_query_gives_every_entry_once(bench: Bench, fault: Fault) -> None:
    for number in range(5):
        bench.create(f"k{number}", {"n": number})
    bench.proxy.plan(fault, passed, fault)
    found = bench.call(
        lambda c: c.memory.query(namespace=bench.namespace, memory_type="working", page_size=2)
    )
    assert [entry.value["n"] for entry in found] == [4, 3, 2, 1, 0]


@each_fault_once
def test_events_come_once_each(bench: Bench, fault: Fault) -> None:
    for number in range(3):
        bench.create(f"k{number}", {"n": number})
    bench.await_events(3)
    bench.proxy.plan(fault)
    assert len(bench.call(bench.own_events)) == 3


@each_fault_once
def test_a_delete_by_filter_is_carried_out(bench: Bench, fault: Fault) -> None:
    for number in range(3):
        bench.create(f"k{number}", {"n": number})
    bench.proxy.plan(fault)
    bench.call(lambda c: c.memory.delete_batch(namespace=bench.namespace))
    assert list(bench.straight.memory.query(namespace=bench.namespace)) == []


@each_fault_once
def test_a_task_is_registered_and_changed_once(bench: Bench, fault: Fault) -> None:
    intent = f"intent-{bench.namespace}"
    bench.proxy.plan(fault)
    task = bench.call(lambda c: c.tasks.create(intent))
    assert [each.id for each in bench.straight.tasks.list(intent)] == [task.id]
    bench.proxy.plan(fault)
    ended = bench.call(lambda c: c.tasks.update(task.id, version=1, status="completed"))
    assert (ended.status, ended.version) == ("completed", 2)


LAST_WORDS: dict[str, tuple[Fault, type[AgentMemoryError], bool]] = {
    "stalled before": (faults.stalled_before, ConnectionFailedError, True),
    "stalled after": (faults.stalled_after, ConnectionFailedError, True),
    "dropped after": (faults.dropped_after, ConnectionFailedError, True),
    "cut": (faults.cut, ConnectionFailedError, True),
    "garbage": (faults.garbage, ConnectionFailedError, True),
    "not JSON": (faults.not_json, InvalidAnswerError, True),
    "HTML 502": (faults.html_502, ServiceUnavailableError, True),
    "503": (faults.unavailable, ServiceUnavailableError, True),
    "429": (faults.throttled(), ThrottledError, False),
}


@pytest.mark.parametrize(("fault", "error", "maybe"), LAST_WORDS.values(), ids=list(LAST_WORDS))
def test_what_never_comes_through_is_told_honestly(
    bench: Bench, fault: Fault, error: type[AgentMemoryError], *, maybe: bool
) -> None:
    bench.proxy.follow(repeat(fault))
    with pytest.raises(error) as told:
        bench.call(
            lambda c: c.with_options(max_retries=2).memory.set(bench.namespace, "k", {"n": 1})
        )
    assert told.value.may_have_happened is maybe
    assert len(bench.proxy.requests) == 3
    assert bench.api_key not in f"{told.value!r} {told.value}"


def test_a_service_that_is_not_there_is_told(server: LocalServer) -> None:
    with (
        Client("http://127.0.0.1:1", server.api_key, max_retries=1) as client,
        pytest.raises(ConnectionFailedError) as told,
    ):
        client.memory.set("n", "k", {"n": 1})
    assert told.value.may_have_happened is False


def test_it_waits_as_long_as_the_service_asks(bench: Bench) -> None:
    bench.proxy.plan(faults.throttled(retry_after=1))
    began = time.monotonic()
    bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 1}))
    assert time.monotonic() - began >= 1


def test_a_refusal_is_not_tried_again(bench: Bench) -> None:
    bench.straight.memory.set(bench.namespace, "k", {"n": 1})
    bench.proxy.plan()
    with pytest.raises(MemoryConflictError) as told:
        bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 2}))
    assert (told.value.current_value, told.value.current_version) == ({"n": 1}, 1)
    assert told.value.may_have_happened is False
    assert len(bench.proxy.requests) == 1


def test_each_call_has_a_key_of_its_own(bench: Bench) -> None:
    bench.proxy.plan()
    for _ in range(2):
        bench.call(lambda c: c.memory.set(bench.namespace, "k", {"n": 1}))
    first, second = bench.keys_sent()
    assert first != second
