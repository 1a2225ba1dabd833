"""Exact search of vectors in memory."""

import random
from array import array
from collections.abc import Mapping
from math import hypot

import numpy as np
import pytest

from functions.vectors.hybrid import WORDS_DIMENSION
from functions.vectors.matrix import VectorMatrix
from functions.vectors.model import Hit, Vector

_RANDOM = random.Random(7)  # noqa: S311 - no secret
_ANY = 1_000


def vector(*meaning: float, word: int = 0) -> Vector:
    length = hypot(*meaning)
    words = [0.0] * WORDS_DIMENSION
    words[word] = 1.0
    return array("f", [*(each / length for each in meaning), *words])


def find(
    matrix: VectorMatrix, query: Vector, depth: int = _ANY, **filters: str
) -> tuple[list[Hit], list[Hit]]:
    found = matrix.find_candidates(query, depth, filters)
    return found.by_meaning, found.by_words


def refs(hits: list[Hit]) -> list[str]:
    """What the hits stand for."""
    return [hit.ref for hit in hits]


def put(matrix: VectorMatrix, name: str, each: Vector, tier: str, written: int) -> None:
    matrix.put_many([(f"v#{name}", {"memory_type": tier}, written)], np.array([each], np.float32))


def build(vectors: Mapping[str, Vector]) -> VectorMatrix:
    matrix = VectorMatrix()
    for name, each in vectors.items():
        put(matrix, name, each, name, 1)
    return matrix


def test_each_half_finds_its_own_best() -> None:
    matrix = build({"a": vector(1, 0, word=1), "b": vector(0, 1, word=2), "c": vector(1, 1)})
    by_meaning, by_words = find(matrix, vector(1, 0, word=2))
    assert refs(by_meaning) == ["a", "c", "b"]
    assert [hit.score for hit in by_meaning] == pytest.approx([1, 0.5**0.5, 0], abs=1e-6)
    assert refs(by_words)[0] == "b"
    assert (by_words[0].score, by_words[0].cosine) == pytest.approx((1, 0), abs=1e-6)


def test_a_removed_vector_is_not_found_and_may_be_put_again() -> None:
    matrix = build({"a": vector(1, 0)})
    matrix.remove("v#a", 2 + WORDS_DIMENSION, 2)
    matrix.remove("v#never put", 2 + WORDS_DIMENSION, 2)
    assert find(matrix, vector(1, 0)) == ([], [])
    put(matrix, "a", vector(0, 1), "new", 3)
    assert refs(find(matrix, vector(0, 1), memory_type="new")[0]) == ["a"]
    assert (matrix.written_at("v#a"), matrix.written_at("v#b")) == (3, None)


def test_filters_come_before_the_depth() -> None:
    matrix = build({"a": vector(1, 0), "b": vector(1, 1), "c": vector(0, 1)})
    assert refs(find(matrix, vector(1, 0), 1, memory_type="c")[0]) == ["c"]


def test_fewer_than_asked_for_are_all_that_match() -> None:
    matrix = build({"a": vector(1, 0), "b": vector(1, 1)})
    complete = [matrix.find_candidates(vector(1, 0), depth, {}).is_complete for depth in (2, 3)]
    assert complete == [False, True]
    assert VectorMatrix().find_candidates(vector(1, 0), 1, {}).is_complete


def test_random_vectors_are_ranked_by_their_cosine() -> None:
    vectors = {str(n): vector(*(_RANDOM.gauss(0, 1) for _ in range(8))) for n in range(200)}
    query = vector(*(_RANDOM.gauss(0, 1) for _ in range(8)))
    cosines = {
        name: sum(a * b for a, b in zip(query[:8], each[:8], strict=True))
        for name, each in vectors.items()
    }
    found = refs(find(build(vectors), query)[0])
    assert found == sorted(cosines, key=lambda name: -cosines[name])
