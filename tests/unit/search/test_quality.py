"""How well search finds, on the corpus of facts and queries; `python -m benchmarks recall` has all.

The floors leave a query or two of slack below what is reached.
"""

import re

import pytest

from benchmarks.corpus import CLASSES, build_fillers, read_facts, read_questions
from benchmarks.recall import Quality, measure
from functions.vectors.words import read_words

_STEM = 4  # letters that inflections of a word share
_NUMBER = re.compile(r"\d{3,}")


@pytest.fixture(scope="module", params=["facts", "entries"])
def quality(request: pytest.FixtureRequest) -> Quality:
    """The quality of the corpus alone."""
    return measure(fillers=(0,), forms=(request.param,))[0].quality


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
