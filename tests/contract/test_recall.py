"""ADR-043 Tier 3's ship gate: how well facts are recalled, on a corpus of everyday ones."""

from operator import mul
from pathlib import Path

import httpx
import pytest

from functions.vectors.wordllama import embed
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


def test_a_score_is_the_cosine(learned: httpx.Client) -> None:
    query, _ = lines("queries")[0]
    found = recall(learned, query, top_k=100)
    assert len(found) == 100
    for fact in found:
        said = " ".join(fact[part] for part in ("subject", "predicate", "object"))
        words = " ".join(said.replace("_", " ").replace(":", " ").split())
        cosine = sum(map(mul, embed(query), embed(words)))
        assert fact["score"] == pytest.approx(cosine, abs=1e-4)
