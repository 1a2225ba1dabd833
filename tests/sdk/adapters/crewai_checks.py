"""What CrewAI's persistence promises; run by CrewAI's own interpreter (see test_crewai.py)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from agent_memory.adapters.crewai import AgentMemoryFlowPersistence
from crewai.flow.async_feedback.types import PendingFeedbackContext
from pydantic import BaseModel


class State(BaseModel):
    """A flow's state."""

    id: str = "f"
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)


def check() -> None:
    """Check everything; the first thing that is wrong ends it."""
    flows = AgentMemoryFlowPersistence()
    assert flows.load_state("f") is None
    flows.save_state("f", "one", State())
    assert flows.load_state("f") == {"id": "f", "at": "2026-01-01T00:00:00Z"}
    large = {"text": "x" * 6_000_000, "tags": {"a"}}
    flows.save_state("f", "two", large)
    assert AgentMemoryFlowPersistence().load_state("f") == large | {"tags": ["a"]}
    context = PendingFeedbackContext("g", "Flow", "ask", "output", "Is it right?")
    flows.save_pending_feedback("g", context, {"n": 1})
    found = flows.load_pending_feedback("g")
    assert found is not None
    assert (found[0], found[1].message, found[1].method_name) == ({"n": 1}, "Is it right?", "ask")
    flows.clear_pending_feedback("g")
    flows.clear_pending_feedback("g")
    assert flows.load_pending_feedback("g") is None
    assert flows.load_state("g") == {"n": 1}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: flows.save_state(f"p{n}", "m", {"n": n}), range(8)))
    assert [flows.load_state(f"p{n}") for n in range(8)] == [{"n": n} for n in range(8)]
    assert "api_key" not in flows.model_dump()


if __name__ == "__main__":
    check()
