"""The examples of both adapters, run for real."""

import runpy
import sys
from collections.abc import Callable

import pytest
from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore

from tests.contract.local_server import ROOT

EXAMPLES = ROOT / "sdk" / "examples"
RunExample = Callable[..., list[str]]


@pytest.fixture
def run_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunExample:
    """Runs an example under a client's key, as a fresh program in this process: what it imports
    takes seconds to start with. Returns the lines that it prints.
    """

    def run(client: Client, example: str, *arguments: str) -> list[str]:
        monkeypatch.setenv("AGENT_MEMORY_URL", client.settings.server_url)
        monkeypatch.setenv("AGENT_MEMORY_API_KEY", client.settings.api_key)
        monkeypatch.setattr(sys, "argv", [example, *arguments])
        runpy.run_path(str(EXAMPLES / example), run_name="__main__")
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out.splitlines()

    return run


def test_a_langgraph_agent_remembers_across_conversations_and_runs(
    alice: Client, run_example: RunExample
) -> None:
    first = run_example(alice, "langgraph_store.py")
    assert first[1::2] == [
        "agent: I don't know you yet.",
        "agent: I will remember that.",
        "agent: I will remember that.",
        "agent: You like chess, green tea.",
    ]
    again = run_example(alice, "langgraph_store.py")
    assert again[1] == "agent: You like chess, green tea."
    assert (first[-1], again[-1]) == ("turns so far: 4", "turns so far: 8")
    kept = AgentMemoryStore(alice).search(("memories", "ada"))
    assert {item.key for item in kept} == {"chess", "green tea"}


def test_a_langgraph_agent_waits_for_an_answer_that_its_next_run_gives(
    alice: Client, run_example: RunExample
) -> None:
    first = run_example(alice, "langgraph_checkpointer.py", "Book a table for two.")
    second = run_example(alice, "langgraph_checkpointer.py", "yes")
    assert first == ["agent: Shall I do this: Book a table for two. (yes or no)"]
    assert second == ["agent: It is done: Book a table for two."]


def test_an_agent_continues_a_conversation_of_an_earlier_run(
    alice: Client, run_example: RunExample
) -> None:
    first = run_example(alice, "openai_agents_session.py", "My name is Ada.")
    second = run_example(alice, "openai_agents_session.py", "I like tea.")
    assert first == ["You said: My name is Ada.", "2 items"]
    assert second == ["You said: My name is Ada.; I like tea.", "4 items"]
