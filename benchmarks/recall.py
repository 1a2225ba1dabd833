"""Measure the quality of search with a corpus of facts and queries, as facts and as entries.

It runs the service's code without the table: embedding, the two searches of the index, the score.
`benchmarks.goals` asks the same over HTTP.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import orjson

from benchmarks.corpus import (
    CLASSES,
    NO_ANSWER,
    Question,
    Statement,
    build_fillers,
    read_facts,
    read_questions,
)
from functions.entries.model import Entry
from functions.platform.entry_keys import build_semantic_address
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.search.text import extract_text
from functions.vectors.factory import DEFAULT_EMBED
from functions.vectors.hybrid import QueryEmbedder, read_query
from functions.vectors.in_memory_vectors import decode_terms, decode_vectors, float16_format
from functions.vectors.matrix import RowKey, TextMatrix
from functions.vectors.wordllama import DIMENSION, MODEL, embed_all, weigh

FILLERS = 10_000
_DEPTH = 20  # candidates of each search, as in the service
_FEW, _MANY = 5, 10
_SUREST = 0.9  # the share of right first answers that score at least the threshold

_EMBED_QUERY = QueryEmbedder(embed_all, weigh)
Ranked = list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Found:
    """The quality of the answers to a class of queries, each figure from 0 to 1.

    Attributes:
        first: recall at 1, the share of queries with a right first answer.
        few: recall at 5.
        reciprocal: the mean of 1 / the rank of the first right answer, to rank 10.
    """

    first: float
    few: float
    reciprocal: float


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of search in a corpus.

    Attributes:
        groups: the quality by class of queries, and of `all`.
        auc: the probability that a right first answer scores above the best answer to a query
            that has none.
        rejected: the share of queries without an answer whose best score is below `threshold`.
        threshold: the score that 90 of 100 right first answers reach.
    """

    groups: dict[str, Found]
    auc: float
    rejected: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Row:
    """The quality of search in a number of facts or entries."""

    name: str
    quality: Quality


class Corpus:
    """Texts with the service's search; facts have subjects, entries have none."""

    def __init__(self, texts: Iterable[tuple[str, str, str]]) -> None:
        self._texts = {id: (text, subject) for id, text, subject in texts}
        self._matrix = TextMatrix()
        stored = [(id, store(text)) for id, (text, _) in self._texts.items()]
        vectors = decode_vectors([item["vector"] for _, item in stored], DIMENSION)
        keys = [
            RowKey(f"{AGENT_VECTOR.sort_prefix}{id}", {}, 0, len(item["vector"]) // (2 * DIMENSION))
            for id, item in stored
        ]
        self._matrix.put_texts(keys, vectors, (decode_terms(item) for _, item in stored))

    def __len__(self) -> int:
        return len(self._texts)

    def rank(self, query: str) -> Ranked:
        """Return the results of a query with their scores, best first."""
        found = self._matrix.find_candidates(_EMBED_QUERY(query), _DEPTH, {})
        read = read_query(query, weigh).use_statistics(found.statistics)
        scored = [
            (id, read.compare(cosine, *self._texts[id]).score)
            for id, cosine in found.cosines.items()
        ]
        return sorted(scored, key=lambda each: -each[1])


def measure(
    fillers: Sequence[int] = (0, FILLERS), forms: Sequence[str] = ("facts", "entries")
) -> list[Row]:
    """Measure facts and entries, with different numbers of facts that answer no query.

    Vectors have the precision that the function's memory holds.
    """
    rows = []
    for further, name in product(fillers, forms):
        stored = [*read_facts(), *build_fillers(further)]
        corpus = Corpus((each.id, *_FORMS[name](each)) for each in stored)
        rows.append(Row(f"{len(corpus):,} {name}", evaluate(corpus.rank, read_questions())))
    return rows


def store(text: str) -> Item:
    """Embed a text as the table stores it: in half precision."""
    return float16_format(MODEL).to_attributes("", DEFAULT_EMBED(text), {})


def evaluate(rank: Callable[[str], Ranked], questions: Sequence[Question]) -> Quality:
    """Ask all queries, and compare the results with the right answers."""
    ranked = [(each, rank(each.query)) for each in questions]
    answered = [each for each in ranked if each[0].group != NO_ANSWER]
    groups = {
        group: _average([each for each in answered if each[0].group == group])
        for group in CLASSES
        if group != NO_ANSWER
    }
    best = sorted(found[0][1] for asked, found in answered if found[0][0] in asked.right)
    none = [found[0][1] for asked, found in ranked if asked.group == NO_ANSWER]
    threshold = best[int(len(best) * (1 - _SUREST))]
    return Quality(
        groups | {"all": _average(answered)},
        sum(one > other for one, other in product(best, none)) / (len(best) * len(none)),
        sum(each < threshold for each in none) / len(none),
        threshold,
    )


def _average(ranked: Sequence[tuple[Question, Ranked]]) -> Found:
    found = [_compare(asked, [id for id, _ in answers]) for asked, answers in ranked]
    firsts, fews, reciprocals = zip(*found, strict=True)
    return Found(*(sum(each) / len(found) for each in (firsts, fews, reciprocals)))


def _compare(asked: Question, ids: Sequence[str]) -> tuple[float, float, float]:
    is_right = [id in asked.right for id in ids[:_MANY]]
    few = sum(is_right[:_FEW]) / min(_FEW, len(asked.right))
    reciprocal = 1 / (is_right.index(True) + 1) if any(is_right) else 0.0
    return float(is_right[0]), few, reciprocal


def _to_entry_text(fact: Statement) -> str:
    value = orjson.dumps({"text": fact.text})
    entry = Entry(
        address=build_semantic_address("t", "notes", fact.id),
        nonce="0" * 16,
        memory_type="semantic",
        agent_id="a",
        namespace="notes",
        key=fact.id,
        value=value,
        value_bytes=len(value),
        version=1,
        created_at=1,
        updated_at=1,
        created_by="a",
    )
    return extract_text(entry) or ""


_FORMS: dict[str, Callable[[Statement], tuple[str, str]]] = {
    "facts": lambda fact: (fact.text, fact.subject),
    "entries": lambda fact: (_to_entry_text(fact), ""),
}
