"""Test which results a recall finds first, and their scores (ADR-043 Tier 3)."""

import pytest

from tests.contract.fact_calls import learn, objects, recall
from tests.contract.service import Tenant

pytestmark = [pytest.mark.in_process, pytest.mark.usefixtures("volume")]


def test_what_a_query_spells_out_comes_first(tenant: Tenant) -> None:
    agent = tenant.agent("sdr")
    for number in range(900_321, 900_121, -10):
        learn(agent, f"contact:hubspot_id:{number}", "prefers", "calls in the morning")
    learn(agent, "contact:hubspot_id:900123", "prefers", "calls in the evening")
    found = recall(agent, "what do we know about contact:hubspot_id:900123")
    assert found[0]["subject"] == "contact:hubspot_id:900123"
    assert "900123" in found[0]["matched"]
    assert "900123" not in found[1]["matched"]


def test_a_score_says_when_nothing_fits(tenant: Tenant) -> None:
    agent = tenant.agent("sdr")
    learn(agent, "runbook", "requires", "approval of version 2.14.8")
    learn(agent, "city:lisbon", "has", "strikes of taxi drivers in June")
    query = "runbook requires approval of version 2.14.8"
    assert recall(agent, query)[0]["score"] == pytest.approx(1, abs=0.02)
    assert recall(agent, "the migration of whales", min_score=0.2) == []
    assert len(recall(agent, query, min_score=0.3)) == 1


def test_a_named_subject_comes_before_facts_that_mention_it(tenant: Tenant) -> None:
    agent = tenant.agent("sdr")
    learn(agent, "the family", "celebrates late when", "Amara travels")
    learn(agent, "Amara", "drinks", "her coffee without milk since the spring")
    learn(agent, "Jonas", "gives", "Amara a lift")
    assert recall(agent, "what do we know about Amara")[0]["subject"] == "Amara"


def test_the_order_of_words_tells_who_does_what(tenant: Tenant) -> None:
    agent = tenant.agent("sdr")
    learn(agent, "Boris", "manages", "Svetlana")
    learn(agent, "Svetlana", "manages", "Boris")
    assert objects(recall(agent, "Svetlana manages Boris"))[0] == "Boris"
    assert objects(recall(agent, "Boris manages Svetlana"))[0] == "Svetlana"
