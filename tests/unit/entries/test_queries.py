"""Which entries and index rows a query matches (RFC-0015 §4.1)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.entries.model import Filters, parse_namespace_filter
from functions.entries.private_memory import assert_owner_known
from functions.entries.rules import matches_filters, merge_tag_lists, row_matches_filters
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
    "entry_expires_at": NOW + 100,
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
    assert matches_filters(ENTRY, Filters(**filters), NOW) is matching


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
    ],
)
def test_an_index_row_passes_the_filters_that_it_knows(
    filters: dict[str, Any], matching: bool
) -> None:
    assert row_matches_filters(ROW, Filters(**filters), NOW) is matching


def test_an_expired_entry_never_matches() -> None:
    for now, matching in ((NOW + 99, True), (NOW + 100, False)):
        assert matches_filters(ENTRY, Filters(), now) is matching
        assert row_matches_filters(ROW, Filters(), now) is matching


@pytest.mark.parametrize("tier", ["working", "semantic"])
def test_only_episodic_memory_is_pinned_or_not_pinned(tier: Any) -> None:
    for pinned in (True, False):
        assert not matches_filters(make_entry(tier), Filters(pinned=pinned), NOW)


@given(st.lists(TAGS, max_size=6), TAGS, TAGS)
def test_index_rows_of_tags_give_what_the_filters_match(
    tagged: list[set[str]], every: set[str], some: set[str]
) -> None:
    entries = [make_entry("semantic", str(n), tags=tuple(tags)) for n, tags in enumerate(tagged)]
    filters = Filters(tags=frozenset(every), tags_any=frozenset(some))
    asked: list[str | None] = [*(every | some)] or [None]
    listed = {
        tag: {each.id for each in entries if tag is None or tag in each.tags} for tag in asked
    }
    matching = {each.id for each in entries if matches_filters(each, filters, NOW)}
    assert merge_tag_lists(listed, filters) == matching


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
