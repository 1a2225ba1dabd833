"""Which entries and index rows a query matches (RFC-0015 §4.1)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.entries.authority import assert_owner_known
from functions.entries.filters import (
    FILTERS,
    ROW_ATTRIBUTES,
    Filters,
    build_condition,
    build_row_matcher,
    parse_namespace_filter,
    select_matching,
)
from functions.entries.model import Entry
from functions.identity.model import Kind
from functions.platform.errors import ValidationFailed
from tests.unit.entries.making import NOW, make_entry, make_principal

ENTRY = make_entry(
    tags=("a", "b"), task_id="t", intent_id="i", pinned=True, updated_at=NOW, expires_at=NOW + 100
)
ROW = {
    "agent_id": "ada",
    "task_id": "t",
    "intent_id": "i",
    "updated_at": NOW,
    "tags": ["a", "b"],
}
TAGS = st.sets(st.sampled_from("abcd"), max_size=4)


@pytest.mark.parametrize(
    ("filters", "matching"),
    [
        ({}, True),
        ({"memory_type": "episodic"}, True),
        ({"memory_type": "working"}, False),
        ({"agent_id": "ada"}, True),
        ({"agent_id": "bob"}, False),
        ({"namespace": "notes"}, True),
        ({"namespace": "note"}, False),
        ({"namespace_prefix": "note"}, True),
        ({"namespace_prefix": "notes/"}, False),
        ({"key": "k"}, True),
        ({"key": "K"}, False),
        ({"task_id": "t"}, True),
        ({"task_id": "u"}, False),
        ({"intent_id": "i"}, True),
        ({"intent_id": "j"}, False),
        ({"pinned": True}, True),
        ({"pinned": False}, False),
        ({"updated_after": NOW - 1}, True),
        ({"updated_after": NOW}, False),
        ({"updated_before": NOW + 1}, True),
        ({"updated_before": NOW}, False),
        ({"updated_after": NOW - 1, "updated_before": NOW + 1, "memory_type": "working"}, False),
    ],
)
def test_an_entry_passes_every_filter(filters: dict[str, Any], matching: bool) -> None:
    assert bool(select_matching([ENTRY], Filters(**filters), NOW)) is matching


@pytest.mark.parametrize(
    ("filters", "matching"),
    [
        ({}, True),
        ({"agent_id": "bob"}, False),
        ({"task_id": "u"}, False),
        ({"intent_id": "j"}, False),
        ({"updated_after": NOW}, False),
        ({"updated_before": NOW}, False),
        ({"updated_after": NOW - 1, "updated_before": NOW + 1}, True),
        ({"namespace": "unknown", "key": "unknown"}, True),
        ({"tags": frozenset("ab")}, True),
        ({"tags": frozenset("ac")}, False),
        ({"tags_any": frozenset("bc")}, True),
        ({"tags_any": frozenset("c")}, False),
    ],
)
def test_an_index_row_passes_the_filters_that_it_knows(
    filters: dict[str, Any], matching: bool
) -> None:
    assert build_row_matcher(Filters(**filters), ROW_ATTRIBUTES)(ROW) is matching


def test_an_expired_entry_never_matches() -> None:
    for now, matching in ((NOW + 99, True), (NOW + 100, False)):
        assert bool(select_matching([ENTRY], Filters(), now)) is matching


@pytest.mark.parametrize("tier", ["working", "semantic"])
def test_only_episodic_memory_is_pinned_or_not_pinned(tier: Any) -> None:
    for pinned in (True, False):
        assert select_matching([make_entry(tier)], Filters(pinned=pinned), NOW) == []
        assert not Filters(pinned=pinned, memory_type=tier).memory_types


@given(st.lists(TAGS, max_size=6), TAGS, TAGS)
def test_tags_are_all_of_some_and_any_of_others(
    tagged: list[set[str]], every: set[str], some: set[str]
) -> None:
    entries = [make_entry("semantic", str(n), tags=tuple(tags)) for n, tags in enumerate(tagged)]
    filters = Filters(tags=frozenset(every), tags_any=frozenset(some))
    matching = [each for each in entries if every <= set(each.tags)]
    if some:
        matching = [each for each in matching if some & set(each.tags)]
    assert select_matching(entries, filters, NOW) == matching


def test_a_condition_of_dynamodb_names_every_filter() -> None:
    filters = Filters(key="k", tags=frozenset("ab"), tags_any=frozenset("cd"), updated_after=NOW)
    condition, values = build_condition(filters)
    assert condition == (
        "(#key = :key_0) AND (contains(#tags, :tags_0) AND contains(#tags, :tags_1))"
        " AND (contains(#tags, :tags_any_0) OR contains(#tags, :tags_any_1))"
        " AND (#updated_at > :updated_after_0)"
    )
    assert values == {
        "key_0": "k",
        "tags_0": "a",
        "tags_1": "b",
        "tags_any_0": "c",
        "tags_any_1": "d",
        "updated_after_0": NOW,
    }
    assert build_condition(Filters()) == (None, {})


def test_every_filter_compares_an_attribute_of_entries() -> None:
    assert [each.name for each in FILTERS if each.name not in Filters._fields] == []
    assert {each.name for each in FILTERS} == set(Filters._fields)
    assert {each.attribute for each in FILTERS} <= set(Entry._fields)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (None, (None, None)),
        ("notes", ("notes", None)),
        ("notes*", (None, "notes")),
        ("*", (None, None)),
        ("a*b", ("a*b", None)),
    ],
)
def test_a_namespace_filter_is_a_name_or_a_prefix(
    text: str | None, parsed: tuple[str | None, str | None]
) -> None:
    assert parse_namespace_filter(text) == parsed


@pytest.mark.parametrize("kind", ["coordinator", "user"])
@pytest.mark.parametrize("tier", ["working", "episodic"])
def test_only_agents_ask_for_private_memory_without_saying_whose(kind: Kind, tier: Any) -> None:
    with pytest.raises(ValidationFailed):
        assert_owner_known(make_principal("boss", kind), Filters(memory_type=tier))
    assert_owner_known(make_principal(), Filters(memory_type=tier))
    for named in (
        Filters(memory_type=tier, agent_id="ada"),
        Filters(memory_type=tier, task_id="t"),
    ):
        assert_owner_known(make_principal("boss", kind), named)
    assert_owner_known(make_principal("boss", kind), Filters(memory_type="semantic"))
