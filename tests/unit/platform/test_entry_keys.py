"""Contract §2: names with any characters never collide in keys and ids."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from functions.platform.entry_keys import (
    build_agent_partition,
    build_index_prefix,
    build_private_address,
    build_semantic_address,
    parse_entry_id,
)

NONCE = "0" * 16
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
    prefixes = [build_index_prefix(each) for each in (one, other)]
    assert prefixes[0].startswith(prefixes[1]) == (one == other)
    partitions = [build_agent_partition("t", each) for each in (one, other)]
    assert (partitions[0] == partitions[1]) == (one == other)
