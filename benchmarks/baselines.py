"""Two other ways to rank texts: BM25 by the service's own words, and the embedding model alone."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import log

import numpy as np

from functions.vectors.wordllama import embed
from functions.vectors.words import read_words, without_ids

RESULTS = 10
_K, _B = 1.2, 0.75
Rank = Callable[[str], list[tuple[int, float]]]
"""Ranks texts by a query: the places of the best ten, with their scores."""


def rank_by_both(texts: Sequence[str]) -> tuple[Rank, Rank]:
    """Rank texts by BM25, and by the model."""
    return _rank_by_words(texts), _rank_by_meaning(texts)


def _rank_by_words(texts: Sequence[str]) -> Rank:
    counted = [Counter(_list_terms(each)) for each in texts]
    lengths = np.array([each.total() for each in counted])
    norms = _K * (1 - _B + _B * lengths / lengths.mean())
    postings: dict[str, dict[int, int]] = defaultdict(dict)
    for place, terms in enumerate(counted):
        for term, count in terms.items():
            postings[term][place] = count

    def rank(query: str) -> list[tuple[int, float]]:
        scores = np.zeros(len(texts))
        for term in _list_terms(query):
            found = postings.get(term, {})
            places, counts = np.array([*found], int), np.array([*found.values()])
            rarity = log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
            scores[places] += rarity * (_K + 1) * counts / (counts + norms[places])
        return _take_best(scores)

    return rank


def _rank_by_meaning(texts: Sequence[str]) -> Rank:
    vectors = np.array([embed(without_ids(each)) for each in texts])
    return lambda query: _take_best(vectors @ np.array(embed(without_ids(query))))


def _list_terms(text: str) -> list[str]:
    words = read_words(text)
    return [*words.prefixes, *words.ids]


def _take_best(scores: "np.typing.NDArray[np.float64]") -> list[tuple[int, float]]:
    best = np.argsort(-scores, kind="stable")[:RESULTS]
    return [(int(place), float(scores[place])) for place in best]
