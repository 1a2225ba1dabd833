"""Extract the text of an entry that is embedded: the words of its key, tags and value."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from functions.entries.model import LEARNED_FROM, Entry
from functions.platform.json_text import loads
from functions.platform.limits import MAX_QUERY_CHARACTERS
from functions.platform.sensitivity import ENCRYPTED

_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")


def extract_text(entry: Entry) -> str | None:
    """Extract the words of an entry; None if it has none, or is sensitive (RFC-0015 §9.2)."""
    if entry.sensitivity in ENCRYPTED or entry.unreadable:
        return None
    words = chain(
        [_CAMEL_CASE.sub(" ", entry.key)], entry.tags, _extract_words(_get_content(entry))
    )
    return _join_words(words).strip() or None


def _get_content(entry: Entry) -> Any:
    """Get a value without the names of the messages that it was learned from."""
    value = loads(entry.value)
    if not isinstance(value, dict):
        return value
    return {name: each for name, each in value.items() if name != LEARNED_FROM}


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


def _extract_words(value: Any) -> Iterator[str]:
    """Extract a JSON value's names and leaves, in document order."""
    match value:
        case dict():
            for name, each in value.items():
                yield _CAMEL_CASE.sub(" ", name)
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
