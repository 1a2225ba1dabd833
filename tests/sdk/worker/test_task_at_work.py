"""In a worker, calls without a scope belong to the task at work, and inherit what it inherits."""

import asyncio
from typing import Any

import pytest
from agent_memory import AsyncClient, Client, Worker
from agent_memory.context import AsyncContext, Context
from agent_memory.exceptions import TaskLostError

from tests.sdk.crew import Crew
from tests.sdk.worker.test_worker_memory import within


def test_calls_without_a_scope_belong_to_the_task(crew: Crew) -> None:
    agent = crew.agent()
    agent.client.memory.set("before", "k", {"n": 0})
    seen: list[Any] = []

    def work(ctx: Context) -> None:
        with Client(crew.address, agent.api_key) as other:
            other.memory.set("ns", "set", {"n": 1})
            ctx.client.memory.set("ns", "set", {"n": 2}, memory_type="working")
            ctx.memory.set("ns", "set", {"n": 3})
            other.memory.update("ns", "set", lambda value: {"n": value["n"] + 1})
            other.memory.put("ns", "put", {"n": 5}, tags=["put"])
            new = {"namespace": "ns", "memory_type": "working", "value": {}}
            other.memory.batch([new | {"key": "batch"}, new | {"key": "gone"}])
            assert other.memory.delete("ns", "gone")
            assert not other.memory.delete("before", "k")
            other.memory.set("ns", "kept", {"n": 6}, memory_type="episodic")
            seen.append((other.memory.get("ns", "set"), ctx.memory.get("ns", "set")))
            working = other.memory.query(memory_type="working")
            seen.append(sorted(each.key for each in working))
            seen.append(sorted(each.key for each in other.memory.query(namespace="ns")))
            other.memory.delete_batch(namespace="ns", tags=["put"])
            seen.append(other.memory.get("before", "k"))

    task = within(crew, agent, work)
    assert seen == [
        ({"n": 4}, {"n": 4}),
        ["batch", "put", "set"],
        ["batch", "kept", "put", "set"],
        {"n": 0},
    ]
    left = crew.admin.memory.query(task_id=task)
    assert {each.key: each.value for each in left} == {"batch": {}, "set": {"n": 4}}
    assert agent.client.memory.get("ns", "kept") == {"n": 6}


def test_another_principals_client_is_not_the_workers(crew: Crew) -> None:
    agent = crew.agent()
    within(crew, agent, lambda _: crew.admin.memory.set("ns", "k", {"n": 1}))
    entry = crew.admin.memory.get_entry("ns", "k")
    assert entry is not None
    assert (entry.task_id, entry.agent_id) == (None, "admin")


def test_an_async_function_has_the_same(crew: Crew) -> None:
    agent = crew.agent()
    task = crew.task(agent)

    @Worker()
    async def work(ctx: AsyncContext) -> None:
        async with AsyncClient(crew.address, agent.api_key) as other:
            await asyncio.gather(
                other.memory.set("ns", "a", {"n": 1}), ctx.client.memory.put("ns", "b", {"n": 2})
            )
            await ctx.memory.update("ns", "b", lambda value: {"n": value["n"] + 1})
        ctx.release_task()

    work.run(agent.client, poll=0.02, once=True)
    left = crew.admin.memory.query(task_id=task)
    assert {each.key: each.value for each in left} == {"a": {"n": 1}, "b": {"n": 3}}


def test_a_put_leaves_what_another_open_task_has_under_the_name(crew: Crew) -> None:
    agent = crew.agent()
    one = within(crew, agent, lambda ctx: ctx.memory.put("ns", "k", {"n": 1}))
    other = within(crew, agent, lambda ctx: ctx.memory.put("ns", "k", {"n": 2}))
    seen: list[Any] = []
    for task in (one, other):
        within(crew, agent, lambda ctx: seen.append(ctx.memory.get("ns", "k")), task)
    assert seen == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("is_same_agent", [True, False])
def test_an_inheriting_sub_task_sees_its_parents_memory_behind_its_own(
    crew: Crew, is_same_agent: bool
) -> None:
    parents = crew.agent()
    agent = parents if is_same_agent else crew.agent()

    def prepare(ctx: Context) -> None:
        ctx.memory.set("plan", "steps", {"of": "parent"})
        ctx.memory.set("plan", "budget", {"of": "parent"})

    parent = within(crew, parents, prepare)
    child = crew.task(
        agent,
        crew.get(parent).intent_id,
        parent_task_id=parent,
        memory_policy={"inherit_from_parent": True},
    )
    seen: list[Any] = []

    def work(ctx: Context) -> None:
        seen.append(ctx.memory.get("plan", "steps"))
        ctx.memory.set("plan", "steps", {"of": "child"})
        seen.append(ctx.memory.get("plan", "steps"))
        seen.append([(each.value["of"], each.inherited) for each in ctx.memory.query()])
        seen.append([each.value["of"] for each in ctx.client.memory.query(namespace="plan")][:3])
        assert not ctx.memory.delete("plan", "budget")

    within(crew, agent, work, child)
    ordered = [("child", False), ("parent", True), ("parent", True)]
    assert seen == [{"of": "parent"}, {"of": "child"}, ordered, [of for of, _ in ordered]]
    left = crew.admin.memory.query(task_id=parent)
    assert [each.value["of"] for each in left] == ["parent", "parent"]


@pytest.mark.parametrize("write", ["set", "put", "update", "delete"])
def test_a_write_after_a_hand_over_stops_the_function(crew: Crew, write: str) -> None:
    agent = crew.agent()
    task = crew.task(agent)
    lost: list[str] = []

    @Worker(lease=60)
    def work(ctx: Context) -> None:
        ctx.memory.set("ns", "k", {"n": 1})
        crew.hand_over(task, crew.agent())
        calls: dict[str, Any] = {
            "set": lambda: ctx.memory.set("ns", "k", {"n": 2}),
            "put": lambda: ctx.client.memory.put("ns", "k", {"n": 2}),
            "update": lambda: ctx.memory.update("ns", "k", dict),
            "delete": lambda: ctx.memory.delete("ns", "k"),
        }
        try:
            calls[write]()
        except TaskLostError:
            lost.append(write)
            raise

    work.run(agent.client, poll=30, once=True)
    assert lost == [write]
    assert crew.status(task) == "running"
    assert [each.value for each in crew.admin.memory.query(task_id=task)] == [{"n": 1}]
