"""Test which text of an entry is embedded: the words of its key, tags and value."""

import json
from typing import Any

import pytest

from functions.entries.model import Entry
from functions.platform.entry_keys import build_private_address
from functions.platform.limits import MAX_QUERY_CHARACTERS
from functions.search.embedding_indexer import extract_text


def entry(value: Any, key: str = "k", **fields: Any) -> Entry:
    known: dict[str, Any] = {
        "address": build_private_address("acme", "ada", "notes", key, "e"),
        "nonce": "0" * 16,
        "memory_type": "episodic",
        "agent_id": "ada",
        "namespace": "notes",
        "key": key,
        "value": json.dumps(value).encode(),
        "value_bytes": 1,
        "version": 1,
        "created_at": 1,
        "updated_at": 1,
        "created_by": "ada",
    }
    return Entry(**(known | fields))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"drink": "tea", "size": 2}, "k drink tea size 2"),
        ([True, False, None, 1.5], "k yes no 1.5"),
        ({"vatId_2024": {"x": []}}, "k vat Id_2024 x"),
        (7, "k 7"),
        ({"text": "tea", "from": {"text": "Ada"}}, "k tea from Ada"),
        ({}, "k"),
    ],
)
def test_names_and_leaves_are_words_in_their_order(value: Any, text: str) -> None:
    assert extract_text(entry(value)) == text


def test_a_key_is_split_at_capitals_and_keeps_its_ids_whole() -> None:
    assert extract_text(entry("v", key="holidayPlans-8c1f03")) == "holiday Plans-8c1f03 v"


def test_tags_come_between_key_and_value() -> None:
    assert extract_text(entry("v", tags=("a", "b"))) == "k a b v"


@pytest.mark.parametrize("sensitivity", ["confidential", "restricted"])
def test_a_sensitive_entry_has_no_text(sensitivity: Any) -> None:
    assert extract_text(entry("v", sensitivity=sensitivity)) is None


def test_an_entry_without_words_has_no_text() -> None:
    assert extract_text(entry({}, key=" ")) is None


def test_a_long_value_is_cut() -> None:
    text = extract_text(entry({"words": ["word"] * 10_000}))
    assert text is not None
    assert len(text) <= MAX_QUERY_CHARACTERS
    assert len(text) > MAX_QUERY_CHARACTERS - 10
