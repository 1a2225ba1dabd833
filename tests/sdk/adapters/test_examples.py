"""The examples of both adapters, run for real."""

from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore

from tests.sdk.conftest import RunExample


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
