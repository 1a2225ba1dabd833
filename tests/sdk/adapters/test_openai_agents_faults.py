"""Sessions of the OpenAI Agents SDK on broken networks, and beside others."""

import pytest
from agent_memory import AsyncClient, Client
from agent_memory.adapters.openai_agents import AgentMemorySession
from agent_memory.exceptions import (
    ConnectionFailedError,
    MemoryAccessError,
    MemoryNotFoundError,
)

from tests.sdk import faults
from tests.sdk.adapters.items import beside, texts, user
from tests.sdk.fault_proxy import Exchange, FaultProxy, passed

pytestmark = pytest.mark.anyio


@pytest.mark.usefixtures("flaky")
async def test_nothing_is_lost_or_doubled_on_a_flaky_network(
    shaken: AsyncClient, client: AsyncClient
) -> None:
    session, straight = AgentMemorySession("s", shaken), AgentMemorySession("s", client)
    for number in range(8):
        await session.add_items([user(f"{number}a"), user(f"{number}b")])
    await session.add_items([user("x" * 500_000)])
    await session.add_items([user("last")])
    popped = [await session.pop_item() for _ in range(4)]
    assert popped == [user("last"), user("x" * 500_000), user("7b"), user("7a")]
    said = [f"{number}{part}" for number in range(7) for part in "ab"]
    assert texts(await straight.get_items()) == said


async def test_an_add_that_was_popped_before_its_answer_came_is_not_added_again(
    shaken: AsyncClient, alice: Client, proxy: FaultProxy
) -> None:
    session = AgentMemorySession("s", shaken)
    await session.add_items([user("before")])

    def popped_by_another(exchange: Exchange) -> None:
        exchange.forward()
        assert alice.conversations.pop("s")
        exchange.drop()

    proxy.plan(popped_by_another)
    with pytest.raises(MemoryNotFoundError, match="have been removed") as taken:
        await session.add_items([user("added")])
    assert taken.value.may_have_happened
    assert await session.get_items() == [user("before")]


async def test_a_session_cleared_in_the_middle_of_an_add(
    shaken: AsyncClient, alice: Client, proxy: FaultProxy
) -> None:
    session = AgentMemorySession("s", shaken)
    await session.add_items([user("before")])

    def cleared_by_another(exchange: Exchange) -> None:
        assert alice.conversations.delete("s")
        exchange.send(exchange.forward())

    proxy.plan(cleared_by_another)
    await session.add_items([user("added")])
    assert await session.get_items() == [user("added")]
    for requests in range(1, 4):
        proxy.plan(*[passed] * requests, cleared_by_another)
        await session.add_items([user("x" * 100_000)])
        assert await session.get_items() == [user("x" * 100_000)]


async def test_a_refused_add_leaves_nothing_beside(
    shaken: AsyncClient, client: AsyncClient, proxy: FaultProxy
) -> None:
    session = AgentMemorySession("s", shaken)
    await session.add_items([user("before")])
    refusal = b'{"code": "ACCESS_DENIED", "message": "no more"}'
    proxy.plan(passed, passed, passed, faults.answered(403, refusal))
    with pytest.raises(MemoryAccessError, match="no more"):
        await session.add_items([user("x" * 100_000)])
    assert await session.get_items() == [user("before")]
    assert await beside(client) == []


async def test_an_add_that_may_have_happened_keeps_what_is_beside(
    alice: Client, client: AsyncClient, proxy: FaultProxy
) -> None:
    key, large = alice.settings.api_key, user("x" * 100_000)
    await AgentMemorySession("s", client).add_items([user("before")])
    proxy.plan(passed, passed, passed, faults.dropped_after)
    async with AsyncClient(proxy.address, key, max_retries=0) as impatient:
        with pytest.raises(ConnectionFailedError) as lost:
            await AgentMemorySession("s", impatient).add_items([large])
    assert lost.value.may_have_happened
    assert await AgentMemorySession("s", client).get_items() == [user("before"), large]
