"""What is compared in memory, with numpy and without it."""

import random
from array import array
from math import hypot

import pytest

from functions.vectors.block import Block
from functions.vectors.model import Vector


def unit(*numbers: float) -> Vector:
    """A vector of unit length."""
    length = hypot(*numbers)
    return array("f", [each / length for each in numbers])


def names(held: Block, query: Vector) -> list[str]:
    """What is held, the most alike first."""
    return [name for name, _, _ in held.ranked(query)]


@pytest.mark.usefixtures("numpy")
def test_the_most_alike_come_first_and_the_same_by_name() -> None:
    held = Block()
    for name, vector in {
        "c": unit(1, 0),
        "b": unit(0, 1),
        "a": unit(1, 0),
        "d": array("f", [2.0, 2.0]),
    }.items():
        held.keep(name, vector, {}, 1)
    assert names(held, unit(1, 0)) == ["a", "c", "d", "b"]
    scores = [score for _, score, _ in held.ranked(unit(1, 0))]
    assert scores == pytest.approx([1, 1, 0.5**0.5, 0], abs=1e-6)


@pytest.mark.usefixtures("numpy")
def test_what_is_dropped_is_gone_and_may_come_back() -> None:
    held = Block()
    held.keep("a", unit(1, 0), {"tier": "old"}, 1)
    held.drop("a", 2, 2)
    held.drop("never there", 2, 2)
    assert names(held, unit(1, 0)) == []
    held.keep("a", unit(0, 1), {"tier": "new"}, 3)
    ((name, score, item),) = held.ranked(unit(0, 1))
    assert (name, item) == ("a", {"tier": "new"})
    assert score == pytest.approx(1)
    assert (held.written("a"), held.written("b")) == (3, None)


@pytest.mark.usefixtures("numpy")
def test_any_vectors_are_ranked_as_by_hand() -> None:
    luck, held = random.Random(7), Block()  # noqa: S311 - no secret
    vectors = {str(n): unit(*(luck.gauss(0, 1) for _ in range(8))) for n in range(200)}
    for name, vector in vectors.items():
        held.keep(name, vector, {}, 1)
    query = unit(*(luck.gauss(0, 1) for _ in range(8)))
    cosines = {
        name: sum(a * b for a, b in zip(query, vector, strict=True))
        for name, vector in vectors.items()
    }
    assert names(held, query) == sorted(cosines, key=lambda name: -cosines[name])


@pytest.mark.usefixtures("numpy")
def test_an_empty_block_holds_nothing() -> None:
    assert names(Block(), unit(1, 0)) == []
