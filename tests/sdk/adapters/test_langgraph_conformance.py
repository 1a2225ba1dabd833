"""LangGraph's own conformance suite, on the checkpointer."""

from collections.abc import AsyncGenerator

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemorySaver
from langgraph.checkpoint.conformance import checkpointer_test, validate

pytestmark = pytest.mark.anyio


async def test_the_checkpointer_passes_the_conformance_suite(alice: Client) -> None:
    @checkpointer_test(name="AgentMemorySaver")
    async def make_saver() -> AsyncGenerator[AgentMemorySaver, None]:
        yield AgentMemorySaver(alice)

    report = await validate(make_saver)
    results = report.results.values()
    failures = [failure for each in results for failure in each.failures or ()]
    assert failures == []
    assert report.conformance_level() == "FULL"
    assert sum(each.tests_passed for each in results) == 81
