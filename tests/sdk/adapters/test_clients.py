"""Adapters work with the sync and the async client."""

import asyncio
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from agent_memory.adapters.openai_agents import AgentMemorySession
from agent_memory.conversion import to_async


def test_an_adapter_takes_either_client_and_refuses_what_is_none(alice: Client) -> None:
    AgentMemoryStore(to_async(alice)).put(("a",), "k", {"n": 1})
    assert AgentMemoryStore(alice).get(("a",), "k") is not None
    items: list[Any] = [{"role": "user", "content": "hello"}]
    asyncio.run(AgentMemorySession("either", alice).add_items(items))
    assert asyncio.run(AgentMemorySession("either", to_async(alice)).get_items()) == items
    wrong: Any = "am_x"
    with pytest.raises(TypeError, match=r"agent_memory\.Client, not str"):
        AgentMemoryStore(wrong)
    with pytest.raises(TypeError, match=r"agent_memory\.AsyncClient, not str"):
        AgentMemorySession("s", wrong)
