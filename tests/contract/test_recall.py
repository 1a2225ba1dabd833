"""ADR-043 Tier 3's ship gate: how well facts are recalled, on a corpus of everyday ones."""

from pathlib import Path

import httpx
import pytest

from tests.contract.fact_calls import learn, objects, recall
from tests.contract.service import Tenant

pytestmark = [pytest.mark.in_process, pytest.mark.usefixtures("volume")]

_CORPUS = Path(__file__).parent / "corpus"


def lines(name: str) -> list[list[str]]:
    """The lines of a file, each with its columns."""
    text = (_CORPUS / f"{name}.txt").read_text("utf-8")
    return [[column.strip() for column in line.split("|")] for line in text.splitlines()]


@pytest.fixture
def learned(tenant: Tenant) -> httpx.Client:
    """An agent after many runs."""
    sdr = tenant.agent("sdr")
    for number, words in enumerate(lines("facts")):
        learn(sdr, *words, learned_from_run_id=f"run_{number % 12}")
    return sdr


def test_the_expected_facts_are_among_the_first(learned: httpx.Client) -> None:
    assert "direct_roi_framing" in objects(
        recall(learned, "responded positively to direct ROI framing")
    )
    ranks = [objects(recall(learned, query)) for query, _ in lines("queries")]
    wanted = [said for _, said in lines("queries")]
    first = sum(found[0] == each for found, each in zip(ranks, wanted, strict=True))
    among = sum(each in found for found, each in zip(ranks, wanted, strict=True))
    assert (first, among) >= (36, 39), (first, among, len(wanted))


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
