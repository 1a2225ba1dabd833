"""References: short texts that name an item of any source, and are safe in a path.

Example: `m.session-1.3` is the message 3 of the conversation `session-1`. A character other than
letters, digits, `-` and `_` is written as `~` and the two hexadecimal digits of each of its bytes.
"""

import re
from typing import NamedTuple

from functions.platform.errors import NotFound
from functions.recall.requests import SourceName

_LETTERS: dict[SourceName, str] = {"entries": "e", "facts": "f", "messages": "m", "episodes": "p"}
_NAMES = {letter: source for source, letter in _LETTERS.items()}
_PARTS = {"entries": 1, "facts": 1, "messages": 2, "episodes": 2}
_UNSAFE = re.compile(rb"[^A-Za-z0-9_-]")
_ESCAPED = re.compile(rb"~([0-9a-f]{2})")


class Reference(NamedTuple):
    """A parsed reference: its source, and what names the item there."""

    source: SourceName
    parts: tuple[str, ...]


def build_reference(source: SourceName, *parts: str | int) -> str:
    """Build the reference of an item from what names it in its source."""
    return ".".join((_LETTERS[source], *(_escape(str(each)) for each in parts)))


def parse_reference(text: str) -> Reference:
    """Parse a reference."""
    letter, *parts = text.split(".")
    source = _NAMES.get(letter)
    if source is None or len(parts) != _PARTS[source] or not all(parts):
        raise NotFound("this is no reference; take one from the answer of a recall")
    return Reference(source, tuple(map(_unescape, parts)))


def _escape(part: str) -> str:
    return _UNSAFE.sub(lambda found: b"~%02x" % found[0][0], part.encode()).decode()


def _unescape(part: str) -> str:
    replaced = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), part.encode())
    return replaced.decode(errors="replace")
