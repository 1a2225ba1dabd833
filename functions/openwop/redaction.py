"""The redaction of a run's secrets (OpenWOP RFC 0004 §D, SR-1).

Redacted text contains no secret of the run, even where secrets overlap, repeat, contain each other,
or result from a marker and the characters beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from functions.openwop.model import LEAST_REDACTED
from functions.platform.errors import ValidationFailed

if TYPE_CHECKING:
    from functions.openwop.requests import Secret

Edition = Literal["rfc-0004", "1.x"]
_MARKERS: dict[Edition, str] = {"rfc-0004": "<REDACTED:{}>", "1.x": "[REDACTED:{}]"}
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Redactor:
    """A run's secrets as (label, value), the longest first, and how their markers look."""

    secrets: Sequence[tuple[str, str]]
    edition: Edition

    def redact(self, text: str) -> str:
        """Replace each secret in a text by its marker.

        A marker and the characters beside it may form a secret, so this is repeated until nothing
        is found. A text that still contains one after 8 rounds becomes a single marker.
        """
        for _ in range(_ROUNDS):
            ranges = list(self._merge_ranges(text))
            if not ranges:
                return text
            text = self._replace(text, ranges)
        labels = self.find_labels(text)
        return self.render_marker(labels[0]) if labels else text

    def find_labels(self, *texts: str) -> list[str]:
        """Find the labels of the secrets that the texts contain, the longest secret's first."""
        labels = (label for label, value in self.secrets if any(value in text for text in texts))
        return list(dict.fromkeys(labels))

    def render_marker(self, label: str) -> str:
        """Render what replaces a secret."""
        return _MARKERS[self.edition].format(label)

    def _merge_ranges(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Find where secrets are, as (start, end, label).

        Secrets that overlap are one range, under the longest one's label, so that no part of a
        secret is left.
        """
        found = [
            (start, end, rank)
            for rank, (_, value) in enumerate(self.secrets)
            if value in text
            for start, end in _find_ranges(text, value)
        ]
        begin, end, best = 0, 0, len(self.secrets)
        for start, stop, rank in sorted(found):
            if start >= end:
                if end:
                    yield begin, end, self.secrets[best][0]
                begin, end, best = start, stop, rank
            else:
                end, best = max(end, stop), min(best, rank)
        if end:
            yield begin, end, self.secrets[best][0]

    def _replace(self, text: str, ranges: Sequence[tuple[int, int, str]]) -> str:
        parts, done = [], 0
        for start, end, label in ranges:
            parts += [text[done:start], self.render_marker(label)]
            done = end
        return "".join((*parts, text[done:]))


def build_redactor(secrets: Iterable[Secret], edition: Edition) -> Redactor:
    """Build the redactor of a new run's secrets; those under 8 characters are left out.

    Raises:
        ValidationFailed: a marker would itself contain a secret.
    """
    unique = {(each.label, each.value.get_secret_value()) for each in secrets}
    long = [pair for pair in unique if len(pair[1]) >= LEAST_REDACTED]
    redactor = Redactor(sorted(long, key=lambda pair: (-len(pair[1]), pair)), edition)
    if redactor.find_labels(*(redactor.render_marker(label) for label, _ in redactor.secrets)):
        raise ValidationFailed(
            "secrets",
            "a secret is part of a marker that would stand for one; change the label, or leave "
            "that secret out",
        )
    return redactor


def _find_ranges(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Find where `text` contains `value`; occurrences that overlap are one range.

    By Knuth, Morris and Pratt: a plain search takes too long where a value repeats itself.
    """
    begin, end, matched = 0, 0, 0
    failures = _build_failure_table(value)
    for index in range(text.find(value), len(text)):
        while matched and (matched == len(value) or text[index] != value[matched]):
            matched = failures[matched - 1]
        matched += text[index] == value[matched]
        if matched == len(value):
            start = index + 1 - matched
            if start >= end:
                if end:
                    yield begin, end
                begin = start
            end = index + 1
    if end:
        yield begin, end


def _build_failure_table(value: str) -> list[int]:
    """Compute, for each prefix of `value`, the length of the longest other prefix at its end."""
    failures = [0] * len(value)
    for index in range(1, len(value)):
        length = failures[index - 1]
        while length and value[index] != value[length]:
            length = failures[length - 1]
        failures[index] = length + (value[index] == value[length])
    return failures
