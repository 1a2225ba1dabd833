"""Strands' sessions, storage and memories: what Strands asks of them, and what strains them."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agent_memory import AsyncClient, Client

from tests.contract.local_server import PATIENCE
from tests.sdk.conftest import RunExample

pytest.importorskip("strands", reason="`make frameworks` runs these with Strands")

from agent_memory.adapters.strands import (
    AgentMemoryMemoryStore,
    AgentMemorySessionManager,
    AgentMemoryStorage,
)
from strands.memory import MemoryManager
from strands.storage import LocalFileStorage, Storage
from strands.storage.storage import _resolve_namespace
from strands.types.exceptions import SessionException, StorageError
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType
from strands.vended_memory_stores.file_memory_store import FileMemoryStore

IMAGE = bytes(range(256)) * 20_000  # 5 MB


def message(id: int, content: list[Any]) -> SessionMessage:
    return SessionMessage({"role": "user", "content": content}, id)


def manager_with_agent(client: Client, session_id: str = "chat") -> AgentMemorySessionManager:
    manager = AgentMemorySessionManager(session_id, client)
    manager.create_agent(session_id, SessionAgent("a", {"n": 1}, {}))
    return manager


def test_a_session_of_an_agent_goes_on_in_another_process(
    alice: Client, run_example: RunExample
) -> None:
    first = run_example(alice, "strands_session.py", "My name is Ada.")
    second = run_example(alice, "strands_session.py", "I like tea.")
    assert first == ["You said: My name is Ada."]
    assert second == ["You said: My name is Ada.; I like tea."]


def test_messages_come_by_their_ids_with_their_bytes(alice: Client) -> None:
    manager = manager_with_agent(alice)
    for id in range(11):
        manager.create_message("chat", "a", message(id, [{"text": str(id)}]))
    picture = [{"image": {"format": "png", "source": {"bytes": IMAGE}}}]
    manager.create_message("chat", "a", message(20, picture))
    found = AgentMemorySessionManager("chat", alice).list_messages("chat", "a")
    assert [each.message_id for each in found] == [*range(11), 20]
    assert found[-1].message["content"] == picture
    part = manager.list_messages("chat", "a", limit=2, offset=9)
    assert [each.message_id for each in part] == [9, 10]


def test_a_redacted_message_keeps_when_it_was_created(alice: Client) -> None:
    manager = manager_with_agent(alice)
    manager.create_message("chat", "a", message(0, [{"text": "secret"}]))
    before = manager.read_message("chat", "a", 0)
    redacted = message(0, [{"text": "-"}])
    redacted.created_at = "2030-01-01T00:00:00+00:00"
    manager.update_message("chat", "a", redacted)
    after = manager.read_message("chat", "a", 0)
    assert before is not None
    assert after is not None
    assert (after.created_at, after.message) == (before.created_at, redacted.message)


def test_nothing_is_created_twice_and_nothing_that_is_not_there_is_updated(alice: Client) -> None:
    manager = manager_with_agent(alice)
    manager.create_message("chat", "a", message(0, []))
    for act in (
        lambda: manager.create_session(Session("chat", SessionType.AGENT)),
        lambda: manager.create_agent("chat", SessionAgent("a", {}, {})),
        lambda: manager.create_message("chat", "a", message(0, [])),
        lambda: manager.update_agent("chat", SessionAgent("b", {}, {})),
        lambda: manager.update_message("chat", "a", message(1, [])),
        lambda: manager.update_multi_agent("chat", SimpleNamespace(id="m", serialize_state=dict)),
        lambda: manager.delete_session("nobody's"),
    ):
        with pytest.raises(SessionException):
            act()
    for id in ("a/b", "../x", "/"):
        with pytest.raises(ValueError, match="path separators"):
            AgentMemorySessionManager(id, alice)


def test_a_deleted_session_takes_nothing_of_another_with_it(alice: Client) -> None:
    ann, anna = manager_with_agent(alice, "ann"), manager_with_agent(alice, "anna")
    anna.create_message("anna", "a", message(0, []))
    ann.delete_session("ann")
    assert ann.read_session("ann") is None
    assert ann.read_agent("ann", "a") is None
    assert len(anna.list_messages("anna", "a")) == 1


def test_the_state_of_a_graph_is_kept(alice: Client) -> None:
    manager = AgentMemorySessionManager("g", alice)
    graph = SimpleNamespace(id="graph", serialize_state=lambda: {"done": ["one"]})
    manager.create_multi_agent("g", graph)
    graph.serialize_state = lambda: {"done": ["one", "two"]}
    manager.update_multi_agent("g", graph)
    assert manager.read_multi_agent("g", "graph") == {"done": ["one", "two"]}
    assert manager.read_multi_agent("g", "other") is None


def test_sessions_are_the_principals_own(agent: Callable[[str], Client]) -> None:
    manager_with_agent(agent("alice"))
    assert AgentMemorySessionManager("chat", agent("bob")).read_agent("chat", "a") is None


def test_a_storage_keeps_bytes_from_any_loop_and_thread(alice: Client) -> None:
    storage = AgentMemoryStorage(alice)
    assert isinstance(storage, Storage)
    asyncio.run(storage.write("s/big", IMAGE))
    asyncio.run(storage.write("s/a//b/", b"1"))
    other = threading.Thread(target=lambda: asyncio.run(storage.write("s/a", b"2")))
    other.start()
    other.join()
    assert asyncio.run(storage.list("s/")) == ["s/a", "s/a/b", "s/big"]
    assert asyncio.run(storage.read("s/big")) == IMAGE
    asyncio.run(storage.delete("s/big"))
    asyncio.run(storage.delete("s/big"))
    assert asyncio.run(storage.read("s/big")) is None
    assert not hasattr(storage, "_ephemeral")


def test_a_part_of_a_storage_sees_its_own_keys_alone(alice: Client) -> None:
    storage = AgentMemoryStorage(alice, "app")
    part = _resolve_namespace(storage, "green")
    asyncio.run(part.write("tea", b"a drink"))
    asyncio.run(storage.write("green tea", b"another"))
    assert asyncio.run(part.list("")) == ["tea"]
    assert asyncio.run(storage.list("green/")) == ["green/tea"]
    assert asyncio.run(AgentMemoryStorage(alice).list("")) == ["app/green tea", "app/green/tea"]
    found = asyncio.run(part.search("green drink"))
    assert [(each.key, each.score) for each in found] == [("tea", 1)], "no score for the prefix"
    assert _resolve_namespace(part, "again") is part


@pytest.mark.parametrize("key", ["", "/", "a/../b", "a\\b", "x" * 1001])
def test_what_cannot_be_a_key_is_told_as_strands_tells_it(alice: Client, key: str) -> None:
    with pytest.raises(StorageError):
        asyncio.run(AgentMemoryStorage(alice).write(key, b""))


def test_a_text_that_is_added_again_is_one_memory(alice: Client) -> None:
    store = AgentMemoryMemoryStore(alice, "facts", "facts", description="what Ada said")
    MemoryManager(stores=[store], add_tool_config=True, injection=False)
    asyncio.run(store.add("Ada drinks green tea", {"topic": "tea"}))
    asyncio.run(store.add("Ada drinks green tea", {"topic": "tea"}))
    asyncio.run(store.add("Ada plays chess"))
    deadline = time.monotonic() + PATIENCE
    while len(found := asyncio.run(store.search("what tea does she drink"))) < 2:
        assert time.monotonic() < deadline
    first = found[0]
    assert (first.content, first.store_name) == ("Ada drinks green tea", "facts")
    assert first.metadata is not None
    assert first.metadata["topic"] == "tea"
    assert len(asyncio.run(store.search("tea", {"max_search_results": 1}))) == 1


@pytest.mark.parametrize("query", ["", " ", "\n", "tea " * 5000])
def test_any_query_is_answered_as_by_strands_own_store(
    alice: Client, tmp_path: Path, query: str
) -> None:
    ours = AgentMemoryMemoryStore(alice, "facts", "facts")
    theirs = FileMemoryStore(name="facts", storage=LocalFileStorage(str(tmp_path)), writable=True)
    asyncio.run(theirs.add("Ada drinks green tea", {"key": "tea"}))
    asyncio.run(ours.add("Ada drinks green tea"))
    expected = [each.content for each in asyncio.run(theirs.search(query))]
    deadline = time.monotonic() + PATIENCE
    while len(found := asyncio.run(ours.search(query))) < len(expected):
        assert time.monotonic() < deadline
    assert len(found) == len(expected)
    for store in (ours, theirs):
        with pytest.raises(ValueError, match="max_search_results"):
            asyncio.run(store.search("tea", {"max_search_results": 0}))


def test_a_store_for_reading_takes_nothing(alice: Client) -> None:
    store = AgentMemoryMemoryStore(alice, "facts", "facts", writable=False)
    with pytest.raises(PermissionError):
        asyncio.run(store.add("x"))


def test_both_clients_are_taken_and_nothing_else(alice: Client) -> None:
    settings = alice.settings
    storage = AgentMemoryStorage(AsyncClient(settings.server_url, settings.api_key))
    asyncio.run(storage.write("k", b"v"))
    assert asyncio.run(storage.read("k")) == b"v"
    with pytest.raises(TypeError, match="Client"):
        AgentMemoryStorage("http://127.0.0.1:8080")  # type: ignore[arg-type]
