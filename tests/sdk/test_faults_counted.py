"""Many writers on a flaky network, answers lost at the worst moment, and a server that dies."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from agent_memory import AsyncClient, Client
from agent_memory.exceptions import AgentMemoryError, MemoryConflictError

from tests.sdk import faults
from tests.sdk.calling import Kind, calling
from tests.sdk.crew import Agent, Crew
from tests.sdk.fault_proxy import Exchange, Fault, FaultProxy, passed, proxy_to
from tests.sdk.mortal import Mortal

WRITERS, ROUNDS = 8, 3
NAMESPACE, KEY = "counting", "invoices"


def one_more(value: dict[str, Any]) -> dict[str, Any]:
    return {"n": value["n"] + 1}


def counted(agent: Agent) -> tuple[int, int]:
    entry = agent.client.memory.get_entry(NAMESPACE, KEY)
    assert entry is not None
    return entry.value["n"], entry.version


def test_eight_threads_on_one_client_lose_nothing(crew: Crew, flaky: FaultProxy) -> None:
    agent = crew.agent()
    agent.client.memory.set(NAMESPACE, KEY, {"n": 0})
    with (
        Client(flaky.address, agent.api_key, timeout=0.5, max_retries=10) as client,
        ThreadPoolExecutor(WRITERS) as threads,
    ):
        calls = [
            threads.submit(client.memory.update, NAMESPACE, KEY, one_more)
            for _ in range(WRITERS * ROUNDS)
        ]
        for call in calls:
            call.result()
    assert counted(agent) == (WRITERS * ROUNDS, WRITERS * ROUNDS + 1)


def test_eight_tasks_on_one_async_client_lose_nothing(crew: Crew, flaky: FaultProxy) -> None:
    agent = crew.agent()
    agent.client.memory.set(NAMESPACE, KEY, {"n": 0})

    async def count() -> None:
        async with AsyncClient(flaky.address, agent.api_key, timeout=0.5, max_retries=10) as client:
            updates = [
                client.memory.update(NAMESPACE, KEY, one_more) for _ in range(WRITERS * ROUNDS)
            ]
            await asyncio.gather(*updates)

    asyncio.run(count())
    assert counted(agent) == (WRITERS * ROUNDS, WRITERS * ROUNDS + 1)


def test_clients_that_know_nothing_of_each_other_count_right_or_say_so(
    crew: Crew, flaky: FaultProxy
) -> None:
    agent = crew.agent()
    agent.client.memory.set(NAMESPACE, KEY, {"n": 0})

    def count(_: int) -> tuple[int, int]:
        done = unknown = 0
        with Client(flaky.address, agent.api_key, timeout=0.5, max_retries=10) as client:
            for _ in range(ROUNDS):
                try:
                    client.memory.update(NAMESPACE, KEY, one_more)
                    done += 1
                except AgentMemoryError as error:
                    unknown += error.may_have_happened
        return done, unknown

    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(count, range(4)))
    done, unknown = (sum(each) for each in zip(*counts, strict=True))
    assert done + unknown == 4 * ROUNDS
    assert done <= counted(agent)[0] <= done + unknown


def then(fault: Fault, meanwhile: Callable[[], object]) -> Fault:
    """A fault, after which something happens before the client sees it."""

    def both(exchange: Exchange) -> None:
        fault(exchange)
        meanwhile()

    return both


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("is_certain", [False, True])
def test_only_an_update_that_certainly_did_not_happen_is_made_again_over_others(
    crew: Crew, proxy: FaultProxy, kind: Kind, *, is_certain: bool
) -> None:
    agent = crew.agent()
    agent.client.memory.set(NAMESPACE, KEY, {"n": 0})
    other = crew.again(agent).client

    def overtake() -> None:
        other.memory.update(NAMESPACE, KEY, one_more)

    fault = faults.dropped_before if is_certain else faults.dropped_after
    with calling(kind, proxy.address, agent.api_key) as call:
        call(lambda c: c.memory.get(NAMESPACE, KEY))  # from here on, an update is two requests
        proxy.plan(passed, then(fault, overtake))
        if is_certain:
            assert call(lambda c: c.memory.update(NAMESPACE, KEY, one_more)).value == {"n": 2}
        else:
            with pytest.raises(MemoryConflictError) as raised:
                call(lambda c: c.memory.update(NAMESPACE, KEY, one_more))
            assert raised.value.may_have_happened
    assert counted(agent) == (2, 3)


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Mortal]:
    made = Mortal(tmp_path / "data")
    yield made
    made.close()


def test_a_server_that_dies_in_the_middle_of_calls_carries_out_each_once(mortal: Mortal) -> None:
    with (
        proxy_to(mortal.server.address) as proxy,
        calling("sync", proxy.address, mortal.server.api_key) as sync_call,
        calling("async", proxy.address, mortal.server.api_key) as async_call,
    ):
        dies = faults.interrupted(lambda: mortal.die_and_rise(proxy))
        proxy.plan(dies)
        created = sync_call(lambda c: c.memory.set(NAMESPACE, KEY, {"n": 0}))
        proxy.plan(dies)
        changed = async_call(lambda c: c.memory.set(NAMESPACE, KEY, {"n": 1}, version=1))
        assert (created.version, changed.version, changed.id) == (1, 2, created.id)
        proxy.plan(dies)
        assert async_call(lambda c: c.memory.delete(NAMESPACE, KEY))
        assert sync_call(lambda c: c.memory.get(NAMESPACE, KEY)) is None


def test_updates_continue_while_the_server_restarts(mortal: Mortal) -> None:
    with (
        proxy_to(mortal.server.address) as proxy,
        Client(proxy.address, mortal.server.api_key, max_retries=10) as client,
        ThreadPoolExecutor(WRITERS) as threads,
    ):
        client.memory.set(NAMESPACE, KEY, {"n": 0})
        proxy.follow([passed] * 20 + [faults.interrupted(lambda: mortal.die_and_rise(proxy))])
        updates = [
            threads.submit(client.memory.update, NAMESPACE, KEY, one_more) for _ in range(40)
        ]
        for update in updates:
            update.result()
        entry = client.memory.get_entry(NAMESPACE, KEY)
    assert entry is not None
    assert (entry.value, entry.version) == ({"n": 40}, 41)
