"""Hybrid search: find texts by meaning and by words, and rank them by one score.

The meaning of a text is a vector of an embedding model. Its terms are the first letters of its
words, and its ids. An index finds candidates by both; `Query.compare` scores their texts.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import pairwise
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from functions.platform.limits import MAX_PIECE_CHARACTERS
from functions.platform.schema import WORDS_DIMENSIONS
from functions.vectors.model import (
    NO_MODEL,
    Embedding,
    EmbedMeanings,
    Statistics,
    Vector,
    VectorFormat,
    VectorIndex,
)
from functions.vectors.wordllama import compare_words, compute_length, weigh
from functions.vectors.words import (
    GRAM,
    PREFIX,
    Words,
    fold,
    list_grams,
    list_pieces,
    read_words,
    weigh_terms,
    without_ids,
)

_STRAY = 0.23  # the share of rare words that a text can have by chance
_UNRELATED, _SYNONYMS = 0.1, 0.7  # cosines of words with different meanings, and with the same
_PIECE_LETTERS = 2
_DIGITS = 6  # digits of a score; further digits differ between machines
_REMEMBERED = 256  # queries
_FEW_WORDS = 1  # a text of n words counts n / (n + 1): short texts are near to everything
T = TypeVar("T")


def embed_terms(terms: Mapping[str, float]) -> Vector:
    """Embed terms as a vector of unit length, for DynamoDB's vector index; zeros without terms.

    Each term is a vector of numbers +1 and -1, the bits of a hash.
    """
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests embed nothing

    if not terms:
        return array("f", bytes(4 * WORDS_DIMENSIONS))
    size = WORDS_DIMENSIONS // 8
    hashes = b"".join(blake2b(each.encode(), digest_size=size).digest() for each in terms)
    signs = np.unpackbits(np.frombuffer(hashes, np.uint8)).reshape(len(terms), -1) * 2.0 - 1.0
    weighted = np.fromiter(terms.values(), float)[:, None] * signs
    total: list[float] = weighted.sum(0).tolist()  # a dot product's order depends on the CPU
    return scale_to_unit(total)


def scale_to_unit(numbers: list[float]) -> Vector:
    """Scale a vector to unit length; a vector of zeros stays as it is."""
    length = compute_length(numbers) or 1.0
    return array("f", [each / length for each in numbers])


def damp(words: int) -> float:
    """Compute the weight of a text's meaning: fewer words weigh less."""
    return words / (words + _FEW_WORDS)


class Fit(NamedTuple):
    """The relevance of a text to a query.

    Attributes:
        score: 1 for the query's exact words; comparable only within one query.
        matched: the words and ids of the query that the text has.
        parts: the parts of the score.
    """

    score: float
    matched: list[str]
    parts: dict[str, float]


class Found(NamedTuple, Generic[T]):
    """A result of a search, and the relevance of its text."""

    element: T
    score: float
    matched: list[str]
    parts: dict[str, float]


@dataclass(frozen=True)
class Query:
    """A query's words and their weights, for comparison with texts.

    Attributes:
        terms: the weight of each word's first letters.
        grams: the weight of each group of four letters.
        rarity: the inverse document frequency of each term; empty if unknown.
        pieces: all words, folded, in order.
    """

    words: Words
    terms: dict[str, float]
    grams: dict[str, float]
    rarity: Mapping[str, float] = field(default_factory=dict)
    pieces: tuple[str, ...] = ()

    def use_statistics(self, statistics: Statistics | None) -> "Query":
        """Return the query with the rarity of its terms among the searched texts."""
        if statistics is None:
            return self
        terms = (*self.terms, *self.words.ids)
        return replace(self, rarity={each: statistics.compute_rarity(each) for each in terms})

    def compare(self, cosine: float, text: str, subject: str = "") -> Fit:
        """Compare a text with the query.

        The meaning counts for less if the text is short. Words count only if the text has most of
        them; rare words weigh more. A missing id, and another order of words, lower the score. A
        text whose subject the query names scores higher than a text that only mentions it.

        Args:
            cosine: of the meanings of query and text.
            text: the embedded text.
            subject: the subject of the text, if known.
        """
        found = read_words(text)
        by_words, by_grams = self._share_words(found), self._share_grams(found, fold(text))
        missing = _divide(len(self.words.codes - found.codes), len(self.words.codes))
        lacks = missing / 2 + self._share_disorder(found) / 10
        has_same_words = found.prefixes.keys() == self.terms.keys()
        meaning = cosine if has_same_words else cosine * damp(len(text.split()))
        score = (meaning + (by_words**3 + by_grams**3) / 2 - lacks) / 2
        by_rarity = self._share_rarity(found)
        score = (score + max(by_rarity - _STRAY, 0) / (1 - _STRAY)) / 2
        if subject and self._has_all(about := read_words(subject)):
            score += max(1 - score, 0) * self._share_words(about) ** 3 / 2
        parts = {
            "meaning": meaning,
            "words": by_words,
            "letters": by_grams,
            "rarity": by_rarity,
            "missing": missing,
        }
        rounded = {name: round(each, _DIGITS) for name, each in parts.items()}
        return Fit(round(score, _DIGITS), self._list_matched(found), rounded)

    def names(self, subject: str) -> bool:
        """Tell whether the query has all words and ids of a subject.

        Another word before the noun makes another subject: "the finance team" does not name "the
        team".
        """
        words = read_words(subject)
        is_any = bool(words.prefixes or words.ids) and self._has_all(words)
        return is_any and not self._is_narrowed(words, list_pieces(subject))

    def _is_narrowed(self, words: Words, subject: Sequence[str]) -> bool:
        if not words.words or words.words[0] == subject[0]:
            return False
        others = self.terms.keys() - words.prefixes.keys()
        before = [
            one[:PREFIX]
            for one, other in pairwise(self.pieces)
            if other[:PREFIX] == words.words[0][:PREFIX]
        ]
        return bool(before) and others.issuperset(before)

    @cached_property
    def _term_weight(self) -> float:
        return sum(self.terms.values()) + sum(self.words.ids.values())

    @cached_property
    def _gram_weight(self) -> float:
        return sum(self.grams.values()) + sum(self.words.ids.values())

    def _share_words(self, found: Words) -> float:
        terms = sum(weight for term, weight in self.terms.items() if term in found.prefixes)
        return _divide(terms + self._weigh_ids(found), self._term_weight)

    def _share_rarity(self, found: Words) -> float:
        """Compute the share of the query's terms that a text has, weighed by their rarity.

        A missing word counts partly if the text has a word of similar meaning. Example: of
        "Caroline's guitar", a text with "guitar" has a large share, if all texts mention Caroline,
        and a text with "violin" a smaller one.
        """
        weights = self.rarity or self.terms | self.words.ids
        present = sum(
            weight
            for term, weight in weights.items()
            if term in found.prefixes or term in found.ids
        )
        near = sum(weights[term] * share for term, share in self._find_near(found).items())
        return _divide(present + near, sum(weights.values()))

    def _find_near(self, found: Words) -> dict[str, float]:
        """Compute how much of each missing word's meaning a text has.

        Words of two letters, such as "hi", are near to words that contain them.
        """
        near: dict[str, float] = {}
        cosines = [self._compare_word(each) for each in found.words if len(each) > _PIECE_LETTERS]
        for place, word in enumerate(self.words.words):
            term = word[:PREFIX]
            if cosines and term not in found.prefixes:
                nearest = max(each[place] for each in cosines)
                share = (nearest - _UNRELATED) / (_SYNONYMS - _UNRELATED)
                near[term] = max(min(share, 1.0), near.get(term, 0.0))
        return near

    def _compare_word(self, word: str) -> list[float]:
        """Compare the query's words with a word of texts, once for all texts."""
        if word not in self._compared:
            self._compared[word] = compare_words(self.words.words, word)
        return self._compared[word]

    @cached_property
    def _compared(self) -> dict[str, list[float]]:
        return {}

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
        places = found.prefixes
        pairs = pairwise(self.terms)
        both = [pair for pair in pairs if pair[0] in places and pair[1] in places]
        return _divide(sum(places[one] > places[other] for one, other in both), len(both))

    def _has_all(self, found: Words) -> bool:
        return found.prefixes.keys() <= self.terms.keys() and (
            found.ids.keys() <= self.words.ids.keys()
        )

    def _list_matched(self, found: Words) -> list[str]:
        words = [each for each in self.words.words if each[:PREFIX] in found.prefixes]
        return words + [each for each in self.words.ids if each in found.ids]


def read_query(text: str) -> Query:
    """Parse the words of a query, and weigh them."""
    words = read_words(text)
    weights = weigh(list(words.words))
    grams: dict[str, float] = {}
    for word, weight in zip(words.words, weights, strict=True):
        parts = list_grams(word)
        for gram in parts:
            grams[gram] = grams.get(gram, 0.0) + weight / len(parts)
    return Query(words, weigh_terms(words.words, weights), grams, pieces=tuple(list_pieces(text)))


def _divide(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


class TextEmbedder:
    """Embeds stored texts, in pieces if they are long."""

    def __init__(self, embed_meanings: EmbedMeanings) -> None:
        self._embed_meanings = embed_meanings

    def __call__(self, text: str) -> Embedding:
        """Embed a text."""
        return self.embed_all([text])[0]

    def embed_all(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts together."""
        pieces = [list(split_pieces(each)) for each in texts]
        wanted = [without_ids(piece) for each in pieces for piece in each]
        found = iter(self._embed_meanings(wanted) if wanted else ())
        return [
            Embedding(tuple(_scale(next(found), piece) for piece in each), _list_terms(text))
            for text, each in zip(texts, pieces, strict=True)
        ]


class QueryEmbedder:
    """Embeds queries, and caches the latest: the sources of a recall embed the same one."""

    def __init__(self, embed_meanings: EmbedMeanings) -> None:
        self._embed = lru_cache(_REMEMBERED)(lambda text: embed_meanings([text])[0])
        self._lock = Lock()

    def __call__(self, text: str) -> Embedding:
        """Embed a query."""
        with self._lock:  # of concurrent callers, one embeds
            meaning = self._embed(without_ids(text))
        return Embedding((meaning,), _list_terms(text))


def _scale(meaning: Vector, piece: str) -> Vector:
    factor = damp(len(piece.split()))
    return array("f", [factor * each for each in meaning])


def _list_terms(text: str) -> dict[str, float]:
    words = read_words(text)
    return weigh_terms(words.words, weigh(list(words.words))) | words.ids


def split_pieces(text: str) -> Iterator[str]:
    """Split a long text into pieces of at most 1,000 characters, between words if possible."""
    while len(text) > MAX_PIECE_CHARACTERS:
        end = text.rfind(" ", 1, MAX_PIECE_CHARACTERS + 1)
        end = end if end > 0 else MAX_PIECE_CHARACTERS
        yield text[:end]
        text = text[end:].lstrip(" ")
    if text:
        yield text


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """The embedding model, the format and the index that a deployment searches with."""

    embed: TextEmbedder
    embed_query: QueryEmbedder
    format: VectorFormat
    index: VectorIndex

    @property
    def can_embed(self) -> bool:
        """Tell whether a model is available; without one, items are stored, and embedded later."""
        return self.format.model != NO_MODEL

    def embed_stored(self, text: str) -> Embedding:
        """Embed a stored text; without a model, the embedding is empty."""
        return self.embed(text) if self.can_embed else Embedding((), {})
