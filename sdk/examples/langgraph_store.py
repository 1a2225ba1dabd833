"""A LangGraph agent that remembers its first conversation in its second one.

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The model is scripted.
"""

# LangGraph has no types for some members.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from typing import NotRequired, TypedDict

from agent_memory import Client
from agent_memory.adapters.langgraph import AgentMemoryStore
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime


class Conversation(TypedDict):
    user: str
    said: str
    answer: NotRequired[str]


def model(said: str, known: list[str]) -> tuple[dict[str, dict[str, bool]], str]:
    """Stands for a language model: the facts that it finds, and its answer."""
    if said.startswith("I like "):
        return {said.removeprefix("I like ").rstrip("."): {"liked": True}}, "I will remember that."
    return {}, f"You like {', '.join(sorted(known))}." if known else "I don't know you yet."


def respond(state: Conversation, runtime: Runtime) -> dict[str, str]:
    assert runtime.store is not None
    memories = ("memories", state["user"])
    known = [item.key for item in runtime.store.search(memories, filter={"liked": True})]
    facts, answer = model(state["said"], known)
    for fact, value in facts.items():
        runtime.store.put(memories, fact, value)
    store.update(  # LangGraph's own stores have no update
        ("statistics",),
        state["user"],
        lambda seen: {"turns": seen["turns"] + 1},
        initial={"turns": 0},
    )
    return {"answer": answer}


builder = StateGraph(Conversation)
builder.add_node(respond)
builder.add_edge(START, "respond")

with Client() as client:
    store = AgentMemoryStore(client)
    graph = builder.compile(store=store)
    for said in ("What do I like?", "I like green tea.", "I like chess.", "What do I like?"):
        print(f"ada: {said}\nagent: {graph.invoke({'user': 'ada', 'said': said})['answer']}")
    statistics = store.get(("statistics",), "ada")
    print(f"turns so far: {statistics.value['turns'] if statistics else 0}")
