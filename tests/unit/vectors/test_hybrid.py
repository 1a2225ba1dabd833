"""Words and ids of texts, and the score of a query and a text."""

import pytest

from functions.platform.schema import WORDS_DIMENSIONS
from functions.vectors.hybrid import embed_terms, read_query, split_pieces
from functions.vectors.model import Statistics
from functions.vectors.words import read_words, without_ids


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What do we know about Alice?", ("alice",)),
        ("Wo wohnt José?", ("wohnt", "jose")),
        ("prefers_email hubspotId", ("prefers", "email", "hubspotid", "hubspot", "id")),
        ("the of and", ()),
    ],
)
def test_words_have_no_case_no_accents_and_no_stop_words(text: str, words: tuple[str, ...]) -> None:
    assert read_words(text).words == words


def test_an_id_counts_whole_by_its_joints_and_by_its_pieces() -> None:
    found = read_words("contact:hubspot_id:123456")
    assert set(found.ids) == {"123456", "id-123456", "contact-hubspot-id-123456"}
    assert found.codes == {"123456"}
    assert set(read_words("v2.14.8").ids) == {"v2", "14", "8", "v2-14", "14-8", "v2-14-8"}
    assert read_words("v2.14.8").ids["v2-14-8"] > read_words("v2.14.8").ids["14"]


def test_meaning_is_what_has_no_digits() -> None:
    assert (
        without_ids("contact:hubspot_id:123456 prefers_calls") == "contact hubspot id prefers calls"
    )
    assert without_ids("123456 77") == "123456 77"


def test_the_vector_of_terms_has_unit_length() -> None:
    vector = embed_terms({"alice": 1.0, "4821": 5.0})
    assert len(vector) == WORDS_DIMENSIONS
    assert sum(each * each for each in vector) == pytest.approx(1, abs=1e-6)
    assert not any(embed_terms({}))


def test_a_long_text_is_split_between_words() -> None:
    pieces = list(split_pieces("tea " * 600))
    assert [len(each) <= 1_000 and each.strip()[-3:] == "tea" for each in pieces] == [True] * 3
    assert [len(each) for each in split_pieces("x" * 2_500)] == [1_000, 1_000, 500]


def score(query: str, text: str, cosine: float = 0.0, subject: str = "") -> float:
    """The score of a text whose meaning has this cosine with the query's."""
    return read_query(query).compare(cosine, text, subject).score


def test_the_querys_own_words_score_one() -> None:
    assert score("Bob prefers INC-4821", "bob prefers inc-4821", cosine=1) == 1


def test_a_stray_common_word_hardly_counts() -> None:
    assert score("green tea in the morning", "green cars") < 0.1


def test_an_id_that_is_missing_counts_against_a_text() -> None:
    assert score("INC-4821", "incident INC-4821 resolved") > 0.4
    assert score("INC-4821", "incident INC-4812 resolved") < 0


def test_errors_of_typing_and_inflections_are_met() -> None:
    assert score("preferences of cappuccino", "prefers a cappucino") > 0.15
    assert score("zebra", "prefers a cappucino") == 0


def test_what_matches_is_told() -> None:
    query = read_query("Did Alice close INC-4821?")
    assert query.compare(0, "alice opened inc-4821").matched == [
        "alice",
        "inc",
        "4821",
        "inc-4821",
    ]


def test_the_order_of_words_tells_who_does_what() -> None:
    same = score("Alice manages Bob", "Alice manages Bob", cosine=1)
    other = score("Alice manages Bob", "Bob manages Alice", cosine=1)
    assert same == 1 > other > 0.9


@pytest.mark.parametrize(
    ("query", "text", "subject", "is_higher"),
    [
        ("all about Alice", "Alice likes tea", "Alice", True),
        ("all about INC-4821", "INC-4821 was closed", "INC-4821", True),
        ("all about Alice", "Alice Smith likes tea", "Alice Smith", False),
        ("all about INC-4821", "INC-4812 was closed", "INC-4812", False),
        ("all about Alice", "the team likes Alice", "the", False),
    ],
)
def test_a_text_whose_whole_subject_is_named_scores_more(
    query: str, text: str, subject: str, is_higher: bool
) -> None:
    plain, named = score(query, text), score(query, text, subject=subject)
    assert named > plain if is_higher else named == plain
    assert named <= 1


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    statistics = Statistics(100, {"carol": 100, "guita": 2})
    query = read_query("Caroline's guitar").use_statistics(statistics)
    rare, common = (query.compare(0.3, text).score for text in ("my guitar", "Caroline smiles"))
    assert rare > 2 * common


@pytest.mark.parametrize(
    ("query", "subject", "is_named"),
    [
        ("so tell me what Alice Smith said about the car", "Alice Smith", True),
        ("what did Alice say", "Alice Smith", False),
        ("what about INC-4821 now", "INC-4821", True),
        ("what about this", "the", False),
        ("what does the team drink", "the team", True),
        ("the team", "the team", True),
        ("is the boiler team on call", "the boiler", True),
        ("what does the finance team drink", "the team", False),
        ("ask the finance team and the team", "the team", True),
        ("what did customer Alice say", "Alice", True),
    ],
)
def test_a_query_names_a_subject_wherever_its_words_stand(
    query: str, subject: str, is_named: bool
) -> None:
    assert read_query(query).names(subject) == is_named
