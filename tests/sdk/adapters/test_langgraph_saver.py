"""The checkpointer beyond LangGraph's suite: order, sizes, names, threads, and what is freed."""

import asyncio
import operator
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict, cast

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemorySaver
from agent_memory.conversion import to_async
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    Checkpoint,
    CheckpointMetadata,
    empty_checkpoint,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, _DeltaSnapshot
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

LARGE = 12_000_000


@pytest.fixture
def saver(alice: Client) -> AgentMemorySaver:
    return AgentMemorySaver(alice)


def config(thread: str = "t", namespace: str | None = "", **named: str) -> RunnableConfig:
    place = {} if namespace is None else {"checkpoint_ns": namespace}
    return {"configurable": {"thread_id": thread, **place, **named}}


def checkpoint(id: str, **values: Any) -> Checkpoint:
    """A checkpoint, all of whose channels are at version 1."""
    versions: dict[str, Any] = dict.fromkeys(values, 1)
    fields = {"id": id, "channel_values": values, "channel_versions": versions}
    return cast("Checkpoint", {**empty_checkpoint(), **fields})


def put(
    saver: AgentMemorySaver,
    id: str,
    parent: str | None = None,
    thread: str = "t",
    namespace: str = "",
    **values: Any,
) -> RunnableConfig:
    """Stores a checkpoint, all of whose channels are new."""
    at = config(thread, namespace, **({} if parent is None else {"checkpoint_id": parent}))
    return saver.put(at, checkpoint(id, **values), {"step": 1}, dict.fromkeys(values, 1))


def count_bytes(client: Client) -> int:
    """The bytes of all objects of a client's checkpoints."""
    space = f"agents/{client.principals.me().id}/langgraph"
    return sum(each.size for each in client.objects.list(space))


def values_of(saver: AgentMemorySaver, at: RunnableConfig) -> dict[str, Any]:
    found = saver.get_tuple(at)
    assert found is not None
    return found.checkpoint["channel_values"]


def writes_of(saver: AgentMemorySaver, at: RunnableConfig) -> list[Any]:
    found = saver.get_tuple(at)
    assert found is not None
    return [value for _, _, value in found.pending_writes or ()]


def test_ordinary_writes_keep_the_first_and_special_ones_the_last(saver: AgentMemorySaver) -> None:
    at = put(saver, "1")
    saver.put_writes(at, [("a", 1), (ERROR, "e1"), (INTERRUPT, "i1"), (RESUME, "r1")], "task")
    saver.put_writes(at, [("a", 2), ("b", 3), (RESUME, "r2")], "task")
    assert sorted(map(str, writes_of(saver, at))) == ["1", "3", "e1", "i1", "r2"]


def test_writes_come_in_the_order_of_path_task_and_index(saver: AgentMemorySaver) -> None:
    at = put(saver, "1")
    saver.put_writes(at, [("a", f"z{n}") for n in range(12)], "task-z", "path-1")
    saver.put_writes(at, [("a", "late")], "task-a", "path-2")
    saver.put_writes(at, [("a", "none")], "task-m")
    assert writes_of(saver, at) == ["none", *(f"z{n}" for n in range(12)), "late"]


def test_writes_may_come_before_their_checkpoint(saver: AgentMemorySaver) -> None:
    put(saver, "1", a=1)
    at = config(checkpoint_id="2")
    saver.put_writes(at, [("a", "early")], "task")
    assert saver.get_tuple(at) is None
    assert values_of(saver, config()) == {"a": 1}
    put(saver, "2", "1", a=2)
    assert writes_of(saver, config()) == ["early"]


def test_namespaces_are_apart_unless_none_is_named(saver: AgentMemorySaver) -> None:
    long = "|".join(f"subgraph_{n}:{secrets.token_hex(16)}" for n in range(20)) + "/ü😀"
    put(saver, "1", a="root")
    put(saver, "3", namespace=long, a="long")
    put(saver, "2", namespace="child", a="child")
    put(saver, "4", thread="other", a="other")
    listed = [each.config["configurable"] for each in saver.list(config(namespace=None))]
    assert [each["checkpoint_id"] for each in listed] == ["3", "2", "1"]
    assert [each["checkpoint_ns"] for each in listed] == [long, "child", ""]
    assert [each.checkpoint["id"] for each in saver.list(config(namespace=""))] == ["1"]
    assert [each.checkpoint["id"] for each in saver.list(None)] == ["4", "3", "2", "1"]
    assert [each.checkpoint["id"] for each in saver.list(None, limit=1)] == ["4"]
    assert values_of(saver, config(namespace=long)) == {"a": "long"}
    assert values_of(saver, config(namespace=None)) == {"a": "root"}


@pytest.mark.parametrize("thread", ["", "a/b#c", "ü😀" * 300, "t/../t", "%2F?x=1"])
def test_any_text_names_a_thread(saver: AgentMemorySaver, thread: str) -> None:
    put(saver, "1", thread=thread, a=thread)
    found = saver.get_tuple(config(thread))
    assert found is not None
    assert found.config["configurable"]["thread_id"] == thread
    saver.delete_thread(thread)
    assert saver.get_tuple(config(thread)) is None


def test_metadata_hold_what_the_config_says_and_filter_lists(saver: AgentMemorySaver) -> None:
    at: RunnableConfig = {**config(run_id="r1"), "metadata": {"user": "ada\0", "n": [1]}}
    metadata: CheckpointMetadata = {"source": "loop", "step": 7}
    saver.put(at, checkpoint("1"), metadata, {})
    found = saver.get_tuple(config())
    assert found is not None
    expected = {"source": "loop", "step": 7, "user": "ada", "run_id": "r1"}
    assert dict(found.metadata) == expected
    assert len(list(saver.list(config(), filter={"user": "ada", "step": 7}))) == 1
    assert list(saver.list(config(), filter={"user": "bob"})) == []


def test_a_checkpoint_of_12_megabytes_comes_back(saver: AgentMemorySaver, alice: Client) -> None:
    data, small = secrets.token_bytes(LARGE), {"text": "ü" * 100}
    at = put(saver, "1", data=data, text="x" * 100_000, small=small)
    saver.put_writes(at, [("data", data[:5_000_000])], "task")
    expected = {"data": data, "text": "x" * 100_000, "small": small}
    assert values_of(AgentMemorySaver(alice), config()) == expected
    assert writes_of(saver, at) == [data[:5_000_000]]
    assert count_bytes(alice) < LARGE + 5_100_000


def test_a_large_value_that_stays_is_stored_once_and_outlives_its_checkpoint(
    saver: AgentMemorySaver, alice: Client
) -> None:
    data = secrets.token_bytes(100_000)
    put(saver, "1", data=data, n=1)
    for number in range(2, 6):
        at = config(checkpoint_id=str(number - 1))
        later = checkpoint(str(number), data=data, n=number)
        saver.put(at, later, {"step": number}, {"n": number})
    assert count_bytes(alice) < 110_000
    saver.prune(["t"])
    assert values_of(AgentMemorySaver(alice), config()) == {"data": data, "n": 5}
    assert len(list(saver.list(config()))) == 1


def test_the_same_checkpoint_may_be_put_again(saver: AgentMemorySaver) -> None:
    put(saver, "1", a=1, b=2)
    put(saver, "1", a=3)
    assert values_of(saver, config()) == {"a": 3}


def test_pruning_frees_what_it_deletes(saver: AgentMemorySaver, alice: Client) -> None:
    for number in range(4):
        data = secrets.token_bytes(20_000)
        at = put(saver, str(number), str(number - 1) if number else None, data=data)
        saver.put_writes(at, [("a", secrets.token_bytes(20_000))], "task")
    assert count_bytes(alice) > 160_000
    saver.prune(["t", "none"])
    assert 40_000 < count_bytes(alice) < 45_000
    saver.prune(["t"], strategy="delete")
    assert count_bytes(alice) == 0
    with pytest.raises(ValueError, match="strategy"):
        saver.prune(["t"], strategy="other")


def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(saver: AgentMemorySaver) -> None:
    put(saver, "0", delta=_DeltaSnapshot("too old"))
    put(saver, "1", "0", delta=_DeltaSnapshot(["a"]))
    for number in range(2, 5):
        parent = config(checkpoint_id=str(number - 1))
        saver.put_writes(parent, [("delta", number), ("other", 0)], "task")
        counters = {"counters_since_delta_snapshot": {"delta": (number - 1, number - 1)}}
        saver.put(parent, checkpoint(str(number)), counters, {})  # type: ignore[arg-type]
    saver.prune(["t"])
    assert [each.checkpoint["id"] for each in saver.list(config())] == ["4", "3", "2", "1"]
    history = saver.get_delta_channel_history(config=config(), channels=["delta", "none"])
    assert [value for _, _, value in history["delta"]["writes"]] == [2, 3, 4]
    assert history["delta"]["seed"] == _DeltaSnapshot(["a"])
    assert history["none"] == {"writes": []}


def test_deleted_runs_leave_what_other_runs_need(saver: AgentMemorySaver) -> None:
    data = secrets.token_bytes(20_000)
    for number, run in enumerate(("r1", "r2")):
        at = config(run_id=run, **({"checkpoint_id": "0"} if number else {}))
        later = checkpoint(str(number), data=data)
        saver.put(at, later, {"step": number}, {} if number else {"data": 1})
    put(saver, "9", thread="other")
    saver.delete_for_runs(["r1"])
    assert [each.checkpoint["id"] for each in saver.list(None)] == ["9", "1"]
    assert values_of(saver, config()) == {"data": data}


def test_a_copied_thread_lives_by_itself(saver: AgentMemorySaver) -> None:
    at = put(saver, "1", data=secrets.token_bytes(20_000), a=1)
    saver.put_writes(at, [("a", "w")], "task")
    before = values_of(saver, config())
    saver.copy_thread("t", "copy")
    saver.delete_thread("t")
    assert saver.get_tuple(config()) is None
    assert values_of(saver, config("copy")) == before
    assert writes_of(saver, config("copy")) == ["w"]


def test_checkpoints_are_a_principals_own_and_those_of_other_roots_apart(
    agent: Callable[[str], Client], saver: AgentMemorySaver, alice: Client
) -> None:
    put(saver, "1", a=1)
    bob = AgentMemorySaver(agent("bob"))
    assert bob.get_tuple(config()) is None
    put(bob, "2", a=2)
    assert AgentMemorySaver(alice, root="other").get_tuple(config()) is None
    assert values_of(saver, config()) == {"a": 1}


def test_either_client_is_taken_and_nothing_else(alice: Client) -> None:
    put(AgentMemorySaver(to_async(alice)), "1", a=1)
    assert values_of(AgentMemorySaver(alice), config()) == {"a": 1}
    with pytest.raises(TypeError, match="Client"):
        AgentMemorySaver("am_1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="slash"):
        AgentMemorySaver(alice, root="a/b")


def test_a_clone_with_an_allowlist_reads_what_the_original_refuses(alice: Client) -> None:
    saver = AgentMemorySaver(alice, serde=JsonPlusSerializer(allowed_msgpack_modules=[]))
    put(saver, "1", a=Thing(1))
    clone = saver.with_allowlist([(Thing.__module__, Thing.__name__)])
    assert isinstance(clone, AgentMemorySaver)
    assert values_of(clone, config()) == {"a": Thing(1)}
    assert values_of(saver, config()) != {"a": Thing(1)}


@dataclass
class Thing:
    """A class that LangGraph's serializer loads only if it is allowed to."""

    number: int


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def build_graph(saver: AgentMemorySaver) -> Any:
    """A graph of two steps, the second of which waits for an answer."""

    def hear(state: State) -> dict[str, Any]:
        return {"said": [f"heard {len(state['said'])}"]}

    def ask(_: State) -> dict[str, Any]:
        return {"said": [interrupt("what now?")]}

    builder: Any = StateGraph(State)
    builder.add_node("hear", hear)
    builder.add_node("ask", ask)
    builder.add_edge(START, "hear")
    builder.add_edge("hear", "ask")
    return builder.compile(checkpointer=saver)


def test_a_graph_is_resumed_by_another_process_and_travels_in_time(alice: Client) -> None:
    at: RunnableConfig = {"configurable": {"thread_id": "chat"}}
    build_graph(AgentMemorySaver(alice)).invoke({"said": ["hi"]}, at)
    graph = build_graph(AgentMemorySaver(alice))
    assert graph.get_state(at).next == ("ask",)
    done = graph.invoke(Command(resume="go"), at)
    assert done["said"] == ["hi", "heard 1", "go"]
    history = list(graph.get_state_history(at))
    before = next(each for each in history if each.next == ("hear",))
    again = graph.invoke(None, before.config)
    assert again["said"] == ["hi", "heard 1"]
    assert graph.get_state(at).next == ("ask",)
    graph.update_state(at, {"said": ["changed"]}, as_node="ask")
    assert graph.get_state(at).values["said"] == ["hi", "heard 1", "changed"]


def test_twenty_threads_and_event_loops_use_one_checkpointer(saver: AgentMemorySaver) -> None:
    graph = build_graph(saver)

    def run(number: int) -> list[str]:
        at: RunnableConfig = {"configurable": {"thread_id": str(number)}}
        if number % 2:
            graph.invoke({"said": [str(number)]}, at)
            state: list[str] = graph.invoke(Command(resume="x"), at)["said"]
            return state

        async def talk() -> list[str]:
            await graph.ainvoke({"said": [str(number)]}, at)
            said: list[str] = (await graph.ainvoke(Command(resume="x"), at))["said"]
            return said

        return asyncio.run(talk())

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(run, range(20)))
    assert found == [[str(number), "heard 1", "x"] for number in range(20)]


def test_writes_of_parallel_tasks_are_all_kept(saver: AgentMemorySaver) -> None:
    at = put(saver, "1")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: saver.put_writes(at, [("a", n)], f"task-{n % 8}"), range(24)))
        list(pool.map(lambda n: saver.put_writes(at, [("b", n)] * (n + 1), "one"), range(8)))
    found = saver.get_tuple(at)
    assert found is not None
    tasks = [task for task, channel, _ in found.pending_writes or () if channel == "a"]
    assert sorted(tasks) == [f"task-{n}" for n in range(8)]
    assert len(writes_of(saver, at)) == 16
