"""Measure recall on LoCoMo, a public set of dialogues, beside BM25 and the model alone.

The set is not part of the project, since its licence is CC BY-NC 4.0; only the published file is
taken. The API function in this process stores and searches its conversations.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import chain
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from benchmarks.inprocess import Caller, function
from benchmarks.recall import Corpus
from benchmarks.tables import text_table
from functions.vectors.model import Vector
from functions.vectors.wordllama import embed
from functions.vectors.words import read_words, without_ids

_DIGEST = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
_EVIDENCE = re.compile(r"D\d+:\d+")
_GROUP, _RESULTS = 50, 10
_FIELDS = ("session_id", "index")

Rank = Callable[[str], list[int]]


class Turn(NamedTuple):
    """A sentence of a conversation: its speaker, text and time."""

    speaker: str
    text: str
    time: datetime


class Sample(NamedTuple):
    """A conversation, and its questions with the indexes of the turns that answer each."""

    turns: list[Turn]
    questions: list[tuple[str, set[int]]]


class Row(NamedTuple):
    """Figures of a way of searching: recall at 5 and at 10, and the mean reciprocal rank."""

    name: str
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


def measure(path: Path) -> list[Row]:
    """Measure each way of searching on all questions."""
    samples = read_samples(path)
    with function() as running:
        admin = running.new_tenant("dialogue")
        agent = running.new_agent(admin, "reader")
        ranks = [_store(agent, f"s{n}", sample) for n, sample in enumerate(samples)]
        rows = [_evaluate("conversations/search", samples, ranks)]
    rows.append(_evaluate("one entry a turn", samples, list(map(_index_entries, samples))))
    rows.append(_evaluate("BM25", samples, list(map(_index_words, samples))))
    rows.append(_evaluate("the model alone", samples, list(map(_index_meanings, samples))))
    return rows


def _store(agent: Caller, session: str, sample: Sample) -> Rank:
    """Store a conversation, and return what searches it."""
    messages = [
        {
            "role": "user",
            "content": turn.text,
            "timestamp": turn.time.isoformat(),
            "metadata": {"speaker": turn.speaker},
        }
        for turn in sample.turns
    ]
    path = f"/api/v1/conversations/{session}"
    agent.send("PUT", path, {"user_id": agent.id})
    for first in range(0, len(messages), _GROUP):
        agent.send("POST", f"{path}/messages", {"messages": messages[first : first + _GROUP]})

    def rank(query: str) -> list[int]:
        question = {"query": query, "session_id": session, "top_k": _RESULTS}
        found = agent.send("POST", "/api/v1/conversations/search", question)
        return [each["index"] for each in found["items"]]

    return rank


def _write(turn: Turn) -> str:
    return f"{turn.speaker} {turn.text} {turn.time:%-d %B %Y}"


def _index_entries(sample: Sample) -> Rank:
    corpus = Corpus((str(n), _write(turn), "") for n, turn in enumerate(sample.turns))
    return lambda query: [int(id) for id, _ in corpus.rank(query)]


def _index_words(sample: Sample) -> Rank:
    """Rank by BM25 (k1 1.2, b 0.75) of the service's own words."""
    texts = [Counter(_list_terms(_write(turn))) for turn in sample.turns]
    counts = Counter(term for each in texts for term in each)
    mean = sum(map(Counter.total, texts)) / len(texts)

    def score(terms: Sequence[str], text: Counter[str]) -> float:
        norm = 1.2 * (0.25 + 0.75 * text.total() / mean)
        return sum(
            log(1 + (len(texts) - counts[term] + 0.5) / (counts[term] + 0.5))
            * (2.2 * text[term] / (text[term] + norm))
            for term in terms
        )

    def rank(query: str) -> list[int]:
        terms = _list_terms(query)
        return _sort([score(terms, text) for text in texts])

    return rank


def _list_terms(text: str) -> list[str]:
    words = read_words(text)
    return [*words.prefixes, *words.ids]


def _index_meanings(sample: Sample) -> Rank:
    vectors = [embed(without_ids(_write(turn))) for turn in sample.turns]

    def rank(query: str) -> list[int]:
        wanted = embed(without_ids(query))
        return _sort([_multiply(wanted, each) for each in vectors])

    return rank


def _multiply(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _sort(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: -scores[place])[:_RESULTS]


def _evaluate(name: str, samples: Sequence[Sample], ranks: Sequence[Rank]) -> Row:
    figures = [
        _compare(evidence, rank(query))
        for sample, rank in zip(samples, ranks, strict=True)
        for query, evidence in sample.questions
    ]
    return Row(name, *(sum(column) / len(figures) for column in zip(*figures, strict=True)))


def _compare(evidence: set[int], found: Sequence[int]) -> tuple[float, float, float]:
    right = [place in evidence for place in found[:_RESULTS]]
    reciprocal = 1 / (right.index(True) + 1) if any(right) else 0.0
    return sum(right[:5]) / len(evidence), sum(right) / len(evidence), reciprocal


def as_text(rows: Sequence[Row]) -> str:
    """Render a row for each way of searching, in per cent."""
    cells = [[row.name, *(f"{each * 100:.1f}" for each in row[1:])] for row in rows]
    return text_table(["LoCoMo", "recall@5", "recall@10", "MRR"], cells)
