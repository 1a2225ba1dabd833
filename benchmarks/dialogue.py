"""LoCoMo, a public set of dialogues, with questions about them.

The set is not part of the project, since its licence is CC BY-NC 4.0; only the published file is
taken.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import orjson

_DIGEST = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
_EVIDENCE = re.compile(r"D\d+:\d+")

Find = Callable[[int, str], Sequence[int]]
"""Takes a dialogue's number and a question; returns indexes of turns, -1 for other dialogues."""


class Turn(NamedTuple):
    """A sentence of a conversation: its speaker, text and time."""

    speaker: str
    text: str
    time: datetime

    @property
    def day(self) -> str:
        """The day as people write it."""
        return f"{self.time:%-d %B %Y}"

    @property
    def line(self) -> str:
        """The turn in one text."""
        return f"{self.speaker} {self.text} {self.day}"


class Sample(NamedTuple):
    """A conversation, and its questions with the indexes of the turns that answer each."""

    turns: list[Turn]
    questions: list[tuple[str, set[int]]]


class Figures(NamedTuple):
    """Recall at 5 and at 10, and the mean reciprocal rank, from 0 to 1."""

    five: float
    ten: float
    reciprocal: float


def read_samples(path: Path) -> list[Sample]:
    """Read the published file.

    Raises:
        ValueError: the file has another digest.
    """
    data = path.read_bytes()
    if sha256(data).hexdigest() != _DIGEST:
        raise ValueError(f"{path} is not the published locomo10.json")
    return [_read_sample(each) for each in orjson.loads(data)]


def _read_sample(document: dict[str, Any]) -> Sample:
    said = document["conversation"]
    numbers = (n for n in range(1, len(said)) if said.get(f"session_{n}"))
    places: dict[str, int] = {}
    turns: list[Turn] = []
    for number in numbers:
        written = f"{said[f'session_{number}_date_time']} +0000"
        time = datetime.strptime(written, "%I:%M %p on %d %B, %Y %z")
        for turn in said[f"session_{number}"]:
            places[turn["dia_id"]] = len(turns)
            turns.append(Turn(turn["speaker"], turn["text"], time))
    questions = []
    for each in document["qa"]:
        names = chain.from_iterable(map(_EVIDENCE.findall, each["evidence"]))
        evidence = {places[name] for name in names if name in places}
        if evidence:
            questions.append((each["question"], evidence))
    return Sample(turns, questions)


def ask(samples: Sequence[Sample], find: Find, each: int = 1) -> list[list[Figures]]:
    """Ask one of `each` questions of every dialogue; return the figures of each question."""
    return [
        [_compare(right, find(number, query)) for query, right in sample.questions[::each]]
        for number, sample in enumerate(samples)
    ]


def average(dialogues: Iterable[Iterable[Figures]]) -> Figures:
    """Average the figures of all questions of these dialogues."""
    figures = list(chain.from_iterable(dialogues))
    return Figures(*(sum(column) / len(figures) for column in zip(*figures, strict=True)))


def _compare(evidence: set[int], found: Sequence[int]) -> Figures:
    right = [place in evidence for place in found[:10]]
    reciprocal = 1 / (right.index(True) + 1) if any(right) else 0.0
    return Figures(sum(right[:5]) / len(evidence), sum(right) / len(evidence), reciprocal)
