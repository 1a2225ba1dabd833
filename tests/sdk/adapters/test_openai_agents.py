"""Run the same tests of any `Session` over the OpenAI Agents SDK's own and over ours."""

import asyncio
import os
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from agent_memory import AsyncClient, Client
from agent_memory.adapters.openai_agents import AgentMemorySession
from agent_memory.conversion import to_async
from agent_memory.exceptions import ConversationNotOwned, MemoryAccessError
from agent_memory.testing import MemoryService
from agents import RunContextWrapper, SQLiteSession
from agents.memory import Session, SessionSettings

from tests.sdk.adapters.items import beside, texts, user

pytestmark = pytest.mark.anyio
Agents = Callable[[str], Client]


@pytest.fixture(params=["the SDK's", "ours"])
def session(request: pytest.FixtureRequest, client: AsyncClient) -> Any:
    return SQLiteSession("s") if request.param == "the SDK's" else AgentMemorySession("s", client)


ITEMS: list[Any] = [
    user("What is the weather?"),
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city": "Köln"}',
        "id": "fc_1",
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "sunny ☀, 21.50 °C"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" * 1000},
    {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Sunny.", "annotations": [], "logprobs": None}],
    },
    {"role": "system", "content": "", "large_item": "x", "metadata": {"large_item": "x"}},
]


async def test_items_come_back_as_they_were(session: Any) -> None:
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items(ITEMS[:2])
    await session.add_items([])
    await session.add_items(ITEMS[2:])
    assert await session.get_items() == ITEMS


async def test_the_latest_of_them(session: Any) -> None:
    await session.add_items([user(str(number)) for number in range(120)])
    assert texts(await session.get_items(3)) == ["117", "118", "119"]
    assert len(await session.get_items(500)) == len(await session.get_items()) == 120
    assert await session.get_items(0) == []
    session.session_settings = SessionSettings(limit=2)
    assert texts(await session.get_items()) == ["118", "119"]
    assert texts(await session.get_items(limit=1)) == ["119"]


async def test_it_is_made_and_called_like_the_sdks_own(session: Any) -> None:
    assert session.session_settings == SessionSettings()
    await session.add_items([user("1"), user("2")])
    session.session_settings = {"limit": 1}
    assert texts(await session.get_items()) == ["2"]
    session.close()


async def test_a_run_hands_its_context_to_the_session(client: AsyncClient) -> None:
    session = AgentMemorySession("s", client, session_settings={"limit": 2})
    wrapper: RunContextWrapper[Any] = RunContextWrapper(None)
    await session.add_items([user(str(number)) for number in range(3)], wrapper=wrapper)
    assert texts(await session.get_items(wrapper=wrapper)) == ["1", "2"]
    assert await session.pop_item(wrapper=wrapper) == user("2")
    await session.clear_session(wrapper=wrapper)
    assert await session.get_items() == []


def test_one_session_serves_several_event_loops_and_threads(alice: Client) -> None:
    session = AgentMemorySession("s", to_async(alice))

    def add(number: int) -> None:
        for turn in range(3):
            asyncio.run(session.add_items([user(f"{number}{turn}"), user("x" * 70_000)]))

    async def add_beside() -> list[Any]:
        async with asyncio.timeout(30):
            await asyncio.gather(*(asyncio.to_thread(add, number) for number in range(4)))
            await asyncio.gather(*(session.add_items([user("here")]) for _ in range(4)))
            return await session.get_items()

    assert len(asyncio.run(add_beside())) == 28


async def test_the_latest_of_more_than_one_answer_holds(session: Any) -> None:
    await session.add_items([user(str(number)) for number in range(1010)])
    assert texts(await session.get_items(1005)) == [str(number) for number in range(5, 1010)]


async def test_items_are_popped_from_the_end(session: Any) -> None:
    assert await session.pop_item() is None
    await session.add_items([user("a"), user("b"), user("c")])
    assert await session.pop_item() == user("c")
    await session.add_items([user("d")])
    assert texts([await session.pop_item() for _ in range(3)]) == ["d", "b", "a"]
    assert await session.pop_item() is None
    assert await session.get_items() == []


async def test_a_cleared_session_is_a_new_one(session: Any) -> None:
    await session.clear_session()
    await session.add_items([user("a"), user("x" * 100_000)])
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items([user("b")])
    assert await session.get_items() == [user("b")]


async def test_items_have_any_size(session: Any) -> None:
    noise = b64encode(os.urandom(2_400_000)).decode()  # like a picture
    sizes = [59_900, 60_100, 65_536, 400_000]
    large = [user("x" * size) for size in sizes] + [user('"\\\n' * 50_000), user(noise)]
    await session.add_items([user("a"), *large, user("b")])
    assert await session.get_items() == [user("a"), *large, user("b")]
    assert await session.get_items(2) == [user(noise), user("b")]
    assert await session.pop_item() == user("b")
    assert await session.pop_item() == user(noise)
    assert await session.get_items() == [user("a"), *large[:-1]]


async def test_one_item_that_has_no_form_in_json_keeps_all_out(session: Any) -> None:
    with pytest.raises(TypeError):
        await session.add_items([user("a"), user("x" * 100_000), {"role": "user", "content": {1}}])
    assert await session.get_items() == []


async def test_concurrent_adds_lose_nothing_and_stay_together(session: Any) -> None:
    async def add(name: str) -> None:
        for turn in range(5):
            await session.add_items([user(f"{name}{turn}{part}") for part in "abc"])

    async with anyio.create_task_group() as group:
        for name in "ABCDEFGH":
            group.start_soon(add, name)
    found = texts(await session.get_items())
    added = [found[start : start + 3] for start in range(0, len(found), 3)]
    assert len(added) == 40
    assert all([text[2] for text in turn] == ["a", "b", "c"] for turn in added)
    assert all(len({text[:2] for text in turn}) == 1 for turn in added)
    for name in "ABCDEFGH":
        assert [turn[0][1] for turn in added if turn[0][0] == name] == list("01234")


async def test_concurrent_pops_give_each_item_once(session: Any) -> None:
    await session.add_items([user(str(number)) for number in range(30)])
    popped: list[Any] = []

    async def pop() -> None:
        while (item := await session.pop_item()) is not None:
            popped.append(item)

    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(pop)
    assert sorted(texts(popped), key=int) == [str(number) for number in range(30)]


async def test_sessions_are_apart_and_outlive_their_objects(client: AsyncClient) -> None:
    await AgentMemorySession("a/b", client).add_items([user("1")])
    await AgentMemorySession("a", client).add_items([user("2")])
    assert await AgentMemorySession("a/b", client).get_items() == [user("1")]
    assert await AgentMemorySession("a", client).get_items() == [user("2")]


async def test_large_items_show_in_no_list_and_leave_nothing_behind(client: AsyncClient) -> None:
    session = AgentMemorySession("s", client)
    await session.add_items([user("x" * 100_000), user("y" * 100_000), user("z" * 100_000)])
    shown = [each.session_id async for each in client.conversations.list("alice")]
    assert shown == ["s"]
    assert len(await beside(client)) == 3
    await session.pop_item()
    assert len(await beside(client)) == 2
    await session.clear_session()
    assert await beside(client) == []


async def test_participants_read_and_write_large_items_as_well(
    client: AsyncClient, agent: Agents
) -> None:
    one = AgentMemorySession("s", client, agent_participants=["bob"])
    await one.add_items([user("1" * 100_000)])
    async with to_async(agent("bob")) as bob, to_async(agent("eve")) as eve:
        other = AgentMemorySession("s", bob, join=True)
        await other.add_items([user("2" * 100_000)])
        assert await one.get_items() == await other.get_items()
        assert await one.pop_item() == user("2" * 100_000)
        assert await other.pop_item() == user("1" * 100_000)
        stranger = AgentMemorySession("s", eve)
        for call in (stranger.get_items(), stranger.add_items([user("3")]), stranger.pop_item()):
            with pytest.raises(MemoryAccessError):
                await call
        with pytest.raises(MemoryAccessError):
            await stranger.add_items([user("3" * 100_000)])
    assert await one.get_items() == []


@pytest.mark.parametrize("size", [10, 100_000])
async def test_nobody_is_drawn_into_the_session_of_another(
    client: AsyncClient, agent: Agents, size: int
) -> None:
    mallory = agent("mallory")
    mallory.conversations.put("s", "ada", agent_participants=["alice"])
    with pytest.raises(ConversationNotOwned, match="another principal"):
        await AgentMemorySession("s", client).add_items([user("x" * size)])
    assert mallory.conversations.get("s").messages == ()
    assert await beside(client) == []
    await AgentMemorySession("s", client, join=True).add_items([user("x" * size)])
    await AgentMemorySession("t", client, user_id="ada").add_items([user("Hi")])
    with pytest.raises(ConversationNotOwned, match="another user"):
        await AgentMemorySession("t", client, user_id="ben").add_items([user("x" * size)])


async def test_a_message_can_t_lead_out_of_its_session(client: AsyncClient) -> None:
    session = AgentMemorySession("s", client)
    await session.add_items([user("1")])
    await client.conversations.put("private", "alice", [user("secret")])
    forged = {"role": "user", "content": None, "metadata": {"large_item": "private"}}
    await client.conversations.append("s", [forged])
    assert await session.get_items() == [user("1")]
    assert await session.pop_item() == user("1")
    assert await client.conversations.get_head("private") is not None


async def test_the_retention_is_over_for_all_items(memory_service: MemoryService) -> None:
    async with memory_service.as_async("ada") as client:
        session = AgentMemorySession("s", client, ttl="duration:P1D")
        await session.add_items([user("1")])
        memory_service.clock.advance(hours=23)
        await session.add_items([user("2" * 100_000)])
        assert len(await session.get_items()) == 2
        memory_service.clock.advance(hours=1)
        assert await session.get_items() == []
        assert await session.pop_item() is None
        assert await beside(client) == []


async def test_whose_it_is_and_how_secret(client: AsyncClient) -> None:
    session = AgentMemorySession("s", client, user_id="ada", sensitivity="restricted")
    await session.add_items([user("x" * 100_000)])
    head = await client.conversations.get_head("s")
    assert head is not None
    assert (head.user_id, head.sensitivity) == ("ada", "restricted")
    (large,) = await beside(client)
    assert large["sensitivity"] == "restricted"
    assert set(large["agent_participants"]) == {"ada", "alice"}
