"""Pydantic AI's conversations: what its own store in memory does, and what strains ours."""

import asyncio
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from agent_memory import AsyncClient, Client

from tests.sdk.conftest import RunExample

pytest.importorskip("pydantic_ai", reason="`make frameworks` runs these with Pydantic AI")

from agent_memory.adapters.pydantic_ai import AgentMemoryConversationStore
from pydantic_ai import Agent, BinaryContent, DeferredToolRequests
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage

IMAGE = bytes(range(256)) * 20_000  # 5 MB
START = datetime(2026, 1, 1, tzinfo=UTC)


def wait(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


def ask(content: Any) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(content=content, timestamp=START)])


def start(*texts: str, id: str = "c", **fields: Any) -> Conversation:
    return Conversation(conversation_id=id, messages=[ask(text) for text in texts], **fields)


def say(store: Any, *texts: str, id: str = "c") -> Conversation:
    conversation: Conversation = wait(store.load(id)) or start(id=id)
    conversation.messages += [ask(text) for text in texts]
    wait(store.save(conversation))
    return conversation


def read(store: Any, id: str = "c", **options: Any) -> list[str]:
    found = wait(store.load(id, **options))
    return [part.content for message in found.messages for part in message.parts]


def count_objects(client: Client) -> int:
    """Count the objects, apart from the marks of families."""
    keys = [each.key for each in client.objects.list("agents/alice/pydantic-ai")]
    return sum(not key.startswith("families/") for key in keys)


@pytest.fixture
def ours(alice: Client) -> AgentMemoryConversationStore:
    return AgentMemoryConversationStore(alice)


@pytest.fixture(params=["Pydantic AI's", "ours"])
def store(request: pytest.FixtureRequest) -> Any:
    if request.param == "ours":
        return request.getfixturevalue("ours")
    return InMemoryConversationStore()


def test_a_conversation_comes_back_as_it_was_saved(store: Any) -> None:
    assert wait(store.load("c")) is None
    call = ToolCallPart("delete", {"path": "a"}, tool_call_id="1")
    saved = start(
        usage=RunUsage(requests=2, input_tokens=7, details={"cached": 3}),
        deferred_tool_requests=DeferredToolRequests(approvals=[call], metadata={"1": {"n": 1}}),
    )
    saved.messages = [
        ask(["see", BinaryContent(b"\xff\0", media_type="application/pdf")]),
        ModelResponse(parts=[TextPart("ä"), call], timestamp=START, model_name="m"),
    ]
    entries = wait(store.save(saved, scope="ada"))
    assert [entry.parent_id for entry in entries] == [None, entries[0].id]
    assert wait(store.load("c")) == saved
    assert wait(store.load_entries("c")) == entries
    assert wait(store.read_entry(entries[1].id)) == entries[1]
    with pytest.raises(KeyError):
        wait(store.read_entry("other"))


def test_a_save_stores_what_is_new(store: Any) -> None:
    say(store, "1", "2")
    found = wait(store.load("c", limit=1))
    found.messages.append(ask("3"))
    assert len(wait(store.save(found))) == 1
    assert wait(store.save(found)) == []
    assert read(store) == ["1", "2", "3"]
    assert [read(store, limit=n) for n in (0, 1, 2, 9)] == [
        [],
        ["3"],
        ["2", "3"],
        ["1", "2", "3"],
    ]


def test_who_has_not_seen_the_last_save_is_told(store: Any) -> None:
    first = say(store, "1")
    second = wait(store.load("c"))
    first.messages.append(ask("2"))
    wait(store.save(first))
    second.messages.append(ask("lost"))
    for stale in (second, start("new")):
        with pytest.raises(ConversationConflict):
            wait(store.save(stale))
    with pytest.raises(ConversationConflict):
        wait(store.delete_record("c", expected_revision="other"))
    wait(store.delete("c"))
    wait(store.delete("c"))
    first.messages.append(ask("3"))
    with pytest.raises(ConversationConflict):
        wait(store.save(first))
    assert wait(store.load("c")) is None


def test_a_conversation_is_deleted_once(store: Any) -> None:
    conversation = start()
    conversation.messages = [ask("hello")]
    wait(store.save(conversation))
    revision = wait(store.read_record("c")).revision
    wait(store.delete_record("c", expected_revision=revision))
    for _ in range(2):
        with pytest.raises(ConversationConflict):
            wait(store.delete_record("c", expected_revision=revision))


def test_what_another_store_has_deleted_is_a_conflict(alice: Client) -> None:
    one, other = AgentMemoryConversationStore(alice), AgentMemoryConversationStore(alice)
    conversation = start()
    conversation.messages = [ask("hello")]
    wait(one.save(conversation))
    revision = wait(one.read_record("c")).revision
    wait(other.delete_record("c", expected_revision=revision))
    with pytest.raises(ConversationConflict):
        wait(one.delete_record("c", expected_revision=revision))


def test_records_are_listed_by_scope_the_last_saved_first(store: Any) -> None:
    for number, scope in enumerate(["ada", "bob", "ada", None]):
        record = ConversationRecord(
            conversation_id=f"c{number}",
            head_id=None,
            scope=scope,
            updated_at=START + timedelta(days=-number),
        )
        wait(store.write_record(record, expected_revision=None))

    def list_ids(**options: Any) -> list[str]:
        return [each.conversation_id for each in wait(store.list_conversations(**options))]

    assert list_ids() == ["c0", "c1", "c2", "c3"]
    assert list_ids(limit=2) == ["c0", "c1"]
    assert list_ids(scope="ada") == ["c0", "c2"]
    assert list_ids(scope="ada", limit=1) == ["c0"]
    assert list_ids(scope="eve") == []
    with pytest.raises(ConversationConflict):
        wait(store.save(start(id="c1"), scope="ada"))
    assert wait(store.load("c1", scope="ada")) is None
    wait(store.delete("c1", scope="ada"))
    wait(store.delete("c0", scope="ada"))
    assert list_ids() == ["c1", "c2", "c3"]
    assert list_ids(scope="ada") == ["c2"]


def test_branches_and_forks_share_what_was_before(store: Any) -> None:
    conversation = say(store, "1", "2", "3")
    entries = wait(store.load_entries("c"))
    branched = wait(store.branch("c", at=1, expected_revision=conversation.revision))
    branched.messages.append(ask("other"))
    wait(store.save(branched))
    assert read(store) == ["1", "other"]
    fork = wait(store.fork("c", from_entry=entries[1].id, new_conversation_id="f"))
    deeper = wait(store.fork("f", new_conversation_id="g"))
    wait(store.delete("c"))
    assert (read(store, "f"), read(store, "g")) == (["1", "2"], ["1", "2"])
    with pytest.raises(KeyError):
        wait(store.read_entry(entries[2].id))
    wait(store.delete("f"))
    assert [message.parts[0].content for message in deeper.messages] == read(store, "g")
    wait(store.delete("g"))
    with pytest.raises(KeyError):
        wait(store.read_entry(entries[0].id))
    with pytest.raises(UserError):
        wait(store.fork("c"))
    assert fork.conversation_id == "f"


def test_what_a_record_continues_must_be_there(store: Any) -> None:
    record = ConversationRecord(conversation_id="c", head_id="gone")
    with pytest.raises(ConversationConflict):
        wait(store.write_record(record, expected_revision=None))
    entry = ConversationEntry(id="e", parent_id=None, message=ask("1"))
    moved = dataclasses.replace(record, head_id="e", forked_from="elsewhere")
    wait(store.write_record(moved, new_entries=[entry], expected_revision=None))
    assert read(store) == ["1"]


def test_nothing_is_left_of_a_conflict_or_a_deletion(
    ours: AgentMemoryConversationStore, alice: Client
) -> None:
    conversation = say(ours, "1")
    before = count_objects(alice)
    stale = ours._find("c")  # noqa: SLF001 - what a slower writer has read
    conversation.messages.append(ask("2"))
    wait(ours.save(conversation))
    assert stale is not None
    entry = ConversationEntry(parent_id=None, message=ask("lost"))
    record = ConversationRecord(conversation_id="c", head_id=entry.id)
    write = ours.write_record(record, new_entries=[entry], expected_revision=stale.record.revision)
    with pytest.raises(ConversationConflict):
        wait(write)
    assert count_objects(alice) == before + 1
    wait(ours.fork("c", new_conversation_id="f", scope="ada"))
    for id in ("c", "f"):
        wait(ours.delete(id))
    assert count_objects(alice) == 0


def test_a_fork_of_what_is_being_deleted_is_told(
    ours: AgentMemoryConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(ours, "1")
    put = ours._put_record  # noqa: SLF001 - the moment in between

    def delete_first(stored: Any) -> None:
        monkeypatch.undo()
        wait(ours.delete("c"))
        put(stored)

    monkeypatch.setattr(ours, "_put_record", delete_first)
    with pytest.raises(ConversationConflict):
        wait(ours.fork("c", new_conversation_id="f"))
    assert wait(ours.list_conversations()) == []


def test_a_long_conversation_is_read_in_blocks(alice: Client) -> None:
    store = AgentMemoryConversationStore(alice)
    texts = [str(number) for number in range(70)]
    conversation = say(store, *texts[:30])
    other = AgentMemoryConversationStore(alice)  # knows no ancestors
    conversation = wait(other.load("c", limit=3))
    conversation.messages += [ask(text) for text in texts[30:]]
    wait(other.save(conversation))
    assert read(store) == texts
    for limit in (1, 6, 7, 64, 65, 69):
        assert read(store, limit=limit) == texts[-limit:]


def test_a_message_may_be_large_and_threads_may_save(alice: Client) -> None:
    with_async = AsyncClient(alice.settings.server_url, alice.settings.api_key)
    store = AgentMemoryConversationStore(with_async, sensitivity="restricted")

    def save(number: int) -> None:
        picture = ask([BinaryContent(IMAGE if number == 0 else b"x", media_type="application/pdf")])
        saved = Conversation(conversation_id=str(number), messages=[picture])
        wait(store.save(saved))
        assert wait(store.load(str(number))) == saved

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, range(4)))
    with pytest.raises(TypeError):
        AgentMemoryConversationStore("am_key")  # type: ignore[arg-type]


def test_of_two_that_save_at_once_one_wins(alice: Client) -> None:
    stores = [AgentMemoryConversationStore(alice) for _ in range(4)]
    say(stores[0], "1")
    loaded = [wait(store.load("c")) for store in stores]

    def save(number: int) -> bool:
        loaded[number].messages.append(ask(str(number)))
        try:
            wait(stores[number].save(loaded[number]))
        except ConversationConflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(save, range(4)))
    assert won.count(True) == 1
    assert read(stores[0]) == ["1", str(won.index(True))]


def test_an_agent_goes_on_with_a_loaded_conversation(ours: AgentMemoryConversationStore) -> None:
    agent = Agent(TestModel(custom_output_text="yes"))

    async def turn(text: str) -> int:
        conversation = await ours.load("chat") or Conversation(conversation_id="chat")
        result = await agent.run(text, conversation=conversation)
        await ours.save(result, scope="ada")
        return len(result.conversation.messages)

    assert [wait(turn("hello")), wait(turn("again"))] == [2, 4]
    assert wait(ours.load("chat")).usage.requests == 2


def test_an_agent_of_pydantic_ai_goes_on_in_its_next_run(
    alice: Client, run_example: RunExample
) -> None:
    first = run_example(alice, "pydantic_ai_conversation.py", "My name is Ada.")
    second = run_example(alice, "pydantic_ai_conversation.py", "I like tea.")
    assert first == ["You said: My name is Ada."]
    assert second == ["You said: My name is Ada.; I like tea."]
