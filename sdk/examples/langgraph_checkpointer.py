"""A LangGraph agent that asks before it acts, and waits for the answer for any time.

    python langgraph_checkpointer.py "Book a table for two."
    python langgraph_checkpointer.py yes

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The state is kept between the runs.
"""

# LangGraph has no types for some members.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import sys
from typing import NotRequired, TypedDict

from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemorySaver
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class Errand(TypedDict):
    wish: str
    outcome: NotRequired[str]


def act(state: Errand) -> dict[str, str]:
    """Ask, and act on the answer."""
    answer = interrupt(f"Shall I do this: {state['wish']} (yes or no)")
    outcome = f"It is done: {state['wish']}" if answer == "yes" else "I leave it."
    return {"outcome": outcome}


builder = StateGraph(Errand)
builder.add_node(act)
builder.add_edge(START, "act")

with Client() as client:
    graph = builder.compile(checkpointer=AgentMemorySaver(client))
    thread: RunnableConfig = {"configurable": {"thread_id": "errands"}}
    said = sys.argv[1] if len(sys.argv) > 1 else "Water the plants."
    waits = bool(graph.get_state(thread).next)
    result = graph.invoke(Command(resume=said) if waits else {"wish": said}, thread)
    question = result["__interrupt__"][0].value if "__interrupt__" in result else result["outcome"]
    print(f"agent: {question}")
