"""Workers whose service is away for a while: no task fails of it, and nothing is done twice."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_memory import Client, Worker
from agent_memory.context import Context
from agent_memory.exceptions import ConnectionFailedError

from tests.contract.local_server import PATIENCE, LocalServer
from tests.sdk import faults
from tests.sdk.crew import Agent, Crew, until
from tests.sdk.fault_proxy import Fault, FaultProxy, passed, proxy_to
from tests.sdk.faults import flakiness
from tests.sdk.mortal import Mortal

POLL = 0.02


class Weather:
    """A way to the server that can be closed."""

    def __init__(self, proxy: FaultProxy) -> None:
        self.address = proxy.address
        self.away = False
        proxy.follow(iter(self._fault, None))

    def _fault(self) -> Fault:
        return faults.dropped_before if self.away else passed

    def client(self, agent: Agent) -> Client:
        """A client that goes this way, and doesn't try again."""
        return Client(self.address, agent.api_key, max_retries=0)


@pytest.fixture
def weather(server: LocalServer) -> Iterator[Weather]:
    """The way to the session's server."""
    with proxy_to(server.address) as proxy:
        yield Weather(proxy)


def test_it_waits_for_a_service_that_is_not_there_yet(crew: Crew, weather: Weather) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    worker = Worker()(lambda _ctx: None)
    weather.away = True
    with weather.client(agent) as client:
        thread = threading.Thread(target=worker.run, args=(client,), kwargs={"poll": POLL})
        thread.start()
        thread.join(10 * POLL)
        weather.away = False
        until(lambda: crew.status(task) == "completed")
        worker.stop()
        thread.join(PATIENCE)


def test_once_it_says_that_the_service_is_not_there(crew: Crew, weather: Weather) -> None:
    weather.away = True
    worker = Worker()(lambda _ctx: None)
    with weather.client(crew.agent()) as client, pytest.raises(ConnectionFailedError):
        worker.run(client, poll=POLL, once=True)


def test_a_function_that_the_service_left_goes_on_later(crew: Crew, weather: Weather) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    processed: list[int] = []

    @Worker(lease=2)
    def work(ctx: Context) -> None:
        saved = ctx.memory.get("batch", "progress") or {"completed": 0}
        for number in range(saved["completed"] + 1, 5):
            processed.append(number)
            ctx.memory.set("batch", "progress", {"completed": number})
            if number == 2 and not weather.away:
                weather.away = True
                threading.Timer(0.2, setattr, (weather, "away", False)).start()

    with weather.client(agent) as client:
        assert work.run(client, poll=POLL, max_tasks=2) == 2
    assert crew.status(task) == "completed"
    assert processed == [1, 2, 3, 3, 4]


@pytest.mark.parametrize("seconds", [0.2, 3.0], ids=["briefly", "longer than the lease"])
def test_a_result_is_reported_when_the_service_is_back(
    crew: Crew, weather: Weather, seconds: float
) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    runs: list[str] = []

    @Worker(lease=2)
    def work(ctx: Context) -> dict[str, int]:
        runs.append(ctx.task.id)
        weather.away = True
        threading.Timer(seconds, setattr, (weather, "away", False)).start()
        return {"processed": 47}

    with weather.client(agent) as client:
        assert work.run(client, poll=POLL, max_tasks=1) == 1
    assert (crew.status(task), crew.get(task).output) == ("completed", {"processed": 47})
    assert runs == [task]


def test_each_item_is_processed_once_on_a_flaky_network(crew: Crew, server: LocalServer) -> None:
    agent = crew.agent()
    tasks = [crew.task(agent) for _ in range(2)]
    processed: list[tuple[str, int]] = []

    @Worker()
    def work(ctx: Context) -> None:
        saved = ctx.memory.get("batch", "progress") or {"completed": 0}
        for number in range(saved["completed"] + 1, 6):
            processed.append((ctx.task.id, number))
            ctx.memory.set("batch", "progress", {"completed": number})

    with proxy_to(server.address) as proxy:
        proxy.follow(flakiness())
        with Client(proxy.address, agent.api_key, timeout=0.5, max_retries=10) as client:
            work.run(client, poll=POLL, max_tasks=2)
    assert {crew.status(task) for task in tasks} == {"completed"}
    assert processed == [(task, number) for task in tasks for number in range(1, 6)]


def test_the_server_restarts_under_way(tmp_path: Path) -> None:
    mortal = Mortal(tmp_path / "data")
    processed: list[int] = []

    @Worker(lease=5)
    def work(ctx: Context) -> None:
        for number in range(1, 7):
            processed.append(number)
            ctx.memory.set("batch", "progress", {"completed": number})
            if number == 3:
                mortal.die_and_rise(proxy)

    with (
        proxy_to(mortal.server.address) as proxy,
        Client(proxy.address, mortal.server.api_key) as admin,
    ):
        crew = Crew(proxy.address, admin)
        agent = crew.agent()
        task = crew.task(agent)
        assert work.run(agent.client, poll=POLL, max_tasks=1) == 1
        assert crew.status(task) == "completed"
        assert [each["value"] for each in crew.archived(task)] == [{"completed": 6}]
        crew.close()
    mortal.close()
    assert processed == [1, 2, 3, 4, 5, 6]
