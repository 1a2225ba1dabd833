"""What the SDK's types say to its users; `make lint` checks this file, nothing runs it."""

from typing import Any, assert_type

from agent_memory import AsyncClient, Client, Entry, SearchResult
from agent_memory.model import Episode


def use(client: Client) -> None:
    """Call the client as a user would."""
    assert_type(client.memory.set("ns", "k", {"n": 1}), Entry)
    assert_type(client.memory.get("ns", "k"), dict[str, Any] | None)
    assert_type(client.memory.search("q", memory_type="working"), list[SearchResult])
    assert_type(client.runs.recall("sdr"), list[Episode])
    assert_type(client.facts.recall("q")[0]["score"], float)
    assert_type(client.runs.start("sdr")["id"], str)
    assert_type(client.memory.query(namespace="ns").list(), list[Entry])
    for entry in client.memory.query(namespace="ns"):
        assert_type(entry, Entry)


def misspell(client: Client) -> None:
    """Make mistakes that a type checker must find: an ignore that nothing needs is an error."""
    client.memory.set("ns", "k", {}, memory_type="epsiodic")  # type: ignore[arg-type]
    client.memory.put("ns", "k", {}, tgas=["x"])  # type: ignore[call-arg]
    client.memory.update("ns", "k", lambda _: None)  # type: ignore[arg-type, return-value]
    client.tasks.create("i", asigned_agent="alice")  # type: ignore[call-arg]
    client.tasks.list("i", status="complete")  # type: ignore[arg-type]
    client.facts.learn("a", "b", "c")["confidense"]  # type: ignore[typeddict-item]
    client.principals.create("bob", "robot")  # type: ignore[arg-type]


async def use_async(client: AsyncClient) -> None:
    """Call the async client as a user would."""
    assert_type(await client.memory.get_entry("ns", "k"), Entry | None)
    async for entry in client.memory.query(namespace="ns"):
        assert_type(entry, Entry)
