"""The default model's vectors: the mean of the word pieces' vectors, of unit length."""

import subprocess
import sys
from hashlib import blake2b
from math import hypot
from pathlib import Path

import pytest

from functions.platform.errors import Unavailable
from functions.vectors import wordllama
from functions.vectors.hybrid import TextEmbedder
from functions.vectors.model import Vector
from functions.vectors.wordllama import DIMENSION, embed, embed_all

ROOT = Path(__file__).parents[3]


def cosine(one: Vector, other: Vector) -> float:
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
    with pytest.raises(Unavailable, match=r"tools\.embedding_model"):
        embed("tea")


def test_a_text_has_the_same_vector_to_the_bit_on_every_machine() -> None:
    text = "Contact 900123 prefers calls: version 2.14.8, Zürich"
    digest = blake2b(TextEmbedder(embed_all)(text).meanings[0].tobytes(), digest_size=8).hexdigest()
    assert digest == "66f06695b822c4ad"


def test_it_needs_nothing_compiled_but_numpy_and_tokenizers() -> None:
    code = (
        "import sys; before = set(sys.modules);"
        "from functions.vectors.wordllama import embed; embed('tea');"
        "print(*{name.partition('.')[0] for name in sys.modules.keys() - before})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    other = set(ran.stdout.split()) - sys.stdlib_module_names
    assert {each for each in other if not each.startswith("_")} <= {
        "functions",
        "numpy",
        "tokenizers",
    }


def test_words_of_a_similar_meaning_are_near() -> None:
    (ship, tax), (same,) = (
        wordllama.compare_words(("ship", "tax"), "boat"),
        (wordllama.compare_words(("boat",), "boat")),
    )
    assert ship > tax + 0.2
    assert same == pytest.approx(1)
    assert wordllama.compare_words((), "boat") == []
