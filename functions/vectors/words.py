"""The words and ids of a text that hybrid search compares.

A word counts by its first five letters, without accents and case; stop words don't count. An id has
digits: it counts as a whole, by joined neighboring pieces, and by each piece. Groups of four
letters match despite typing errors and inflections.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

ID_WEIGHT = 5.0
_SHORT_ID_WEIGHT = 1.0  # the weight of pieces such as "v2" or "14", which many ids share
_SHORT_ID, _CODE_DIGITS = 2, 3  # characters
PREFIX, GRAM = 5, 4
"""The number of letters of a word that count, and of a group of letters."""
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


# stop words of four languages
_ENGLISH = """
a about above after again all also am an and any anything are as at be because been before being
below between both but by can could did do does doing done down during each else ever everything
few for from further give had has have having he her here hers him his how i if in into is it its
just know known let like list me more most much my no nor not now of off on once one only or other
our ours out over own please same say see she should show so some something such tell than that
the their theirs them then there these they thing things this those through to too under until up
us very was we were what when where which while who whom whose why will with would you your yours
"""
_GERMAN = """
aber alle alles als am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der
des dessen die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es
etwas euch fuer für gibt hat hatte hatten hier ich ihm ihn ihr ihre im in ist ja kann kein keine
man mein mich mir mit nach nicht nichts noch nun nur ob oder ohne sehr sein seine sich sie sind so
soll über um und uns unser unter vom von vor war waren warum was weil welche welcher welches wenn
wer werden wie wieder wir wird wissen wo wohin wurde wurden zu zum zur
"""
_FRENCH = """
au aux avec ce ces cet cette comme comment dans de des dont du elle elles en est et eu été il ils
je la le les leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou où par pas plus
pour pourquoi quand que quel quelle quelles quels qui quoi sa sans se ses sont son sur ta te tes
toi ton tu un une vos votre vous y était
"""
_SPANISH = """
al algo como con cual cuales cuando cuál del desde donde dónde el ella ellas ellos era eran es esa
ese eso esta este esto está fue ha han hay la las lo los más mi mis muy nada no nos nosotros o
para pero por porque qué que quien quién se sea ser si sin sobre son su sus también te tiene
tienen todo todos tu un una uno unos y ya yo
"""
_STOP_WORDS = frozenset(map(fold, "".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH)).split()))


@dataclass(frozen=True)
class Words:
    """The words and ids of a text.

    Attributes:
        words: folded words that aren't stop words, each once, in order.
        ids: folded ids in all their forms, with their weights.
        codes: the pieces of three digits or more, which identify one thing.
    """

    words: tuple[str, ...]
    ids: dict[str, float]
    codes: frozenset[str]

    @cached_property
    def prefixes(self) -> dict[str, int]:
        """The first letters of the words, which inflections keep, in order with their places."""
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
        if len(each) > 1 and each not in _STOP_WORDS and (each.isalpha() or not _DIGIT.search(each))
    )


def _list_ids(pieces: list[str]) -> dict[str, float]:
    """List an id: the whole, joined neighboring pieces, and each piece with a digit."""
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
    """List the groups of four adjacent letters of a word; a shorter word is one group."""
    return [word[n : n + GRAM] for n in range(max(1, len(word) - GRAM + 1))]


def without_ids(text: str) -> str:
    """Remove words with digits, and split compound names: the rest has a meaning.

    If nothing is left, return the whole text. Accents are composed, as models know them.
    """
    text = unicodedata.normalize("NFC", text)
    kept = [piece for piece in _JOINTS.split(text) if piece and not _DIGIT.search(piece)]
    return " ".join(kept) or text


def weigh_terms(words: Iterable[str], weights: Iterable[float]) -> dict[str, float]:
    """Return the weight of each word's first letters; the largest of words that share them."""
    terms: dict[str, float] = {}
    for word, weight in zip(words, weights, strict=True):
        prefix = word[:PREFIX]
        terms[prefix] = max(weight, terms.get(prefix, 0.0))
    return terms
