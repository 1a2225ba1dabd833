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
    ("filters", "least", "matches"),
    [
        ({}, 0.0, True),
        ({}, 0.6, True),
        ({}, 0.61, False),
        ({"agent_type": "sdr", "subject": FACT.subject}, 0.5, True),
        ({"agent_type": "sdr", "subject": "another"}, 0.5, False),
        ({"learned_from_run_id": "run_1"}, 0.0, False),
    ],
)
def test_what_a_recall_filters_by(filters: dict[str, str], least: float, matches: bool) -> None:
    assert FACT.matches(filters, least) == matches
