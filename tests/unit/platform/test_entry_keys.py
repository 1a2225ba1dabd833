"""Names with any characters never collide in keys and ids."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from functions.platform import item_types
from functions.platform.entry_keys import (
    build_creation_bound,
    build_creation_order,
    build_index_row_sort,
    build_private_address,
    build_semantic_address,
    build_sort_token,
    parse_creation_order,
    parse_entry_id,
)
from functions.platform.keys import create_nonce

NONCE = "0" * 16
NOW = 1_900_000_000_000  # ms
tricky = st.text(st.sampled_from("#/:|.,;~*%_-\\\u0000\n éab"), min_size=1, max_size=6)
names = st.tuples(tricky, tricky, tricky)  # owner, namespace, key


@settings(max_examples=300)
@given(one=names, other=names)
@example(one=("o", "a#b", "c"), other=("o", "a", "b#c"))
@example(one=("o", "ns28549", "k"), other=("o", "ns59397", "k"))  # one group of namespaces
@example(one=("o", "a", "\u0000b"), other=("o", "a\u0000", "b"))
@example(one=("a", "n", "#n"), other=("a#n", "n", "n"))
def test_different_names_are_different_entries(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    for addresses in (
        [build_private_address("t", *each) for each in (one, other)],
        [build_semantic_address("t", *each[1:]) for each in (one, other)],
    ):
        same = one == other if addresses[0].tier != "n" else one[1:] == other[1:]
        keys = {each.item_key for each in addresses}
        ids = {each.build_id(NONCE) for each in addresses}
        assert len(keys) == len(ids) == (1 if same else 2)
        for address in addresses:
            assert parse_entry_id("t", address.build_id(NONCE)) == (address, NONCE)


@settings(max_examples=300)
@given(one=tricky, other=tricky)
def test_no_name_is_the_beginning_of_another(one: str, other: str) -> None:
    prefixes = [build_index_row_sort("", each) for each in (one, other)]
    assert prefixes[0].startswith(prefixes[1]) == (one == other)
    partitions = [item_types.AGENT.build_partition("t", agent=each) for each in (one, other)]
    assert (partitions[0] == partitions[1]) == (one == other)


@pytest.mark.parametrize("tier", "ewn")
def test_an_order_of_creation_holds_a_sort_token_once(tier: str) -> None:
    token = _build_token(tier, "k", NOW)
    order = build_creation_order(token)
    assert parse_creation_order(order) == token
    assert len(order) < len(token) - 12


def test_the_bound_of_a_tier_parts_it_where_all_tiers_together_are_parted() -> None:
    tokens = [
        _build_token(tier, key, time) for tier in "ewn" for key in "ab" for time in (NOW, NOW + 1)
    ]
    for before in tokens:
        for tier in "ewn":
            bound = build_creation_bound(tier, before)
            orders = {each: build_creation_order(each) for each in tokens if f"#mem_{tier}" in each}
            below = {each for each, order in orders.items() if order < bound}
            assert below == {each for each in orders if each < before}


def _build_token(tier: str, key: str, time: int) -> str:
    if tier == "n":
        return build_sort_token(build_semantic_address("acme", "notes", key), create_nonce(time))
    address = build_private_address("acme", "ada", "notes", key, tier)
    return build_sort_token(address, create_nonce(time))
