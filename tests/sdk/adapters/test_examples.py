"""The examples of both adapters, run for real."""

import os
import subprocess
import sys

from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore

from tests.contract.local_server import PATIENCE, ROOT

EXAMPLES = ROOT / "sdk" / "examples"


def lines(client: Client, example: str, *arguments: str) -> list[str]:
    """What an example prints under the client's key."""
    settings = client.settings
    environment = {
        "AGENT_MEMORY_URL": settings.server_url,
        "AGENT_MEMORY_API_KEY": settings.api_key,
    }
    ran = subprocess.run(
        [sys.executable, EXAMPLES / example, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


def test_a_langgraph_agent_remembers_across_conversations_and_processes(alice: Client) -> None:
    first = lines(alice, "langgraph_store.py")
    assert first[1::2] == [
        "agent: I don't know you yet.",
        "agent: I will remember that.",
        "agent: I will remember that.",
        "agent: You like chess, green tea.",
    ]
    again = lines(alice, "langgraph_store.py")
    assert again[1] == "agent: You like chess, green tea."
    assert (first[-1], again[-1]) == ("turns so far: 4", "turns so far: 8")
    kept = AgentMemoryStore(alice).search(("memories", "ada"))
    assert {item.key for item in kept} == {"chess", "green tea"}


def test_an_agent_goes_on_with_a_conversation_of_another_process(alice: Client) -> None:
    first = lines(alice, "openai_agents_session.py", "My name is Ada.")
    second = lines(alice, "openai_agents_session.py", "I like tea.")
    assert first == ["You said: My name is Ada.", "2 items"]
    assert second == ["You said: My name is Ada.; I like tea.", "4 items"]
