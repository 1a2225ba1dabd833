"""Test that a checkpoint loads only what the app allowed, no matter who wrote it."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemorySaver
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


@dataclass
class Poison:
    """Runs code as it is brought back."""

    made: ClassVar[list[str]] = []
    name: str = field(default="poison")

    def __post_init__(self) -> None:
        Poison.made.append(self.name)


def checkpoint(**values: Any) -> tuple[Checkpoint, dict[str, str | int | float]]:
    versions: dict[str, str | int | float] = dict.fromkeys(values, "1")
    made = empty_checkpoint()
    made["channel_values"], made["channel_versions"] = values, versions
    return made, versions


def write(saver: BaseCheckpointSaver[Any], **values: Any) -> RunnableConfig:
    made, versions = checkpoint(**values)
    written = saver.put(CONFIG, made, {}, versions)
    saver.put_writes(written, [*values.items()], "task")
    return written


def read(saver: BaseCheckpointSaver[Any], config: RunnableConfig) -> dict[str, Any]:
    found = saver.get_tuple(config)
    assert found
    written = {channel: value for _, channel, value in found.pending_writes or ()}
    assert written.keys() == found.checkpoint["channel_values"].keys()
    assert [*saver.list(CONFIG)]
    return written | found.checkpoint["channel_values"]


@pytest.mark.parametrize("size", [1, 20_000], ids=["inline", "an object"])
def test_a_poisoned_checkpoint_runs_nothing(alice: Client, size: int) -> None:
    permissive = AgentMemorySaver(alice, serde=JsonPlusSerializer(allowed_msgpack_modules=True))
    written = write(permissive, poison=[Poison(), "x" * size])
    Poison.made.clear()
    found = read(AgentMemorySaver(alice), written)
    assert Poison.made == []
    assert not isinstance(found["poison"][0], Poison)
    assert read(permissive, written)["poison"][0] == Poison()  # the poison works without the rule


def test_the_app_allows_its_own_classes(alice: Client) -> None:
    saver = AgentMemorySaver(alice, allowed_types=[Poison])
    written = write(saver, state=Poison("mine"))
    assert read(saver, written)["state"] == Poison("mine")


def test_what_langgraph_knows_comes_back_as_from_its_own_saver(alice: Client) -> None:
    values = {
        "messages": [HumanMessage("hi", id="1"), AIMessage("yes", id="2")],
        "plain": {"a": [1, 2.5, None, True, "x"], "b": {"c": b"bytes"}},
        "sends": [Send("node", {"n": 1})],
    }
    savers: list[BaseCheckpointSaver[Any]] = [InMemorySaver(), AgentMemorySaver(alice)]
    assert [read(saver, write(saver, **values)) for saver in savers] == [values, values]
