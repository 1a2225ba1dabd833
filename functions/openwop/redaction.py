"""The redaction of a run's secrets (OpenWOP RFC 0004 §D, SR-1).

What comes out holds no secret of the run, wherever secrets overlap, repeat, contain each other, or
come about by what a marker and its neighbours spell together.
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
class Harness:
    """A run's secrets as (label, value), the longest first, and how their markers look."""

    secrets: Sequence[tuple[str, str]]
    edition: Edition

    def redacted(self, text: str) -> str:
        """`text` with a marker in the place of each secret.

        A marker may spell a secret with what stands beside it, so it is done again until nothing
        is found; what still isn't clean then becomes one marker as a whole.
        """
        for _ in range(_ROUNDS):
            spans = list(self._spans(text))
            if not spans:
                return text
            text = self._replaced(text, spans)
        found = self.found_in(text)
        return self.marker(found[0]) if found else text

    def found_in(self, *texts: str) -> list[str]:
        """The labels of the secrets that the texts hold, the longest secret's first."""
        found = (label for label, value in self.secrets if any(value in text for text in texts))
        return list(dict.fromkeys(found))

    def marker(self, label: str) -> str:
        """What stands in the place of a secret."""
        return _MARKERS[self.edition].format(label)

    def _spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where secrets stand. Those that overlap are one, under the longest one's label, so that
        no part of a secret is left over."""
        found = [
            (start, end, rank)
            for rank, (_, value) in enumerate(self.secrets)
            if value in text
            for start, end in _covered(text, value)
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

    def _replaced(self, text: str, spans: Sequence[tuple[int, int, str]]) -> str:
        parts, done = [], 0
        for start, end, label in spans:
            parts += [text[done:start], self.marker(label)]
            done = end
        return "".join((*parts, text[done:]))


def harness_of(secrets: Iterable[Secret], edition: Edition) -> Harness:
    """The harness of a new run's secrets; those under 8 characters aren't redacted.

    Raises:
        ValidationFailed: a marker would itself hold a secret.
    """
    named = {(each.label, each.value.get_secret_value()) for each in secrets}
    long = [pair for pair in named if len(pair[1]) >= LEAST_REDACTED]
    harness = Harness(sorted(long, key=lambda pair: (-len(pair[1]), pair)), edition)
    if harness.found_in(*(harness.marker(label) for label, _ in harness.secrets)):
        raise ValidationFailed(
            "secrets",
            "a secret is part of a marker that would stand for one; change the label, or leave "
            "that secret out",
        )
    return harness


def _covered(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Where `text` is covered by `value`; where it overlaps itself, as one stretch.

    By Knuth, Morris and Pratt: what repeats itself would take a plain search too long.
    """
    begin, end, matched = 0, 0, 0
    borders = _borders(value)
    for index in range(text.find(value), len(text)):
        while matched and (matched == len(value) or text[index] != value[matched]):
            matched = borders[matched - 1]
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


def _borders(value: str) -> list[int]:
    """For each beginning of `value`, how long the longest other one is that it ends with."""
    borders = [0] * len(value)
    for index in range(1, len(value)):
        length = borders[index - 1]
        while length and value[index] != value[length]:
            length = borders[length - 1]
        borders[index] = length + (value[index] == value[length])
    return borders
