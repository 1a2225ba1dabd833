"""ADK's memory: what was said is found by its meaning."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from agent_memory import Client

from tests.contract.local_server import PATIENCE

pytest.importorskip("google.adk", reason="`make frameworks` runs these with Google's ADK")

from agent_memory.adapters.google_adk import AgentMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import InMemorySessionService
from google.genai import types

from tests.sdk.frameworks.adk import HERE, WHERE, say, wait


def find(service: AgentMemoryMemoryService, query: str, enough: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not enough(found := wait(service.search_memory(**WHERE, query=query)).memories):
        assert time.monotonic() < deadline
    return found


def test_what_was_said_is_found_and_replaced(alice: Client) -> None:
    memory, ours = AgentMemoryMemoryService(alice), InMemorySessionService()
    session = wait(ours.create_session(**HERE))
    for text in ("Ada drinks green tea", "Ada plays chess"):
        wait(ours.append_event(session, say(text, at=1.5)))
    for _ in range(2):
        wait(memory.add_session_to_memory(session))
    first, *rest = find(memory, "what tea does she drink", lambda found: len(found) == 2)
    assert first.content.parts[0].text == "Ada drinks green tea"
    assert (first.id, first.author) == (session.events[0].id, "user")
    assert first.timestamp == "1970-01-01T00:00:01.500000+00:00"
    assert len(rest) == 1
    wait(memory.delete_memory(**WHERE, memory_id=session.events[0].id))
    session.events.pop()
    wait(memory.add_session_to_memory(session))
    assert find(memory, "tea or chess", lambda found: not found) == []
    assert wait(memory.search_memory(app_name="app", user_id="bob", query="tea")).memories == []


def test_memories_and_events_are_added_beside_a_session(alice: Client) -> None:
    memory = AgentMemoryMemoryService(alice, namespace="agents")
    long = " ".join(f"word{number}" for number in range(3000))
    events = [say("The code is 4711"), say(long), say()]
    wait(memory.add_events_to_memory(**WHERE, events=events, custom_metadata={"k": "v"}))
    entry = MemoryEntry(content=types.Content(parts=[types.Part(text="The cat is Tom")]), id="m")
    wait(memory.add_memory(**WHERE, memories=[entry]))
    found = find(memory, "4711", lambda found: len(found) == 6)
    assert (found[0].content.parts[0].text, found[0].custom_metadata) == (
        "The code is 4711",
        {"k": "v"},
    )
    assert find(memory, "which cat", bool)[0].id == "m"
    wait(memory.delete_memory(**WHERE, memory_id=events[1].id))
    find(memory, "word1", lambda found: len(found) == 2)
