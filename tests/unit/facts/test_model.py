"""ADR-043 Tier 3: what of a fact is embedded, and what a recall filters by."""

import pytest

from functions.facts.model import Fact

FACT = Fact(
    fact_id="f",
    subject="contact:hubspot_id:7",
    predicate="responded_positively_to",
    object="direct ROI",
    confidence=0.6,
    agent_type="sdr",
    learned_from_run_id=None,
    metadata=None,
    learned_by="a",
    version=1,
    created_at=0,
    updated_at=0,
)


def test_the_statement_is_embedded() -> None:
    assert FACT.text == "contact:hubspot_id:7 responded_positively_to direct ROI"


@pytest.mark.parametrize(
    ("filters", "matches"),
    [
        ({}, True),
        ({"agent_type": "sdr", "subject": FACT.subject}, True),
        ({"agent_type": "sdr", "subject": "another"}, False),
        ({"learned_from_run_id": "run_1"}, False),
    ],
)
def test_what_a_recall_filters_by(filters: dict[str, str], matches: bool) -> None:
    assert FACT.matches(filters) == matches
