"""Use the SDK's types; type checkers read this file, nothing runs it.

mypy finds an ignore that nothing needs, so each mistake here is an error to it; `test_types.py`
looks that each is one to pyright as well.
"""

from datetime import datetime
from typing import Any, assert_type

from agent_memory import AsyncClient, AsyncPages, Client, Entry, Event, Pages, SearchResult, Task
from agent_memory.model import (
    Conversation,
    ConversationMessage,
    Episode,
    Fact,
    MemoryType,
    NamespaceAccess,
    ObjectHead,
    TaskStatus,
)


def use(client: Client) -> None:
    """Call the client as a user would."""
    entry = client.memory.set("ns", "k", {"n": 1}, tags=["t"], ttl=3600)
    assert_type(entry, Entry)
    assert_type(entry.memory_type, MemoryType)
    assert_type(entry.created_at, datetime)
    assert_type(client.memory.query(updated_after=entry.updated_at), Pages[Entry])
    assert_type(client.memory.get("ns", "k"), dict[str, Any] | None)
    assert_type(client.memory.search("q", memory_type="working"), list[SearchResult])
    assert_type(client.runs.recall("sdr"), list[Episode])
    assert_type(client.facts.recall("q")[0].score, float)
    assert_type(client.conversations.get("s"), Conversation)
    assert_type(client.conversations.get("s").messages[0].role, str)
    assert_type(client.namespaces.get("ns").permissions.default, NamespaceAccess)
    assert_type(client.principals.explain_access(namespace="ns").write.allowed, bool)
    assert_type(client.agents.get_settings("alice").episodic.capacity, int)
    assert_type(client.tasks.get_context("t").working[0], Entry)
    assert_type(client.intents.get_acl("i").entries[0].principal, str)


def list_things(client: Client) -> None:
    """Go through lists as a user would."""
    found = client.memory.query(namespace="ns", page_size=20)
    assert_type(found, Pages[Entry])
    assert_type(found.items, list[Entry])
    assert_type(found.next, str | None)
    assert_type(found.list(), list[Entry])
    for entry in client.memory.query(namespace="ns", after=found.next):
        assert_type(entry, Entry)
    for task in client.tasks.list("i", status="running", limit=5):
        assert_type(task, Task)
        assert_type(task.status, TaskStatus)
    assert_type([each for each in client.facts.query(subject="acme")], list[Fact])  # noqa: C416
    assert_type(client.objects.list("space").items[0], ObjectHead)
    assert_type(client.conversations.list_messages("s").items[0], ConversationMessage)
    assert_type(next(iter(client.events.list_for_agent("alice", follow=True))), Event)


def misspell(client: Client) -> str:
    """Make mistakes that a type checker must find."""
    client.memory.set("ns", "k", {}, memory_type="epsiodic")  # type: ignore[arg-type]
    client.memory.put("ns", "k", {}, tgas=["x"])  # type: ignore[call-arg]
    client.memory.update("ns", "k", lambda _: None)  # type: ignore[arg-type, return-value]
    client.tasks.create("i", asigned_agent="alice")  # type: ignore[call-arg]
    client.tasks.list("i", status="complete")  # type: ignore[arg-type]
    client.principals.create("bob", "robot")  # type: ignore[arg-type]
    client.tasks.list("i", pagesize=5)  # type: ignore[call-arg]
    client.objects.share("space", {"bob": "raed"})  # type: ignore[dict-item]
    return client.facts.learn("a", "b", "c").confidence  # type: ignore[return-value]


async def use_async(client: AsyncClient) -> None:
    """Call the async client as a user would."""
    assert_type(await client.memory.get_entry("ns", "k"), Entry | None)
    async for entry in client.memory.query(namespace="ns"):
        assert_type(entry, Entry)
    page = await client.tasks.list("i", page_size=20)
    assert_type(page, AsyncPages[Task])
    assert_type(page.items, list[Task])
