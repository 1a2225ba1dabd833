"""Exact ranking of vectors in memory."""

import random
import time
from array import array
from collections import deque
from math import hypot

import pytest

from functions.vectors.in_memory_vectors import VectorMatrix
from functions.vectors.model import Vector

_RANDOM = random.Random(7)  # noqa: S311 - no secret


def unit(*numbers: float) -> Vector:
    """A vector of unit length."""
    length = hypot(*numbers)
    return array("f", [each / length for each in numbers])


def random_unit(dimension: int) -> Vector:
    """A vector of unit length in a random direction."""
    return unit(*(_RANDOM.gauss(0, 1) for _ in range(dimension)))


def names(matrix: VectorMatrix, query: Vector) -> list[str]:
    """The sort keys, the most similar first."""
    return [name for name, _, _ in matrix.rank(query)]


def test_the_most_similar_come_first_and_ties_by_sort_key() -> None:
    matrix = VectorMatrix()
    for name, vector in {
        "c": unit(1, 0),
        "b": unit(0, 1),
        "a": unit(1, 0),
        "d": array("f", [2.0, 2.0]),
    }.items():
        matrix.put(name, vector, {}, 1)
    assert names(matrix, unit(1, 0)) == ["a", "c", "d", "b"]
    scores = [score for _, score, _ in matrix.rank(unit(1, 0))]
    assert scores == pytest.approx([1, 1, 0.5**0.5, 0], abs=1e-6)


def test_a_removed_vector_is_not_found_and_may_be_put_again() -> None:
    matrix = VectorMatrix()
    matrix.put("a", unit(1, 0), {"tier": "old"}, 1)
    matrix.remove("a", 2, 2)
    matrix.remove("never put", 2, 2)
    assert names(matrix, unit(1, 0)) == []
    matrix.put("a", unit(0, 1), {"tier": "new"}, 3)
    ((name, score, item),) = matrix.rank(unit(0, 1))
    assert (name, item) == ("a", {"tier": "new"})
    assert score == pytest.approx(1)
    assert (matrix.written_at("a"), matrix.written_at("b")) == (3, None)


def test_random_vectors_are_ranked_by_their_cosine() -> None:
    matrix = VectorMatrix()
    vectors = {str(n): random_unit(8) for n in range(200)}
    for name, vector in vectors.items():
        matrix.put(name, vector, {}, 1)
    query = random_unit(8)
    cosines = {
        name: sum(a * b for a, b in zip(query, vector, strict=True))
        for name, vector in vectors.items()
    }
    assert names(matrix, query) == sorted(cosines, key=lambda name: -cosines[name])


def test_an_empty_matrix_has_no_hits() -> None:
    assert names(VectorMatrix(), unit(1, 0)) == []


def test_ten_thousand_vectors_are_ranked_within_milliseconds() -> None:
    matrix, vectors = VectorMatrix(), [random_unit(256) for _ in range(50)]
    for number in range(10_000):
        matrix.put(str(number), vectors[number % 50], {}, 1)
    times = []
    for query in vectors[:10]:
        start = time.thread_time()
        deque(zip(range(100), matrix.rank(query), strict=False), maxlen=0)
        times.append(time.thread_time() - start)
    assert min(times) < 0.025  # 3 ms here, five times as long for slower machines; in Python, 170
