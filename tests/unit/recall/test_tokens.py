"""The count of tokens is an upper bound for a common language model's."""

import pytest

from benchmarks.corpus import read_facts, read_questions
from functions.recall.tokens import count_tokens
from functions.vectors import wordllama

_TEXTS = [
    *(each.text for each in read_facts()),
    *(each.query for each in read_questions()),
    "The quick brown fox: 12,345.67 EUR (2026-03-05T10:00:00Z)\n\n- [m.s-1.3] Ünïcödé 日本語 🙂",
    "internationalization antidisestablishmentarianism supercalifragilistic",
    "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG",
]


@pytest.mark.skipif(not wordllama.is_installed(), reason="the model is not installed")
def test_no_text_has_more_tokens_than_are_counted() -> None:
    tokenizer, _ = wordllama._load_model()  # noqa: SLF001 - the vocabulary of a language model
    for text in _TEXTS:
        pieces = tokenizer.encode(text, add_special_tokens=False).ids
        assert len(pieces) <= count_tokens(text), text


def test_the_rule_is_that_of_the_documentation() -> None:
    assert (count_tokens(""), count_tokens("Hello, Ada")) == (0, 7)
