"""Exact search of vectors in memory."""

import random
from array import array
from collections.abc import Mapping
from math import hypot

import numpy as np
import pytest

from functions.vectors.matrix import RowKey, TextMatrix, hash_term
from functions.vectors.model import Embedding, Hit, Statistics

_RANDOM = random.Random(7)  # noqa: S311 - no secret
_ANY = 1_000


def text(*meaning: float, word: str = "tea") -> Embedding:
    length = hypot(*meaning)
    return Embedding((array("f", [each / length for each in meaning]),), {word: 1.0})


def find(
    matrix: TextMatrix, query: Embedding, depth: int = _ANY, **filters: str
) -> tuple[list[Hit], list[Hit]]:
    found = matrix.find_candidates(query, depth, filters)
    return found.by_meaning, found.by_words


def refs(hits: list[Hit]) -> list[str]:
    """Return the references of the hits."""
    return [hit.ref for hit in hits]


def put(matrix: TextMatrix, name: str, each: Embedding, tier: str, written: int) -> None:
    key = RowKey(f"v#{name}", {"memory_type": tier}, written, len(each.meanings))
    vectors = np.array(each.meanings, np.float32)
    matrix.put_texts([key], vectors, [map(hash_term, each.terms)])


def build(vectors: Mapping[str, Embedding]) -> TextMatrix:
    matrix = TextMatrix()
    for name, each in vectors.items():
        put(matrix, name, each, name, 1)
    return matrix


def test_meaning_and_words_find_their_own_best() -> None:
    matrix = build({"a": text(1, 0, word="tea"), "b": text(0, 1, word="car"), "c": text(1, 1)})
    by_meaning, by_words = find(matrix, text(1, 0, word="car"))
    assert refs(by_meaning) == ["a", "c", "b"]
    assert [hit.score for hit in by_meaning] == pytest.approx([1, 0.5**0.5, 0], abs=1e-6)
    assert refs(by_words) == ["b"]
    assert by_words[0].cosine == pytest.approx(0, abs=1e-6)


def test_a_text_is_found_by_its_best_piece_once() -> None:
    pieces = Embedding((*text(1, 0).meanings, *text(0, 1).meanings), {})
    matrix = build({"long": pieces, "short": text(1, 1)})
    by_meaning, _ = find(matrix, text(0, 1))
    assert [(hit.ref, round(hit.cosine, 3)) for hit in by_meaning] == [
        ("long", 1),
        ("short", 0.707),
    ]


def test_a_scaled_vector_is_ranked_by_its_scale_and_keeps_its_cosine() -> None:
    filler = Embedding((array("f", [0.5, 0]),), {})
    by_meaning, _ = find(build({"filler": filler, "text": text(0.8, 0.6)}), text(1, 0))
    assert refs(by_meaning) == ["text", "filler"]
    assert [hit.cosine for hit in by_meaning] == pytest.approx([0.8, 1], abs=1e-6)


def test_a_rare_word_ranks_above_a_common_one() -> None:
    common = {str(n): text(1, 0, word="anna") for n in range(9)}
    matrix = build(common | {"rare": text(1, 0, word="zebra")})
    query = Embedding(text(1, 0).meanings, {"anna": 1.0, "zebra": 1.0})
    found = matrix.find_candidates(query, 3, {})
    assert found.by_words[0].ref == "rare"
    assert found.statistics == Statistics(10, {"anna": 9, "zebra": 1})


def test_a_removed_text_is_not_found_and_may_be_put_again() -> None:
    matrix = build({"a": text(1, 0)})
    matrix.remove("v#a", 2)
    matrix.remove("v#never put", 2)
    assert find(matrix, text(1, 0)) == ([], [])
    put(matrix, "a", text(0, 1), "new", 3)
    assert refs(find(matrix, text(0, 1), memory_type="new")[0]) == ["a"]
    assert (matrix.written_at("v#a"), matrix.written_at("v#b")) == (3, None)


def test_a_matrix_of_mostly_dead_rows_is_sparse() -> None:
    matrix = build({"a": text(1, 0)})
    for written in range(1_001):
        put(matrix, "a", text(1, 0), "t", written)
    assert matrix.is_sparse
    assert not build({"a": text(1, 0)}).is_sparse


def test_filters_come_before_the_depth() -> None:
    matrix = build({"a": text(1, 0), "b": text(1, 1), "c": text(0, 1)})
    assert refs(find(matrix, text(1, 0), 1, memory_type="c")[0]) == ["c"]


def test_fewer_than_asked_for_are_all_that_match() -> None:
    matrix = build({"a": text(1, 0), "b": text(1, 1)})
    complete = [matrix.find_candidates(text(1, 0), depth, {}).is_complete for depth in (2, 3)]
    assert complete == [False, True]
    assert TextMatrix().find_candidates(text(1, 0), 1, {}).is_complete


def test_random_texts_are_ranked_by_their_cosine() -> None:
    vectors = {str(n): text(*(_RANDOM.gauss(0, 1) for _ in range(8))) for n in range(200)}
    query = text(*(_RANDOM.gauss(0, 1) for _ in range(8)))
    cosines = {
        name: sum(a * b for a, b in zip(query.meanings[0], each.meanings[0], strict=True))
        for name, each in vectors.items()
    }
    found = refs(find(build(vectors), query)[0])
    assert found == sorted(cosines, key=lambda name: -cosines[name])
