"""Stores, clients, and broken connections for the tests of the adapters."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from agent_memory import AsyncClient, Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from agent_memory.conversion import to_async
from langgraph.store.memory import InMemoryStore

from tests.sdk.fault_proxy import FaultProxy


@pytest.fixture
def anyio_backend() -> str:
    """Both packages are asyncio's."""
    return "asyncio"


class Awaited:
    """A store whose async half is called."""

    def __init__(self, store: AgentMemoryStore | InMemoryStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, f"a{name}")
        return lambda *arguments, **named: asyncio.run(method(*arguments, **named))


@pytest.fixture(params=["LangGraph's", "ours", "ours, strict", "ours, semantic", "ours, awaited"])
def store(request: pytest.FixtureRequest) -> Any:
    if request.param == "LangGraph's":
        return InMemoryStore()
    if request.param == "ours, semantic":
        admin: Client = request.getfixturevalue("admin")
        return AgentMemoryStore(admin, memory_type="semantic")
    alice: Client = request.getfixturevalue("alice")
    ours = AgentMemoryStore(alice, strict=request.param == "ours, strict")
    return Awaited(ours) if request.param == "ours, awaited" else ours


@pytest.fixture
async def client(alice: Client) -> AsyncIterator[AsyncClient]:
    async with to_async(alice) as opened:
        yield opened


@pytest.fixture
async def shaken(alice: Client, proxy: FaultProxy) -> AsyncIterator[AsyncClient]:
    """Alice's, behind a proxy."""
    key = alice.settings.api_key
    async with AsyncClient(proxy.address, key, timeout=0.5, max_retries=10) as opened:
        yield opened
