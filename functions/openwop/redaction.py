"""The redaction of secrets (OpenWOP RFC 0004 §D, SR-1).

Redacted text contains no secret in any of its forms (`secret_forms`), even where secrets overlap,
repeat, contain each other, or result from a marker and the characters beside it.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from functions.openwop.model import Edition
from functions.openwop.pattern_search import PatternSearch, Range, merge_ranges
from functions.openwop.requests import Secret
from functions.openwop.secret_forms import derive_patterns, map_readings, read_text, remove_ignored
from functions.platform import limits
from functions.platform.errors import ValidationFailed

LabelledSecret = tuple[str, str]
"""The label and the value of a secret."""

_MARKERS: dict[Edition, str] = {"rfc-0004": "<REDACTED:{}>", "1.x": "[REDACTED:{}]"}
_ANY_LABEL = "secret"  # where a secret's own label would show another secret


class Redactor:
    """Redacts secrets, and finds which ones a text holds."""

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

        A text becomes a single marker where a marker and the characters beside it form a secret
        again, or where the texts hold too many secrets, which overlap then.
        """
        found = self._find(texts)
        if not found:
            return list(texts)
        if sum(map(len, found)) > limits.MAX_SEARCHED_SECRET_CHARACTERS:
            return [self._replace_whole(text) for text in texts]
        search = PatternSearch(found)
        markers = [self.render_marker(self._labels[pattern]) for pattern in found]
        clean = [_replace_ranges(text, _find_ranges(text, search), markers) for text in texts]
        return clean if not self._find(clean) else [self._replace_whole(text) for text in clean]

    def render_marker(self, label: str) -> str:
        """Render what replaces a secret; a label that holds another secret is left out."""
        marker = _MARKERS[self._edition].format(label)
        return _MARKERS[self._edition].format(_ANY_LABEL) if self._find([marker]) else marker

    def assert_markers_clean(self) -> None:
        """Check that no marker of these secrets, of either edition, holds one of them."""
        labels = {_ANY_LABEL, *(label for label, _ in self._secrets)}
        if self._find(marker.format(label) for marker in _MARKERS.values() for label in labels):
            raise ValidationFailed(
                "secrets",
                "a secret is part of a marker that would replace one; change the label, or "
                "leave that secret out",
            )

    def _find(self, texts: Iterable[str]) -> list[str]:
        """Find the patterns that the texts contain, the longest first."""
        # no pattern has white space, so none reaches from one reading into the next
        readings = "\n".join(reading for text in texts for reading in read_text(text))
        return [pattern for pattern in self._labels if pattern in readings]

    def _replace_whole(self, text: str) -> str:
        labels = self.find_labels([text])
        return self.render_marker(labels[0]) if labels else text


def collect_secrets(
    secrets: Iterable[Secret], known: Iterable[LabelledSecret], edition: Edition
) -> list[LabelledSecret]:
    """Collect a run's secrets: those that it knows and those of a request, each once."""
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
        raise ValidationFailed("secrets", f"a run has {limits.MAX_SECRETS} at most")
    if sum(len(value.encode()) for _, value in collected) > limits.MAX_SECRETS_BYTES:
        raise ValidationFailed("secrets", f"hold {limits.MAX_SECRETS_BYTES:,} bytes at most")
    Redactor(collected, edition).assert_markers_clean()
    return collected


def _find_ranges(text: str, search: PatternSearch) -> list[Range]:
    """Find where secrets are in a text as it came, in any form.

    Secrets that overlap are one range, under the longest one's label, so that no part of one is
    left.
    """
    return merge_ranges(
        (reading.starts[start], reading.ends[end - 1], rank)
        for reading in map_readings(text)
        for start, end, rank in merge_ranges(search.find(reading.text))
    )


def _replace_ranges(text: str, ranges: Iterable[Range], markers: Sequence[str]) -> str:
    parts, done = [], 0
    for start, end, rank in ranges:
        parts += [text[done:start], markers[rank]]
        done = end
    return "".join((*parts, text[done:]))
