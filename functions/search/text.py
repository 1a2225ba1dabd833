"""What of an entry is searched by meaning: the words of its key, tags and value; pure."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson

from functions.entries.model import ENCRYPTED, Entry
from functions.platform.limits import MAX_QUERY_CHARACTERS

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[\W_]+")
_YEAR = re.compile(r"\d{1,4}")
_DIGIT = re.compile(r"\d")


def text_of(entry: Entry) -> str | None:
    """The words of an entry; None where it isn't searched: sensitive (RFC-0015 §9.2), or wordless.

    Of keys, only words: the digits of a generated one would drown the value's meaning.
    """
    if entry.sensitivity in ENCRYPTED:
        return None
    words = chain(_words_of_name(entry.key), entry.tags, _words(orjson.loads(entry.value)))
    return _joined(words).strip() or None


def _joined(words: Iterator[str]) -> str:
    """As many words as are searched; no more of a value is looked at."""
    taken: list[str] = []
    room = MAX_QUERY_CHARACTERS
    for word in words:
        if room <= 0:
            break
        taken.append(word[:room])
        room -= len(word) + 1
    return " ".join(taken)


def _words_of_name(name: str) -> Iterator[str]:
    for piece in _BETWEEN.split(name):
        if piece and (_YEAR.fullmatch(piece) or not _DIGIT.search(piece)):
            yield _CAMEL.sub(" ", piece)


def _words(value: Any) -> Iterator[str]:
    """Names and leaves, in the order in which they stand."""
    match value:
        case dict():
            for name, each in value.items():
                yield from _words_of_name(name)
                yield from _words(each)
        case list():
            for each in value:
                yield from _words(each)
        case None:
            return
        case bool():
            yield "yes" if value else "no"
        case _:
            yield str(value)
