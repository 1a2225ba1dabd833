"""The words and ids of a text, as hybrid search compares them.

A word counts by its first five letters, without accents and case; stop words don't count. An id
has digits: it counts whole, by its neighbouring pieces joined, and by each piece. Groups of four
letters meet typing errors and inflections.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from functions.vectors.stop_words import STOP_WORDS

ID_WEIGHT = 5.0
_SHORT_ID_WEIGHT = 1.0  # of pieces such as "v2" or "14", which many ids share
_SHORT_ID, _CODE_DIGITS = 2, 3  # characters
PREFIX, GRAM = 5, 4
"""The number of letters of a word that count, and of a group of neighbouring ones."""
_PIECES = re.compile(r"[^\W_]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIGIT = re.compile(r"\d")
_JOINTS = re.compile(r"[\s:_]+")


def fold(text: str) -> str:
    """Remove case and accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in decomposed if not unicodedata.combining(each))


_FOLDED_STOP_WORDS = frozenset(map(fold, STOP_WORDS))


@dataclass(frozen=True)
class Words:
    """Tells what a text says, in pieces that can be compared.

    Attributes:
        words: folded words that aren't stop words, each once, in order.
        ids: folded ids in all their forms, with their weights.
        codes: the pieces of three digits or more, which name one thing and no other.
    """

    words: tuple[str, ...]
    ids: dict[str, float]
    codes: frozenset[str]

    @cached_property
    def prefixes(self) -> dict[str, int]:
        """The words' first letters, which inflections leave alone, in order with their places."""
        places: dict[str, int] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word[:PREFIX], place)
        return places


def list_pieces(text: str) -> list[str]:
    """List all words of a text, folded, in order."""
    return _PIECES.findall(fold(text))


def read_words(text: str) -> Words:
    """Read the words and ids of a text."""
    words = dict.fromkeys(list_pieces(text))
    ids: dict[str, float] = {}
    codes: set[str] = set()
    tokens = dict.fromkeys(text.split())
    for token in tokens:
        if not token.isalpha() and _DIGIT.search(token):
            pieces = [fold(each) for each in _PIECES.findall(token)]
            ids |= _list_ids(pieces)
            codes.update(each for each in pieces if len(_DIGIT.findall(each)) >= _CODE_DIGITS)
    for token in tokens:
        if not token.islower() and _CAMEL_CASE.search(token):
            words |= dict.fromkeys(_PIECES.findall(fold(_CAMEL_CASE.sub(" ", token))))
    return Words(_select_words(words), ids, frozenset(codes))


def _select_words(pieces: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        each
        for each in pieces
        if len(each) > 1
        and each not in _FOLDED_STOP_WORDS
        and (each.isalpha() or not _DIGIT.search(each))
    )


def _list_ids(pieces: list[str]) -> dict[str, float]:
    """List an id whole, its neighbouring pieces joined, and each piece that has a digit."""
    found = {
        each: ID_WEIGHT if len(each) > _SHORT_ID else _SHORT_ID_WEIGHT
        for each in pieces
        if _DIGIT.search(each)
    }
    if len(pieces) > 1:
        joined = [f"{one}-{other}" for one, other in pairwise(pieces) if _DIGIT.search(one + other)]
        found |= dict.fromkeys([*joined, "-".join(pieces)], ID_WEIGHT)
    return found


def list_grams(word: str) -> list[str]:
    """List the groups of four neighbouring letters of a word; a shorter word is one group."""
    return [word[n : n + GRAM] for n in range(max(1, len(word) - GRAM + 1))]


def without_ids(text: str) -> str:
    """Leave out what has digits, and split names at their joints: what is left has a meaning.

    All of the text where nothing else is left.
    """
    kept = [piece for piece in _JOINTS.split(text) if piece and not _DIGIT.search(piece)]
    return " ".join(kept) or text


def weigh_terms(words: Iterable[str], weights: Iterable[float]) -> dict[str, float]:
    """Give the weight of each word's first letters; of words that share them, the larger."""
    terms: dict[str, float] = {}
    for word, weight in zip(words, weights, strict=True):
        prefix = word[:PREFIX]
        terms[prefix] = max(weight, terms.get(prefix, 0.0))
    return terms
