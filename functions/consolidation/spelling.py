"""Compare the spelling of texts: equal but for spelling, or one slip apart; pure.

Texts are equal but for spelling if their normal forms are the same: without case, accents of names,
marks between words and a leading article, with one spelling of numbers and English words.
Normal forms are near-identical if one long word differs by a typical slip of typing: two
neighboring letters are swapped, or one letter is doubled. Both compare letters, never meanings: a
wrong merge is worse than a missed one.
"""

import re
import unicodedata
from itertools import pairwise

_MIN_LETTERS = 8  # of a word with a slip; short words become other words too easily
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS)} | {
    "grey": "gray",
    "programme": "program",
    "cheque": "check",
    "aluminium": "aluminum",
    "tyre": "tire",
    "sceptical": "skeptical",
    "jewellery": "jewelry",
    "pyjamas": "pajamas",
    "okay": "ok",
    "café": "cafe",
    "naïve": "naive",
    "%": "percent",
}
_MARKS = (
    (re.compile("[\u2018\u2019\u02bc`\u00b4]"), "'"),
    (re.compile("[\u2010-\u2014\u2212]"), "-"),
    (
        re.compile(r"(?<![\d,])(\d{1,3})((?:,\d{3})+)(?![\d,])"),
        lambda m: m[1] + m[2].replace(",", ""),
    ),
    (re.compile(r"((?:[^\W\d_]\.){2,})"), lambda m: m[1].replace(".", "")),  # u.s.
    (re.compile(r"(?<=\w)\.(?=\W*$)"), ""),
    (re.compile(r"(?<=[^\W\d_])'(?!(?:ll|re|d|ve|m)\b)"), ""),
    (re.compile(r"(?<=[^\W_])-(?=[^\W\d_])|(?<=[^\W\d_])-(?=\d)"), " "),  # not of 2020-2021, nor -5
    (re.compile(r"(?<!\d):|:(?!\d)|[!\"“”„«»()\[\]{}_]"), " "),
    (re.compile(r";|,(?!\d)"), " , "),  # "Monday, Friday" is not "Monday-Friday"
    (re.compile(r"&"), " and "),
    (re.compile(r"(?<=\d)%"), " percent"),
    (re.compile(r"(?<=\d)(?=[^\W\d_])"), " "),  # 5km
    (re.compile(r"(?<=[^\W\d_]{2})(?=\d)"), " "),  # covid19
)
_ENDINGS = (
    (re.compile(r"is(e[ds]?|ing|ations?|ers?)$"), r"iz\1", 7),
    (re.compile(r"ys(e[ds]?|ing|ers?)$"), r"yz\1", 7),
    (re.compile(r"our(s|ed|ing|ite|ites|able|ful|hood|hoods)?$"), r"or\1", 6),
    (re.compile(r"tre(s?)$"), r"ter\1", 5),
    (re.compile(r"ogue(s?)$"), r"og\1", 7),
    (re.compile(r"(def|off|lic)ence"), r"\1ense", 7),
    (re.compile(r"ell(ed|ing|ers?|ors?)$"), r"el\1", 8),
)
_DOUBLED = re.compile(r"(?:ed|ing|ers?|y|ier|iest|es)$")
_OTHER_WORDS = frozenset({frozenset({"complaint", "compliant"})})
_ARTICLES = frozenset({"the", "an", "a"})


def normalize(text: str) -> str:
    """Return the normal form of a text.

    Example: "The colour-scheme: dark" and "color scheme dark" have the same normal form.
    """
    words = [part for word in text.split() for part in _split(unicodedata.normalize("NFC", word))]
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    joined = " ".join(words).removesuffix(" ,").replace("e mail", "email")
    return joined.replace(" , and ", " and ").replace(" , or ", " or ") or text.strip()


def _split(word: str) -> list[str]:
    """Split a word at its marks, and spell its parts; a code stays as it is."""
    if _is_code(word):
        return [word]
    if word[0].isupper():  # the accents of names are often left out
        parts = unicodedata.normalize("NFD", word)
        word = "".join(each for each in parts if not "\u0300" <= each <= "\u036f")
    word = word.casefold()
    if "@" not in word and "/" not in word:
        for pattern, instead in _MARKS:
            word = pattern.sub(instead, word)
    return [_spell(part) for part in word.split()]


def is_near(one: str, other: str) -> bool:
    """Tell whether two different normal forms are one slip of typing apart."""
    words, others = one.split(), other.split()
    if len(words) != len(others):
        return False
    differing = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and _is_slip(*differing[0])


def get_letters(normal: str) -> str:
    """Return the letters of the words, which near-identical normal forms have in common."""
    return " ".join("".join(sorted(set(word))) for word in normal.split())


def _is_code(word: str) -> bool:
    """Tell whether case and marks are part of a word: of an address, a path, or `dQw4w9WgXcQ`."""
    if "://" in word or "\\" in word or word.startswith("/"):
        return True
    has_digit = any(map(str.isdigit, word))
    return has_digit and len(word) >= _MIN_LETTERS and word not in (word.upper(), word.lower())


def _spell(word: str) -> str:
    for pattern, instead, letters in _ENDINGS:
        if len(word) >= letters:
            word = pattern.sub(instead, word)
    return _WORDS.get(word, word)


def _is_slip(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < _MIN_LETTERS or not one.isalpha() or frozenset({one, other}) in _OTHER_WORDS:
        return False
    if len(short) == len(long):
        return _is_swapped(short, long)
    return len(long) - len(short) == 1 and _is_doubled(short, long)


def _is_swapped(one: str, other: str) -> bool:
    places = [
        number for number, pair in enumerate(zip(one, other, strict=True)) if len({*pair}) > 1
    ]
    inner = range(1, len(one) - 2)  # "Christian" and "Christina" are two names
    if len(places) != 2 or places[1] - places[0] != 1 or places[0] not in inner:
        return False
    first, second = places
    return one[first] == other[second] and one[second] == other[first]


def _is_doubled(short: str, long: str) -> bool:
    """Tell whether a letter is doubled in one of the words, other than before an ending."""
    return any(
        pair[0] == pair[1]
        and long[:place] + long[place + 1 :] == short
        and not _DOUBLED.fullmatch(long, place + 2)
        for place, pair in enumerate(pairwise(long))
    )
