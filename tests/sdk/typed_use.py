"""What the SDK's types say to its users; `make lint` checks this file, nothing runs it."""

from typing import Any, assert_type

from agent_memory import AsyncClient, Client, Entry, SearchResult


def use(client: Client) -> None:
    """Call the client as a user would."""
    assert_type(client.memory.set("ns", "k", {"n": 1}), Entry)
    assert_type(client.memory.get("ns", "k"), dict[str, Any] | None)
    assert_type(client.memory.search("q", memory_type="working"), list[SearchResult])
    assert_type(client.runs.recall("sdr"), list[dict[str, Any]])
    for entry in client.memory.query(namespace="ns"):
        assert_type(entry, Entry)


async def use_async(client: AsyncClient) -> None:
    """Call the async client as a user would."""
    assert_type(await client.memory.get_entry("ns", "k"), Entry | None)
    async for entry in client.memory.query(namespace="ns"):
        assert_type(entry, Entry)
