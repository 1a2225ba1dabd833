"""Test a worker that loses its task, or is asked to stop (RFC-0015 §8)."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from agent_memory import Worker
from agent_memory.context import AsyncContext, Context
from agent_memory.exceptions import TaskLostError

from tests.contract.local_server import PATIENCE
from tests.sdk.crew import Agent, Crew, until

POLL = 0.02
Meanwhile = Callable[[Crew, str], Any]


def cancel(crew: Crew, task: str) -> None:
    crew.admin.tasks.update(task, version=crew.get(task).version, status="cancelled")


def hand_over(crew: Crew, task: str) -> None:
    crew.hand_over(task, crew.agent())


class Background:
    """A worker that runs in its own thread."""

    def __init__(self, worker: Worker, agent: Agent, **options: Any) -> None:
        self.worker = worker
        self._thread = threading.Thread(
            target=worker.run, args=(agent.client,), kwargs={"poll": POLL, **options}
        )
        self._thread.start()

    def join(self) -> None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.mark.parametrize("meanwhile", [cancel, hand_over])
def test_a_task_that_is_lost_under_way_is_dropped_without_a_report(
    crew: Crew, meanwhile: Meanwhile
) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    begun, lost = threading.Event(), threading.Event()

    @Worker()
    def work(ctx: Context) -> None:
        begun.set()
        try:
            until(lambda: ctx.memory.get("batch", "progress"))
        except Exception as error:
            raise AssertionError("no handler of errors is to see it") from error
        except TaskLostError:
            lost.set()
            raise

    running = Background(work, agent, max_tasks=1)
    assert begun.wait(PATIENCE)
    meanwhile(crew, task)
    running.join()
    assert lost.is_set()
    left = crew.get(task)
    assert (left.status, left.error) == ("cancelled" if meanwhile is cancel else "running", None)


@pytest.mark.parametrize("meanwhile", [cancel, hand_over])
def test_an_async_function_is_cancelled_where_it_waits(crew: Crew, meanwhile: Meanwhile) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    begun, cancelled = threading.Event(), threading.Event()

    @Worker()
    async def work(_ctx: AsyncContext) -> None:
        begun.set()
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    running = Background(work, agent, max_tasks=1)
    assert begun.wait(PATIENCE)
    meanwhile(crew, task)
    running.join()
    assert cancelled.is_set()
    assert crew.get(task).error is None


def test_a_function_that_ends_after_its_task_was_lost_reports_nothing(crew: Crew) -> None:
    agent, other = crew.agent(), crew.agent()
    task = crew.task(agent)

    @Worker()
    def work(ctx: Context) -> dict[str, bool]:
        crew.hand_over(ctx.task.id, other)
        return {"late": True}

    work.run(agent.client, poll=POLL, once=True)
    left = crew.get(task)
    assert (left.status, left.output, left.assigned_agent) == ("running", None, other.id)


def test_others_may_change_the_task_under_way(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)

    @Worker()
    def work(ctx: Context) -> None:
        present = crew.get(ctx.task.id)
        crew.admin.tasks.update(present.id, version=present.version, description="the big one")

    work.run(agent.client, poll=POLL, once=True)
    assert (crew.status(task), crew.get(task).raw["description"]) == ("completed", "the big one")


def test_stop_lets_the_function_end_and_takes_no_more(crew: Crew) -> None:
    agent = crew.agent()
    task, next_one = crew.task(agent), crew.task(agent)

    @Worker()
    def work(ctx: Context) -> None:
        work.stop()
        assert ctx.is_stopping

    Background(work, agent).join()
    assert (crew.status(task), crew.status(next_one)) == ("completed", "pending")


def test_after_the_grace_the_task_is_left_for_a_successor_at_once(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    saved = threading.Event()

    @Worker(grace=0.1)
    def never_done(ctx: Context) -> None:
        while True:
            ctx.memory.set("batch", "progress", {"completed": 23})
            saved.set()

    running = Background(never_done, agent)
    assert saved.wait(PATIENCE)
    never_done.stop()
    running.join()
    assert crew.status(task) == "running"
    found: list[Any] = []
    goes_on = Worker()(lambda ctx: found.append(ctx.memory.get("batch", "progress")))
    assert goes_on.run(agent.client, poll=POLL, once=True) == 1
    assert found == [{"completed": 23}]
    assert crew.status(task) == "completed"


def test_a_function_leaves_its_task_as_it_is(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    worker = Worker()(lambda ctx: ctx.release_task())
    assert worker.run(agent.client, poll=POLL, once=True) == 1
    assert crew.status(task) == "running"


def test_two_workers_of_one_agent_share_its_tasks(crew: Crew) -> None:
    agent = crew.agent()
    tasks = [crew.task(agent) for _ in range(6)]
    both_busy = threading.Barrier(2, timeout=PATIENCE)
    taken: list[str] = []

    def work(ctx: Context) -> None:
        taken.append(ctx.task.id)
        both_busy.wait()

    workers = [Background(Worker()(work), crew.again(agent), max_tasks=3) for _ in range(2)]
    for each in workers:
        each.join()
    assert sorted(taken) == sorted(tasks)
