"""A worker's function and what becomes of its task (RFC-0015 "Worker Context", §8)."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from agent_memory import Client, Worker
from agent_memory.context import AsyncContext, Context
from agent_memory.exceptions import AuthenticationError

from tests.sdk.crew import Crew, until
from tests.sdk.worker.seed import WORKER_BLOCK

POLL = 0.02


def run_once(worker: Worker, client: Client) -> int:
    return worker.run(client, poll=POLL, once=True)


def test_the_seeds_worker_runs_as_it_is_written(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    invoices = [SimpleNamespace(id=f"inv_{n}", index=n) for n in range(1, 4)]
    processed: list[str] = []
    names: dict[str, Any] = {
        "fetch_invoices": lambda _start_from: invoices,
        "process": lambda invoice: processed.append(invoice.id),
    }
    exec(WORKER_BLOCK, names)  # noqa: S102 - the seed's own words are what is tested
    assert run_once(names["process_invoices"], agent.client) == 1
    assert processed == ["inv_1", "inv_2", "inv_3"]
    assert crew.status(task) == "completed"
    (kept,) = crew.archived(task)
    assert kept["value"] == {"completed": 3, "last_id": "inv_3"}
    assert kept["tags"] == ["batch", "in-progress"]
    learned = agent.client.memory.get_entry("learned_patterns", "invoice_batch_size")
    assert learned is not None
    assert (learned.memory_type, learned.value["optimal_batch_size"]) == ("episodic", 50)


def test_what_it_returns_is_the_output(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)

    @Worker()
    def count(_ctx: Context) -> dict[str, int]:
        return {"invoices": 47}

    assert run_once(count, agent.client) == 1
    assert crew.status(task) == "completed"
    assert crew.get(task).output == {"invoices": 47}


def test_what_it_raises_fails_the_task_and_archives_its_memory(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)

    @Worker()
    def stumble(ctx: Context) -> None:
        ctx.memory.set("batch", "progress", {"completed": 23})
        raise LookupError("no invoice 24")

    assert run_once(stumble, agent.client) == 1
    assert crew.status(task) == "failed"
    assert crew.get(task).error == {"type": "LookupError", "message": "no invoice 24"}
    assert [each["value"] for each in crew.archived(task)] == [{"completed": 23}]


@pytest.mark.parametrize(
    ("result", "error"), [(object(), "TypeError"), ("x" * 200_000, "TooLargeError")]
)
def test_a_result_that_is_no_json_or_too_large_fails_the_task(
    crew: Crew, result: object, error: str
) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    run_once(Worker()(lambda _ctx: result), agent.client)
    assert crew.status(task) == "failed"
    assert crew.get(task).error["type"] == error


def test_it_takes_only_what_it_can_do(crew: Crew) -> None:
    agent = crew.agent()
    fitting = crew.task(agent, capabilities_required=["billing"])
    crew.task(agent, capabilities_required=["billing", "law"])
    crew.task(agent, status="blocked")
    taken: list[str] = []
    worker = Worker(["billing", "sql"])(lambda ctx: taken.append(ctx.task.id))
    assert run_once(worker, agent.client) == 1
    assert taken == [fitting]


def test_it_begins_no_task_before_those_that_it_depends_on(crew: Crew) -> None:
    gatherer, biller = crew.agent(), crew.agent()
    first = crew.task(gatherer)
    second = crew.task(biller, crew.get(first).intent_id, depends_on=[first])
    nothing = Worker()(lambda _ctx: None)
    assert run_once(nothing, biller.client) == 0
    assert run_once(nothing, gatherer.client) == 1
    assert run_once(nothing, biller.client) == 1
    assert crew.status(second) == "completed"


def test_it_goes_on_with_what_was_begun_then_takes_the_oldest(crew: Crew) -> None:
    agent = crew.agent()
    oldest, younger, begun = (crew.task(agent) for _ in range(3))
    agent.client.tasks.update(begun, version=1, status="running")
    taken: list[str] = []
    worker = Worker()(lambda ctx: taken.append(ctx.task.id))
    assert worker.run(agent.client, poll=POLL, max_tasks=2) == 2
    assert taken == [begun, oldest]
    assert crew.status(younger) == "pending"


def test_an_async_function_is_a_worker_too(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)

    @Worker()
    async def work(ctx: AsyncContext) -> dict[str, Any] | None:
        await ctx.memory.set("batch", "progress", {"completed": 1})
        await ctx.client.memory.set("notes", "of all", {"seen": 1}, memory_type="episodic")
        return await ctx.memory.get("batch", "progress")

    assert run_once(work, agent.client) == 1
    assert crew.status(task) == "completed"
    assert crew.get(task).output == {"completed": 1}
    assert agent.client.memory.get("notes", "of all") == {"seen": 1}


def test_it_works_until_it_is_stopped(crew: Crew) -> None:
    agent = crew.agent()
    worker = Worker()(lambda _ctx: None)
    counted: list[int] = []
    thread = threading.Thread(target=lambda: counted.append(worker.run(agent.client, poll=POLL)))
    thread.start()
    tasks = [crew.task(agent) for _ in range(3)]
    until(lambda: {crew.status(task) for task in tasks} == {"completed"})
    worker.stop()
    thread.join()
    assert counted == [3]


def test_a_key_that_is_no_good_ends_it(crew: Crew) -> None:
    worker = Worker()(lambda _ctx: None)
    with pytest.raises(AuthenticationError):
        worker.run(server_url=crew.address, api_key="am_no_such_key", poll=POLL)


@pytest.mark.parametrize("wrong", ["billing", print])
def test_the_decorator_says_how_it_is_written(wrong: Any) -> None:
    with pytest.raises(TypeError, match="capabilities"):
        Worker(wrong)


def test_a_worker_is_not_called() -> None:
    worker = Worker()(lambda _ctx: None)
    with pytest.raises(TypeError, match=r"run\(\)"):
        worker(lambda _ctx: None)


def test_a_worker_without_a_function_says_so() -> None:
    with pytest.raises(TypeError, match="decorates"):
        Worker().run(api_key="am_any")


@pytest.mark.parametrize("wrong", [{"lease": 1}, {"grace": -1}])
def test_wrong_times_are_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="lease"):
        Worker(**wrong)
