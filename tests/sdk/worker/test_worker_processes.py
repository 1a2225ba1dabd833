"""Workers as processes: killed, stopped, suspended, and taken over from (RFC-0015 §8.1)."""

import signal
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from agent_memory import Context, Worker

from tests.contract.local_server import PATIENCE
from tests.sdk.crew import Agent, Crew, until
from tests.sdk.worker.agents import Journal, agent_process

ITEMS = [f"inv_{number}" for number in range(1, 9)]
MIDDLE = "inv_4"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def batch(crew: Crew, agent: Agent) -> str:
    return crew.task(agent, input={"items": ITEMS}, capabilities_required=["billing"])


def crash_in_the_middle(crew: Crew, agent: Agent, journal: Journal) -> None:
    hold = {"before": MIDDLE}
    with agent_process(crew.address, agent.api_key, journal, hold=hold) as process:
        journal.await_hold()
        process.kill()


def test_a_successor_resumes_from_the_checkpoint_of_a_killed_agent(
    crew: Crew, journal: Journal
) -> None:
    first, second = crew.agent(), crew.agent()
    task = batch(crew, first)
    crash_in_the_middle(crew, first, journal)
    crew.hand_over(task, second)
    with agent_process(crew.address, second.api_key, journal, once=True) as successor:
        assert successor.wait(PATIENCE) == 0
    assert sorted(journal.items(task)) == sorted([*ITEMS, MIDDLE])
    assert (crew.status(task), crew.get(task).output) == ("completed", {"processed": len(ITEMS)})
    assert len(ITEMS) in [each["value"]["completed"] for each in crew.archived(task, 2)]


def test_sigterm_drains(crew: Crew, journal: Journal) -> None:
    agent = crew.agent()
    task = batch(crew, agent)
    with agent_process(crew.address, agent.api_key, journal, pace=0.4) as process:
        until(lambda: journal.items(task))
        later = batch(crew, agent)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert journal.items(task) == ITEMS
    assert (crew.status(task), crew.status(later)) == ("completed", "pending")


def test_sigterm_leaves_what_takes_too_long(crew: Crew, journal: Journal) -> None:
    agent = crew.agent()
    task = batch(crew, agent)
    options: dict[str, Any] = {"hold": {"after": MIDDLE}, "grace": 0.2}
    with agent_process(crew.address, agent.api_key, journal, **options) as process:
        journal.await_hold()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert crew.status(task) == "running"
    assert journal.items(task) == ITEMS[: ITEMS.index(MIDDLE) + 1]


def test_two_processes_of_one_agent_never_run_one_task_at_once(
    crew: Crew, journal: Journal
) -> None:
    agent = crew.agent()
    tasks = [batch(crew, agent) for _ in range(4)]
    options: dict[str, Any] = {"once": True, "lease": 60}
    with (
        agent_process(crew.address, agent.api_key, journal, **options) as one,
        agent_process(crew.address, agent.api_key, journal, **options) as other,
    ):
        assert (one.wait(PATIENCE), other.wait(PATIENCE)) == (0, 0)
    for task in tasks:
        assert journal.items(task) == ITEMS
        assert len(set(journal.pids(task))) == 1
    assert {crew.status(task) for task in tasks} == {"completed"}


def test_a_process_that_slept_past_its_lease_gives_way(crew: Crew, journal: Journal) -> None:
    agent = crew.agent()
    task = batch(crew, agent)
    with agent_process(crew.address, agent.api_key, journal, pace=0.5) as sleeper:
        until(lambda: len(journal.items(task)) >= 2)
        sleeper.send_signal(signal.SIGSTOP)
        with agent_process(crew.address, agent.api_key, journal, hold={"after": MIDDLE}):
            journal.await_hold()
            before = journal.items(task)
            sleeper.send_signal(signal.SIGCONT)
            until(lambda: ["lost", task, str(sleeper.pid)] in journal.lines)
            assert journal.items(task) == before
    assert sum(Counter(before).values()) - len(set(before)) <= 1  # the item that it slept over
    assert crew.status(task) == "running"


def test_a_process_that_slept_while_another_had_its_task_gives_way(
    crew: Crew, journal: Journal
) -> None:
    agent = crew.agent()
    task = batch(crew, agent)
    meanwhile: list[str] = []

    @Worker(["billing"])
    def leaves(ctx: Context) -> None:
        meanwhile.append(ctx.task.id)
        ctx.release_task()

    with agent_process(crew.address, agent.api_key, journal, pace=0.5) as sleeper:
        until(lambda: journal.items(task))
        sleeper.send_signal(signal.SIGSTOP)
        until(lambda: leaves.run(agent.client, poll=0.02, once=True))
        sleeper.send_signal(signal.SIGCONT)
        until(lambda: ["lost", task, str(sleeper.pid)] in journal.lines)
    assert meanwhile == [task]


def test_a_second_ctrl_c_ends_it_at_once(crew: Crew, journal: Journal) -> None:
    agent = crew.agent()
    task = batch(crew, agent)
    with agent_process(crew.address, agent.api_key, journal, hold={"after": MIDDLE}) as process:
        journal.await_hold()
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) != 0
    assert crew.status(task) == "running"


def test_the_lease_is_kept_alive_while_the_function_works(crew: Crew, journal: Journal) -> None:
    agent = crew.agent()
    task = batch(crew, agent)
    options: dict[str, Any] = {"pace": 0.6, "lease": 4}
    with (
        agent_process(crew.address, agent.api_key, journal, **options) as one,
        agent_process(crew.address, agent.api_key, journal, **options) as other,
    ):
        until(lambda: crew.status(task) == "completed")
        assert {one.poll(), other.poll()} == {None}
    assert journal.items(task) == ITEMS
    assert len(set(journal.pids(task))) == 1
