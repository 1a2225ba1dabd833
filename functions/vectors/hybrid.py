"""Hybrid search: one vector of two halves finds candidates, one score of query and text ranks them.

The first half of a vector is the text's meaning, by an embedding model. The second half says which
words and ids it has: the sum of fixed random vectors, one for each, by their weights. An index is
asked by either half; so it finds what is meant as well as what is spelled out.
"""

from array import array
from dataclasses import dataclass
from hashlib import blake2b
from math import hypot

from functions.vectors.model import Embed, Vector
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
    total: list[float] = (np.fromiter(terms.values(), float) @ signs).tolist()
    length = hypot(*total) or 1.0
    return array("f", [each / length for each in total])


@dataclass(frozen=True)
class Query:
    """A query's words and their weights, to score texts by.

    Attributes:
        words: of the query.
        terms: the weight of each word's first letters.
        grams: the weight of each group of four letters.
    """

    words: Words
    terms: dict[str, float]
    grams: dict[str, float]

    def score(self, cosine: float, text: str) -> float:
        """Score a text: 1 for the query's own words; about 0.2 is the least that fits.

        The words count only as far as most of them are there, and an id that is missing counts
        against the text. No statistics of other texts enter, so scores of different queries and
        at different times can be compared.

        Args:
            cosine: of the meanings of query and text.
            text: what was embedded.
        """
        found, folded = read_words(text), fold(text)
        ids, id_weight = self.words.ids, sum(self.words.ids.values())
        found_ids = sum(weight for each, weight in ids.items() if each in found.ids)
        found_terms = sum(each for term, each in self.terms.items() if term in found.prefixes)
        found_grams = sum(
            weight
            for gram, weight in self.grams.items()
            if (gram in folded if len(gram) == GRAM else gram in found.prefixes)
        )
        by_words = _divide(found_terms + found_ids, sum(self.terms.values()) + id_weight)
        by_grams = _divide(found_grams + found_ids, sum(self.grams.values()) + id_weight)
        missing = _divide(len(self.words.codes - found.codes), len(self.words.codes))
        score = (cosine + (by_words**3 + by_grams**3) / 2 - missing / 2) / 2
        return round(score, _DIGITS)

    def list_matched(self, text: str) -> list[str]:
        """List the query's words and ids that a text has."""
        found = read_words(text)
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
        meaning = embed_meaning(without_ids(text))
        return meaning + embed_words(read_words(text), weigh)

    return embed
