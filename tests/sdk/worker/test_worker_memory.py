"""`ctx.memory`: scoped to the task, with the predecessor's checkpoint in sight (RFC-0015 §8)."""

from collections.abc import Callable
from typing import Any

import pytest
from agent_memory import Worker
from agent_memory.context import Context
from agent_memory.exceptions import MemoryConflictError

from tests.sdk.crew import Agent, Crew

NAMESPACE, KEY = "invoice_processing", "batch_progress"
Work = Callable[[Context], Any]


def within(crew: Crew, agent: Agent, work: Work, task: str | None = None) -> str:
    """Has the agent work on a task, and leave it open; the task's id."""
    task = task or crew.task(agent)

    def work_and_leave(ctx: Context) -> None:
        if ctx.task.id == task:
            work(ctx)
        ctx.release_task()

    Worker()(work_and_leave).run(agent.client, poll=0.02, once=True)
    assert crew.status(task) == "running", crew.get(task).error
    return task


def write(completed: int) -> Work:
    return lambda ctx: ctx.memory.set(NAMESPACE, KEY, {"completed": completed})


def read_into(found: list[Any]) -> Work:
    return lambda ctx: found.append(ctx.memory.get(NAMESPACE, KEY))


def test_writes_are_working_memory_of_the_task(crew: Crew) -> None:
    agent = crew.agent()
    task = within(crew, agent, write(1))
    (entry,) = crew.admin.memory.query(task_id=task)
    assert (entry.memory_type, entry.agent_id) == ("working", agent.id)
    assert (entry.namespace, entry.key, entry.value) == (NAMESPACE, KEY, {"completed": 1})


def test_each_write_is_a_version_of_one_entry(crew: Crew) -> None:
    agent = crew.agent()
    task = within(crew, agent, lambda ctx: [write(n)(ctx) for n in range(5)])
    (entry,) = crew.admin.memory.query(task_id=task)
    assert (entry.version, entry.value) == (5, {"completed": 4})


def test_a_successor_reads_the_checkpoint_and_writes_its_own(crew: Crew) -> None:
    first, second = crew.agent(), crew.agent()
    task = within(crew, first, write(23))
    crew.hand_over(task, second)
    found: list[Any] = []
    within(crew, second, lambda ctx: (read_into(found)(ctx), write(24)(ctx)), task)
    assert found == [{"completed": 23}]
    entries = {each.agent_id: each.value for each in crew.admin.memory.query(task_id=task)}
    assert entries == {first.id: {"completed": 23}, second.id: {"completed": 24}}


def test_a_task_that_comes_back_goes_on_where_the_other_agent_left_it(crew: Crew) -> None:
    first, second = crew.agent(), crew.agent()
    task = within(crew, first, write(23))
    crew.hand_over(task, second)
    within(crew, second, write(40), task)
    crew.hand_over(task, first)
    found: list[Any] = []
    within(crew, first, lambda ctx: [read_into(found)(ctx), write(41)(ctx)], task)
    within(crew, first, read_into(found), task)
    assert found == [{"completed": 40}, {"completed": 41}]


def test_what_was_written_before_a_restart_is_overwritten_unread(crew: Crew) -> None:
    agent = crew.agent()
    task = within(crew, agent, write(23))
    within(crew, agent, write(1), task)
    (entry,) = crew.admin.memory.query(task_id=task)
    assert (entry.version, entry.value) == (2, {"completed": 1})


def test_two_open_tasks_of_an_agent_keep_their_memory_apart(crew: Crew) -> None:
    agent, successor = crew.agent(), crew.agent()
    one, other = within(crew, agent, write(1)), within(crew, agent, write(2))
    found: list[Any] = []
    within(crew, agent, read_into(found), one)
    within(crew, agent, lambda ctx: [read_into(found)(ctx), write(3)(ctx)], other)
    crew.hand_over(other, successor)
    within(crew, successor, read_into(found), other)
    assert found == [{"completed": 1}, {"completed": 2}, {"completed": 3}]


def test_beyond_the_task_it_reads_the_agents_own_then_the_shared(crew: Crew) -> None:
    agent = crew.agent()
    crew.admin.memory.set(agent.id, "policy", {"limit": 1}, memory_type="semantic")
    found: list[Any] = []

    def read(ctx: Context) -> None:
        found.append(ctx.memory.get(agent.id, "policy"))

    task = within(crew, agent, read)
    agent.client.memory.set(agent.id, "policy", {"limit": 2}, memory_type="episodic")
    within(crew, agent, read, task)
    within(crew, agent, lambda ctx: ctx.memory.set(agent.id, "other", {"limit": 3}), task)
    assert found == [{"limit": 1}, {"limit": 2}]


def test_what_it_learned_for_an_earlier_task_can_be_learned_anew(crew: Crew) -> None:
    agent = crew.agent()

    def learn(size: int) -> Work:
        return lambda ctx: ctx.memory.set("learned", "size", {"is": size}, memory_type="episodic")

    task = within(crew, agent, learn(50))
    within(crew, crew.again(agent), learn(60), task)
    entry = agent.client.memory.get_entry("learned", "size")
    assert entry is not None
    assert (entry.value, entry.version, entry.task_id) == ({"is": 60}, 2, None)


def test_a_write_that_it_has_not_seen_is_a_conflict(crew: Crew) -> None:
    agent = crew.agent()

    def meet_another(ctx: Context) -> None:
        entry = ctx.memory.set(NAMESPACE, KEY, {"completed": 1})
        path, version = f"/api/v1/memory/{entry.id}", {"If-Match": "1"}
        body = {"value": {"completed": 9}}
        agent.client.request("PATCH", path, json=body, headers=version)
        with pytest.raises(MemoryConflictError) as conflict:
            ctx.memory.set(NAMESPACE, KEY, {"completed": 2})
        assert conflict.value.current_value == {"completed": 9}
        ctx.memory.set(NAMESPACE, KEY, {"completed": 10}, version=conflict.value.current_version)

    task = within(crew, agent, meet_another)
    (entry,) = crew.admin.memory.query(task_id=task)
    assert (entry.value, entry.version) == ({"completed": 10}, 3)


def test_delete_and_query_are_of_the_task(crew: Crew) -> None:
    agent = crew.agent()
    counts: list[int] = []

    def tidy(ctx: Context) -> None:
        for key in ("a", "b"):
            ctx.memory.set(NAMESPACE, key, {"is": key}, tags=[key])
        counts.append(len(ctx.memory.query()))
        counts.append(len(ctx.memory.query(tags=["a"])))
        assert ctx.memory.delete(NAMESPACE, "a")
        assert not ctx.memory.delete(NAMESPACE, "a")
        counts.append(len(ctx.memory.query()))
        ctx.memory.set(NAMESPACE, "a", {"is": "back"})

    task = within(crew, agent, tidy)
    assert counts == [2, 1, 1]
    assert {each.key for each in crew.admin.memory.query(task_id=task)} == {"a", "b"}
