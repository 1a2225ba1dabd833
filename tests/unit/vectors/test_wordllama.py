"""The default model's vectors: the mean of the word pieces' vectors, of unit length."""

from math import hypot

import pytest

from functions.platform.errors import Unavailable
from functions.vectors import wordllama
from functions.vectors.model import Vector
from functions.vectors.wordllama import DIMENSION, embed


def cosine(one: Vector, other: Vector) -> float:
    """The cosine similarity of two vectors of unit length."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_a_vector_has_unit_length() -> None:
    vector = embed("a cup of green tea")
    assert len(vector) == DIMENSION
    assert hypot(*vector) == pytest.approx(1, abs=1e-6)


def test_a_repeated_text_has_the_same_vector() -> None:
    assert cosine(embed("tea"), embed("tea tea tea")) == pytest.approx(1, abs=1e-6)


def test_the_order_of_words_changes_nothing() -> None:
    assert embed("tea and coffee") == embed("coffee and tea")


def test_similar_texts_have_similar_vectors() -> None:
    drink = embed("a hot drink")
    assert cosine(drink, embed("a cup of tea")) > cosine(drink, embed("tax returns")) + 0.2


def test_a_text_without_word_pieces_has_the_zero_vector() -> None:
    assert set(embed("")) == {0.0}


def test_a_missing_model_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.vectors.wordllama.find_spec", lambda _: None)
    wordllama._load_model.cache_clear()  # noqa: SLF001 - loaded once a process
    assert not wordllama.is_installed()
    with pytest.raises(Unavailable, match="wordllama"):
        embed("tea")
