"""ADR-043 Tier 3: facts as agents use them by the client."""

import pytest
from agent_memory import Client
from agent_memory.exceptions import MemoryConflictError, ValidationError


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
