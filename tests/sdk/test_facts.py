"""ADR-043 Tier 3: facts as agents use them by the client."""

import asyncio

import httpx
import pytest
from agent_memory import AsyncClient, Client
from agent_memory.exceptions import InvalidAnswerError, MemoryConflictError, ValidationError
from agent_memory.model import RecalledFact

from tests.contract.local_server import LocalServer


def test_a_fact_is_learned_recalled_and_forgotten(alice: Client) -> None:
    made = alice.facts.learn("acme", "prefers", "email", confidence=0.8, agent_type="sdr")
    alice.facts.learn("globex", "opened", "an office in Lisbon")
    assert alice.facts.get(made.fact_id) == made
    found = alice.facts.recall("how does acme want to be contacted: email?", top_k=1)
    assert [fact.object for fact in found] == ["email"]
    assert found[0].score <= 1
    assert alice.facts.recall("email", agent_type="sdr", min_confidence=0.9) == []
    assert alice.facts.forget(made.fact_id)
    assert not alice.facts.forget(made.fact_id)
    assert alice.facts.get(made.fact_id) is None


def test_a_fact_takes_the_place_of_the_one_with_its_id(alice: Client) -> None:
    alice.facts.learn("acme", "prefers", "email", fact_id="acme/channel")
    assert alice.facts.learn("acme", "prefers", "phone", fact_id="acme/channel").version == 2
    with pytest.raises(MemoryConflictError):
        alice.facts.forget("acme/channel", version=1)
    with pytest.raises(ValidationError):
        alice.facts.learn("acme", " ", "phone")


def test_the_same_by_the_async_client(server: LocalServer, alice: Client) -> None:
    async def used() -> list[RecalledFact]:
        async with AsyncClient(server.address, alice.settings.api_key) as client:
            await client.facts.learn("acme", "prefers", "email")
            return await client.facts.recall("acme email")

    assert [fact.object for fact in asyncio.run(used())] == ["email"]


def test_a_foreign_server_is_told_so() -> None:
    foreign = httpx.MockTransport(lambda _: httpx.Response(200, json={"hits": []}))
    client = Client("http://foreign.test", "key", transport=foreign)
    with client, pytest.raises(InvalidAnswerError):
        client.facts.recall("acme")
