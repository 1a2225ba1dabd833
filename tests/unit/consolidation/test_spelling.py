"""The measure of texts that say the same, on 200 pairs of our own."""

from pathlib import Path
from typing import NamedTuple

import pytest

from functions.consolidation.spelling import get_letters, is_near, normalize

MIN_PRECISION, MIN_RECALL = 0.98, 0.75
_PAIRS = Path(__file__).with_name("pairs.tsv")


class Pair(NamedTuple):
    """Two objects of facts, and whether they say the same."""

    is_same: bool
    one: str
    other: str


def read_pairs() -> list[Pair]:
    lines = (line.split("\t") for line in _PAIRS.read_text().splitlines())
    return [Pair(kind == "same", one, other) for kind, one, other in lines]


def find_reason(pair: Pair) -> str | None:
    one, other = normalize(pair.one), normalize(pair.other)
    if one == other:
        return "same_spelling"
    return "near_identical" if is_near(one, other) else None


def test_wrong_merges_are_rare_and_most_that_says_the_same_is_found() -> None:
    pairs = read_pairs()
    assert len(pairs) == len(set(pairs)) == 200
    found = [pair for pair in pairs if find_reason(pair)]
    right = [pair for pair in found if pair.is_same]
    precision, recall = len(right) / len(found), len(right) / sum(each.is_same for each in pairs)
    print(f"precision {precision:.3f}, recall {recall:.3f}, {len(found)} of 200")  # noqa: T201 - `pytest -s` shows it
    assert precision >= MIN_PRECISION, set(found) - set(right)
    assert recall >= MIN_RECALL


@pytest.mark.parametrize("pair", read_pairs(), ids=lambda pair: f"{pair.one} / {pair.other}")
def test_the_measure_is_symmetric_and_stable(pair: Pair) -> None:
    swapped = Pair(pair.is_same, pair.other, pair.one)
    assert find_reason(pair) == find_reason(swapped)
    for text in (pair.one, pair.other):
        assert normalize(normalize(text)) == normalize(text)
    if find_reason(pair) is not None:
        assert get_letters(normalize(pair.one)) == get_letters(normalize(pair.other))
