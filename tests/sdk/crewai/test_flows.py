"""The states of CrewAI's flows, and the feedback that they wait for."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from agent_memory import Client

from tests.sdk.conftest import RunExample

pytest.importorskip("crewai", reason="`make crewai` runs these with CrewAI")

from agent_memory.adapters.crewai import AgentMemoryFlowPersistence
from crewai.flow.async_feedback.types import PendingFeedbackContext
from pydantic import BaseModel


class State(BaseModel):
    """A flow's state."""

    id: str = "f"
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def flows(alice: Client) -> AgentMemoryFlowPersistence:
    """Flows without states."""
    return AgentMemoryFlowPersistence(client=alice)


def test_the_latest_state_of_a_flow_comes_back(
    flows: AgentMemoryFlowPersistence, alice: Client
) -> None:
    assert flows.load_state("f") is None
    flows.save_state("f", "one", State())
    assert flows.load_state("f") == {"id": "f", "at": "2026-01-01T00:00:00Z"}
    large = {"text": "x" * 6_000_000, "tags": {"a"}}
    flows.save_state("f", "two", large)
    again = AgentMemoryFlowPersistence(client=alice)
    assert again.load_state("f") == large | {"tags": ["a"]}


def test_pending_feedback_comes_back_until_it_is_cleared(flows: AgentMemoryFlowPersistence) -> None:
    context = PendingFeedbackContext("g", "Flow", "ask", "output", "Is it right?")
    flows.save_pending_feedback("g", context, {"n": 1})
    found = flows.load_pending_feedback("g")
    assert found is not None
    assert (found[0], found[1].message, found[1].method_name) == ({"n": 1}, "Is it right?", "ask")
    flows.clear_pending_feedback("g")
    flows.clear_pending_feedback("g")
    assert flows.load_pending_feedback("g") is None
    assert flows.load_state("g") == {"n": 1}


def test_threads_save_and_no_key_is_dumped(flows: AgentMemoryFlowPersistence) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: flows.save_state(f"p{n}", "m", {"n": n}), range(8)))
    assert [flows.load_state(f"p{n}") for n in range(8)] == [{"n": n} for n in range(8)]
    assert "api_key" not in flows.model_dump()


def test_a_flow_goes_on_with_the_state_of_its_last_run(
    alice: Client, run_example: RunExample
) -> None:
    assert run_example(alice, "crewai_flow.py")[-1] == "draft 1"
    assert run_example(alice, "crewai_flow.py")[-1] == "draft 2"
