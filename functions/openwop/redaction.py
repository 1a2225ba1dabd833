"""The redaction of secrets (OpenWOP RFC 0004 §D, SR-1).

Redacted text contains no secret in any form, even if secrets overlap, repeat, contain each other,
or arise from a marker and the characters beside it. The forms are: literal, JSON-escaped, and with
other line breaks. A text is read several times: as it is, and with its JSON escapes decoded once or
more. Each reading omits white space and invisible characters. Secrets are compared in the same
form, so line breaks, indentation, and escapes hide no secret.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from functions.openwop.model import Edition
from functions.openwop.requests import Secret
from functions.platform import limits
from functions.platform.errors import ValidationFailed

MIN_LINE_CHARACTERS = 32  # of a line of a secret that counts as a secret
_READINGS = 4  # as it is, and with escapes decoded up to three times
_IGNORED = re.compile(r"[\s\u00ad\u200b-\u200d\u2060\ufeff]+")
_HIGH, _LOW = "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rf"\\(?:u(?P<high>{_HIGH})\\u(?P<low>{_LOW})|u(?P<code>[0-9a-fA-F]{{4}})"
    r"""|(?P<character>["'\\/bfnrt])|\r?\n)"""
)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MAX_PLACES = 2**14  # of secrets in a text: twice as many as fit without overlaps
_BOUNDARY = "-----"  # of PEM; the line is no secret


class TextReading(NamedTuple):
    """A text for comparison, with the place of each character in the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def remove_ignored(text: str) -> str:
    """Remove white space and invisible characters."""
    return _IGNORED.sub("", text)


def read_text(text: str) -> Iterator[TextReading]:
    """Read a text in each form in which it may hold a secret."""
    present = TextReading(text, range(len(text)), range(1, len(text) + 1))
    for _ in range(_READINGS):
        yield _replace(present, _IGNORED, lambda _: "")
        decoded = _replace(present, _ESCAPE, _decode)
        if decoded.text == present.text:
            return
        present = decoded


def derive_patterns(secret: str) -> set[str]:
    """Derive the patterns that a reading must not contain: a secret, and parts of it.

    A secret with escapes is also searched without them. If a secret has several lines, such as a
    PEM file, the lines between the boundaries are a secret, and so is each long line.
    """
    patterns = set()
    for form in (secret, _ESCAPE.sub(_decode, secret)):
        lines = [line for line in form.splitlines() if not line.strip().startswith(_BOUNDARY)]
        parts = [*lines, "".join(lines)] if "\n" in form else []
        long = (part for part in map(remove_ignored, parts) if len(part) >= MIN_LINE_CHARACTERS)
        patterns |= {remove_ignored(form), *long}
    return patterns


def _decode(match: re.Match[str]) -> str:
    """Decode an escape into one character; an escaped line break is removed."""
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
    """Replace matches of a pattern by one character or none, and keep the places."""
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


Range = tuple[int, int, int]
"""Start, end, and the rank of a pattern; the lowest rank is the longest pattern's."""


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Join ranges that overlap, under the lowest rank; ranges that only touch stay apart."""
    merged: list[Range] = []
    for start, end, rank in sorted(ranges):
        if merged and start < merged[-1][1]:
            begin, last, best = merged[-1]
            merged[-1] = begin, max(last, end), min(best, rank)
        else:
            merged.append((start, end, rank))
    return merged


LabelledSecret = tuple[str, str]
"""The label and the value of a secret."""

_MARKERS: dict[Edition, str] = {"rfc-0004": "<REDACTED:{}>", "1.x": "[REDACTED:{}]"}
_ANY_LABEL = "secret"  # replaces a label that contains another secret


class Redactor:
    """Redacts secrets, and finds those that a text holds."""

    def __init__(self, secrets: Iterable[LabelledSecret], edition: Edition) -> None:
        self._secrets = sorted(set(secrets), key=lambda pair: (-len(pair[1]), pair))
        self._edition = edition

    @cached_property
    def _labels(self) -> dict[str, str]:
        """The label of each pattern, the longest pattern first."""
        labels: dict[str, str] = {}
        for label, value in self._secrets:
            for pattern in derive_patterns(value):
                labels.setdefault(pattern, label)
        return dict(sorted(labels.items(), key=lambda item: (-len(item[0]), item)))

    def find_labels(self, texts: Iterable[str]) -> list[str]:
        """Find the labels of the secrets that the texts hold, the longest secret's first."""
        return list(dict.fromkeys(self._labels[pattern] for pattern in self._find(texts)))

    def redact(self, texts: Sequence[str]) -> list[str]:
        """Replace each secret in the texts by its marker.

        A text becomes a single marker if a marker and the characters beside it form a secret again,
        or if it holds too many (overlapping) secrets.
        """
        found = self._find(texts)
        if not found:
            return list(texts)
        markers = [self.render_marker(self._labels[pattern]) for pattern in found]
        clean = [
            self._replace_whole(text) if ranges is None else _replace_ranges(text, ranges, markers)
            for text in texts
            for ranges in [_find_ranges(text, found)]
        ]
        return clean if not self._find(clean) else [self._replace_whole(text) for text in clean]

    def render_marker(self, label: str) -> str:
        """Render the marker of a secret; a label that holds another secret is omitted."""
        marker = _MARKERS[self._edition].format(label)
        return _MARKERS[self._edition].format(_ANY_LABEL) if self._find([marker]) else marker

    def assert_markers_clean(self) -> None:
        """Check that no marker of these secrets, of either edition, holds one of them."""
        labels = {_ANY_LABEL, *(label for label, _ in self._secrets)}
        if self._find(marker.format(label) for marker in _MARKERS.values() for label in labels):
            raise ValidationFailed(
                "secrets",
                "the marker of a secret would contain a secret; change the label, or omit that "
                "secret",
            )

    def _find(self, texts: Iterable[str]) -> list[str]:
        """Find the patterns that the texts contain, the longest first."""
        # no pattern has white space, so no match extends into the next reading
        readings = "\n".join(reading.text for text in texts for reading in read_text(text))
        return [pattern for pattern in self._labels if pattern in readings]

    def _replace_whole(self, text: str) -> str:
        labels = self.find_labels([text])
        return self.render_marker(labels[0]) if labels else text


def collect_secrets(
    secrets: Iterable[Secret], known: Iterable[LabelledSecret], edition: Edition
) -> list[LabelledSecret]:
    """Collect a run's secrets: its present ones and those of a request, each once."""
    given = [(each.label, each.value.get_secret_value()) for each in secrets]
    for index, (_, value) in enumerate(given):
        if len(remove_ignored(value)) < limits.MIN_SECRET_CHARACTERS:
            raise ValidationFailed(
                f"secrets.{index}.value",
                "is too short to be redacted safely: it needs "
                f"{limits.MIN_SECRET_CHARACTERS} characters that are not white space",
            )
    collected = list(dict.fromkeys((*known, *given)))
    if len(collected) > limits.MAX_SECRETS:
        raise ValidationFailed("secrets", f"must be {limits.MAX_SECRETS} or fewer")
    if sum(len(value.encode()) for _, value in collected) > limits.MAX_SECRETS_BYTES:
        raise ValidationFailed(
            "secrets", f"must have {limits.MAX_SECRETS_BYTES:,} bytes or fewer together"
        )
    Redactor(collected, edition).assert_markers_clean()
    return collected


def _find_ranges(text: str, patterns: Sequence[str]) -> list[Range] | None:
    """Find the places of secrets in an original text, in any form; None if they are too many.

    Overlapping secrets are one range, with the label of the longest one, so that no part of a
    secret is left.
    """
    found = list(islice(_find_places(text, patterns), _MAX_PLACES + 1))
    return merge_ranges(found) if len(found) <= _MAX_PLACES else None


def _find_places(text: str, patterns: Sequence[str]) -> Iterator[Range]:
    for reading in read_text(text):
        for rank, pattern in enumerate(patterns):
            start = reading.text.find(pattern)
            while start >= 0:
                yield reading.starts[start], reading.ends[start + len(pattern) - 1], rank
                start = reading.text.find(pattern, start + 1)


def _replace_ranges(text: str, ranges: Iterable[Range], markers: Sequence[str]) -> str:
    parts, done = [], 0
    for start, end, rank in ranges:
        parts += [text[done:start], markers[rank]]
        done = end
    return "".join((*parts, text[done:]))
