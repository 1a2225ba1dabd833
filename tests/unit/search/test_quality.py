"""Test the quality of search on a corpus of facts; `python -m benchmarks recall` has all.

The floors leave a query or two of slack below what is reached.
"""

import re
from collections.abc import Callable, Iterable

import orjson
import pytest

from benchmarks.corpus import (
    CLASSES,
    Quality,
    Ranked,
    Statement,
    build_fillers,
    evaluate,
    read_facts,
    read_questions,
)
from functions.entries.model import Entry
from functions.platform.entry_keys import build_semantic_address
from functions.platform.item_types import AGENT_VECTOR
from functions.search.embedding_indexer import extract_text
from functions.vectors.hybrid import QueryEmbedder, TextEmbedder, read_query
from functions.vectors.in_memory_vectors import decode_terms, float16_format
from functions.vectors.matrix import RowKey, TextMatrix, decode_vectors
from functions.vectors.wordllama import DIMENSION, MODEL, embed_all
from functions.vectors.words import read_words

_STEM = 4  # letters that inflections of a word share
_NUMBER = re.compile(r"\d{3,}")


_DEPTH = 20  # candidates of each search, as in the service
_EMBED_QUERY = QueryEmbedder(embed_all)


class Corpus:
    """Texts with the service's search; facts have subjects, entries have none."""

    def __init__(self, texts: Iterable[tuple[str, str, str]]) -> None:
        self._texts = {id: (text, subject) for id, text, subject in texts}
        self._matrix = TextMatrix()
        stored = [
            (id, float16_format(MODEL).to_attributes("", TextEmbedder(embed_all)(text), {}))
            for id, (text, _) in self._texts.items()
        ]
        vectors = decode_vectors([item["vector"] for _, item in stored], DIMENSION)
        keys = [
            RowKey(f"{AGENT_VECTOR.sort_prefix}{id}", {}, 0, len(item["vector"]) // (2 * DIMENSION))
            for id, item in stored
        ]
        self._matrix.put_texts(keys, vectors, (decode_terms(item) for _, item in stored))

    def rank(self, query: str) -> Ranked:
        """Return the results of a query with their scores, best first."""
        found = self._matrix.find_candidates(_EMBED_QUERY(query), _DEPTH, {})
        read = read_query(query).use_statistics(found.statistics)
        scored = [
            (id, read.compare(cosine, *self._texts[id]).score)
            for id, cosine in found.cosines.items()
        ]
        return sorted(scored, key=lambda each: -each[1])


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


@pytest.fixture(scope="module", params=["facts", "entries"])
def quality(request: pytest.FixtureRequest) -> Quality:
    """The quality of the corpus alone."""
    form = _FORMS[request.param]
    corpus = Corpus((each.id, *form(each)) for each in read_facts())
    return evaluate(corpus.rank, read_questions())


def test_the_classes_reach_their_floors(quality: Quality) -> None:
    floors = {
        "a": (1, 1, 1),
        "b": (0.08, 0.36, 0.2),
        "c": (0.97, 0.98, 0.98),
        "d": (0.95, 0.97, 0.97),
        "e": (0.93, 0.96, 0.95),
        "f": (0.03, 0.06, 0.07),
        "all": (0.65, 0.72, 0.68),
    }
    reached = {
        group: (found.first, found.few, found.reciprocal) for group, found in quality.groups.items()
    }
    missed = {
        group: reached[group]
        for group, floor in floors.items()
        if any(one < least for one, least in zip(reached[group], floor, strict=True))
    }
    assert missed == {}


def test_scores_tell_queries_that_nothing_answers(quality: Quality) -> None:
    assert quality.auc >= 0.95
    assert quality.rejected >= 0.9
    assert quality.threshold >= 0.2


def test_the_corpus_has_facts_and_queries_of_all_classes() -> None:
    facts, questions = read_facts(), read_questions()
    ids = {fact.id for fact in facts}
    assert len(ids) == len(facts) >= 500
    assert len(questions) >= 200
    assert {each.group for each in questions} == CLASSES.keys()
    assert all(each.right <= ids for each in questions)
    assert all(bool(each.right) == (each.group != "g") for each in questions)


def test_paraphrases_share_no_word_with_what_answers_them() -> None:
    said = {fact.id: _stem(fact.text) for fact in read_facts()}
    paraphrases = [each for each in read_questions() if each.group == "b"]
    shared = {
        each.query: _stem(each.query) & said[id]
        for each in paraphrases
        for id in each.right
        if _stem(each.query) & said[id]
    }
    assert shared == {}


def test_further_facts_have_no_number_of_the_corpus() -> None:
    fillers = {number for each in build_fillers(500) for number in _NUMBER.findall(each.text)}
    texts = [fact.text for fact in read_facts()] + [each.query for each in read_questions()]
    assert not fillers & {number for text in texts for number in _NUMBER.findall(text)}


def _stem(text: str) -> set[str]:
    return {word[:_STEM] for word in read_words(text).words}
