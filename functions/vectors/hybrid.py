"""Hybrid search: one vector of two halves finds candidates, one score of query and text ranks them.

The first half of a vector is the text's meaning, by an embedding model. The second half says which
words and ids it has: the sum of fixed random vectors, one for each, by their weights. An index is
asked by either half; so it finds what is meant as well as what is spelled out.
"""

from array import array
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from functions.vectors.model import Embed, Vector
from functions.vectors.wordllama import compute_length
from functions.vectors.words import (
    GRAM,
    PREFIX,
    Weigh,
    Words,
    fold,
    list_grams,
    read_words,
    weigh_terms,
    without_ids,
)

_DIGITS = 6  # of a score; further ones differ between machines
WORDS_DIMENSION = 128
"""How many numbers the half of a vector has that says which words and ids there are."""


def embed_words(words: Words, weigh: Weigh) -> Vector:
    """Embed words and ids as a vector of unit length; zeros where there are none.

    Each is a vector of numbers +1 and -1, the bits of a hash.
    """
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests embed nothing

    terms = weigh_terms(words.words, weigh(list(words.words))) | words.ids
    if not terms:
        return array("f", bytes(4 * WORDS_DIMENSION))
    size = WORDS_DIMENSION // 8
    hashes = b"".join(blake2b(each.encode(), digest_size=size).digest() for each in terms)
    signs = np.unpackbits(np.frombuffer(hashes, np.uint8)).reshape(len(terms), -1) * 2.0 - 1.0
    weighted = np.fromiter(terms.values(), float)[:, None] * signs
    total: list[float] = weighted.sum(0).tolist()  # in order; a dot product's order is the CPU's
    length = compute_length(total) or 1.0
    return array("f", [each / length for each in total])


class Fit(NamedTuple):
    """How well a text fits a query.

    Attributes:
        score: 1 for the query's exact words; comparable within one query only.
        matched: the words and ids of the query that the text has.
    """

    score: float
    matched: list[str]


@dataclass(frozen=True)
class Query:
    """A query's words and their weights, to compare texts with.

    Attributes:
        words: of the query.
        terms: the weight of each word's first letters.
        grams: the weight of each group of four letters.
    """

    words: Words
    terms: dict[str, float]
    grams: dict[str, float]

    def compare(self, cosine: float, text: str, subject: str = "") -> Fit:
        """Compare a text with the query.

        The words count only as far as most of them are there; an id that is missing counts against
        the text, and so does another order of words. A text whose subject the query names comes
        before those that only mention it. No statistics of other texts enter, so scores of
        different queries and at different times can be compared.

        Args:
            cosine: of the meanings of query and text.
            text: what was embedded.
            subject: what the text is about, where that is known.
        """
        found = read_words(text)
        by_words, by_grams = self._share_words(found), self._share_grams(found, fold(text))
        missing = _divide(len(self.words.codes - found.codes), len(self.words.codes))
        lacks = missing / 2 + self._share_disorder(found) / 10
        score = (cosine + (by_words**3 + by_grams**3) / 2 - lacks) / 2
        if subject:
            score += max(1 - score, 0) * self._share_subject(read_words(subject)) ** 3 / 2
        return Fit(round(score, _DIGITS), self._list_matched(found))

    @cached_property
    def _id_weight(self) -> float:
        return sum(self.words.ids.values())

    @cached_property
    def _term_weight(self) -> float:
        return sum(self.terms.values()) + self._id_weight

    @cached_property
    def _gram_weight(self) -> float:
        return sum(self.grams.values()) + self._id_weight

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        return list(pairwise(self.terms))

    def _share_words(self, found: Words) -> float:
        terms = sum(weight for term, weight in self.terms.items() if term in found.prefixes)
        return _divide(terms + self._weigh_ids(found), self._term_weight)

    def _share_grams(self, found: Words, folded: str) -> float:
        grams = sum(
            weight
            for gram, weight in self.grams.items()
            if (gram in folded if len(gram) == GRAM else gram in found.prefixes)
        )
        return _divide(grams + self._weigh_ids(found), self._gram_weight)

    def _weigh_ids(self, found: Words) -> float:
        return sum(weight for each, weight in self.words.ids.items() if each in found.ids)

    def _share_disorder(self, found: Words) -> float:
        """Give the share of the query's pairs of words that the text has the other way round."""
        places = found.prefixes
        both = [pair for pair in self._pairs if pair[0] in places and pair[1] in places]
        return _divide(sum(places[one] > places[other] for one, other in both), len(both))

    def _share_subject(self, subject: Words) -> float:
        """Give the share of the query that names a subject; 0 where it doesn't name all of it."""
        is_named = subject.prefixes.keys() <= self.terms.keys() and subject.ids.keys() <= (
            self.words.ids.keys()
        )
        return self._share_words(subject) if is_named else 0.0

    def _list_matched(self, found: Words) -> list[str]:
        words = [each for each in self.words.words if each[:PREFIX] in found.prefixes]
        return words + [each for each in self.words.ids if each in found.ids]


def read_query(text: str, weigh: Weigh) -> Query:
    """Read the words of a query, and weigh them."""
    words = read_words(text)
    weights = weigh(list(words.words))
    grams: dict[str, float] = {}
    for word, weight in zip(words.words, weights, strict=True):
        parts = list_grams(word)
        for gram in parts:
            grams[gram] = grams.get(gram, 0.0) + weight / len(parts)
    return Query(words, weigh_terms(words.words, weights), grams)


def _divide(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def build_embed(embed_meaning: Embed, weigh: Weigh) -> Embed:
    """Build the function that embeds a text by its meaning and by its words."""

    def embed(text: str) -> Vector:
        return embed_meaning(text) + embed_words(read_words(text), weigh)

    return embed


def build_meaning_embed(model: Embed) -> Embed:
    """Build the function that embeds a text by its meaning alone: the first half of its vector."""

    def embed(text: str) -> Vector:
        return model(without_ids(text))

    return embed
