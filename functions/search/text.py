"""Extract the text of an entry that is embedded: the words of its key, tags and value."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson

from functions.entries.model import Entry
from functions.platform.limits import MAX_QUERY_CHARACTERS
from functions.platform.sensitivity import ENCRYPTED

_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATORS = re.compile(r"[\W_]+")
_YEAR = re.compile(r"\d{1,4}")
_DIGIT = re.compile(r"\d")


def extract_text(entry: Entry) -> str | None:
    """Extract the words of an entry; None if it has none, or is sensitive (RFC-0015 §9.2).

    Of keys, only words: the digits of a generated one would outweigh the value.
    """
    if entry.sensitivity in ENCRYPTED:
        return None
    words = chain(_split_name(entry.key), entry.tags, _extract_words(orjson.loads(entry.value)))
    return _join_words(words).strip() or None


def _join_words(words: Iterator[str]) -> str:
    """Join words up to the maximum; the rest of a value is never looked at."""
    joined: list[str] = []
    free = MAX_QUERY_CHARACTERS
    for word in words:
        if free <= 0:
            break
        joined.append(word[:free])
        free -= len(word) + 1
    return " ".join(joined)


def _split_name(name: str) -> Iterator[str]:
    for piece in _SEPARATORS.split(name):
        if piece and (_YEAR.fullmatch(piece) or not _DIGIT.search(piece)):
            yield _CAMEL_CASE.sub(" ", piece)


def _extract_words(value: Any) -> Iterator[str]:
    """Extract a JSON value's names and leaves, in document order."""
    match value:
        case dict():
            for name, each in value.items():
                yield from _split_name(name)
                yield from _extract_words(each)
        case list():
            for each in value:
                yield from _extract_words(each)
        case None:
            return
        case bool():
            yield "yes" if value else "no"
        case _:
            yield str(value)
