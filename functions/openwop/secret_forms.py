r"""The forms in which a text may hold a secret: literal, JSON-escaped, wrapped in another way.

A text is read several times: as it is, and with its JSON escapes decoded once or more. Each reading
leaves out white space and invisible characters. Secrets are compared in the same form, so line
breaks, indentation, `\n` and `\u00e4` hide nothing.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

MIN_LINE_CHARACTERS = 32  # of a line of a secret that is a secret by itself
_READINGS = 4  # as it is, and with escapes decoded up to three times
_IGNORED = re.compile(r"[\s\u00ad\u200b-\u200d\u2060\ufeff]+")
_HIGH, _LOW = "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rf"\\(?:u(?P<high>{_HIGH})\\u(?P<low>{_LOW})|u(?P<code>[0-9a-fA-F]{{4}})"
    r"""|(?P<character>["'\\/bfnrt])|\r?\n)"""
)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BOUNDARY = "-----"  # of PEM; the line is no secret


class TextReading(NamedTuple):
    """A text as it is compared, and where each of its characters is in the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def remove_ignored(text: str) -> str:
    """Remove white space and invisible characters."""
    return _IGNORED.sub("", text)


def read_text(text: str) -> Iterator[str]:
    """Read a text in each form in which it may hold a secret."""
    for _ in range(_READINGS):
        yield remove_ignored(text)
        decoded = _ESCAPE.sub(_decode, text)
        if decoded == text:
            return
        text = decoded


def map_readings(text: str) -> Iterator[TextReading]:
    """Read a text as `read_text` does, with the place of each character."""
    present = TextReading(text, range(len(text)), range(1, len(text) + 1))
    for _ in range(_READINGS):
        yield _replace(present, _IGNORED, lambda _: "")
        decoded = _replace(present, _ESCAPE, _decode)
        if decoded.text == present.text:
            return
        present = decoded


def derive_patterns(secret: str) -> set[str]:
    """Derive what a reading must not contain: a secret, and parts that are secrets themselves.

    A secret that came with escapes is also meant without them. Of several lines, such as a PEM
    file's, those between the boundaries are a secret, and so is each long one.
    """
    patterns = set()
    for form in (secret, _ESCAPE.sub(_decode, secret)):
        lines = [line for line in form.splitlines() if not line.strip().startswith(_BOUNDARY)]
        parts = [*lines, "".join(lines)] if "\n" in form else []
        long = (part for part in map(remove_ignored, parts) if len(part) >= MIN_LINE_CHARACTERS)
        patterns |= {remove_ignored(form), *long}
    return patterns


def _decode(match: re.Match[str]) -> str:
    """Decode an escape into one character; an escaped line break is nothing."""
    if match["high"]:
        high, low = int(match["high"], 16) - 0xD800, int(match["low"], 16) - 0xDC00
        return chr((high << 10 | low) + (1 << 16))
    if match["code"]:
        return chr(int(match["code"], 16))
    character = match["character"] or ""
    return _ESCAPED.get(character, character)


def _replace(
    source: TextReading, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]
) -> TextReading:
    """Replace what a pattern matches by one character or none, and keep the places."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in pattern.finditer(source.text):
        begin, end = match.span()
        parts.append(source.text[done:begin])
        starts += source.starts[done:begin]
        ends += source.ends[done:begin]
        character = replacement(match)
        if character:
            parts.append(character)
            starts.append(source.starts[begin])
            ends.append(source.ends[end - 1])
        done = end
    parts.append(source.text[done:])
    return TextReading(
        "".join(parts), [*starts, *source.starts[done:]], [*ends, *source.ends[done:]]
    )
