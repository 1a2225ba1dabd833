"""Positions and ids as text: in the order of the numbers, and the same when read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform.openwop_keys import (
    build_memory_entry_id,
    build_memory_entry_key,
    build_memory_run_id,
    build_reference,
    build_removal_key,
    build_snapshot_pin_key,
    build_tag_row_key,
    create_random_suffix,
    get_first_position,
    get_timestamp_of_position,
    hash_memory,
    parse_memory_entry_id,
    parse_memory_run_id,
    parse_position,
    parse_reference,
)

AT_LAST = get_first_position(253_402_300_799_999) + 1023  # the end of the year 9999
positions = st.integers(0, AT_LAST)
names = st.text("ab:#0123456789\u0000é", max_size=5)


@given(one=positions, other=positions)
def test_text_sorts_as_the_numbers_do(one: int, other: int) -> None:
    texts = [build_memory_entry_key("p", each)[1] for each in (one, other)]
    assert (texts[0] < texts[1]) == (one < other)


@given(position=positions)
def test_a_position_is_read_as_it_was_written(position: int) -> None:
    for _, sort in (
        build_memory_entry_key("p", position),
        build_tag_row_key("p", "a#b", position),
        build_snapshot_pin_key("p", position),
        build_removal_key("p", position),
    ):
        assert parse_position(sort) == position
    luck = create_random_suffix()
    assert parse_memory_entry_id(build_memory_entry_id(position, luck)) == (position, luck)


@given(moment=st.integers(0, 253_402_300_799_999), more=st.integers(0, 1023))
def test_a_position_lies_in_its_millisecond(moment: int, more: int) -> None:
    assert get_timestamp_of_position(get_first_position(moment) + more) == moment
    assert get_first_position(moment) + more < get_first_position(moment + 1)


@given(one=st.tuples(names, names, names), other=st.tuples(names, names, names))
def test_different_names_are_different_memories(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (hash_memory(*one) == hash_memory(*other)) == (one == other)


@given(seed=st.binary(min_size=16, max_size=16), parts=st.tuples(names, names, names))
def test_handles_tell_their_memory(seed: bytes, parts: tuple[str, str, str]) -> None:
    memory = hash_memory(*parts)
    assert parse_reference(build_reference(seed, memory)) == memory
    assert parse_memory_run_id(build_memory_run_id(seed, memory)) == memory


@pytest.mark.parametrize("text", ["", "mem_", "mref_", "run_", "mem_x", "\n", "mem_" + "u" * 22])
def test_what_has_another_form_is_nothing(text: str) -> None:
    assert parse_reference(text) is None
    assert parse_memory_run_id(text) is None
    assert parse_memory_entry_id(text) is None
    assert parse_reference(build_reference(bytes(16), "0" * 25) + "\n") is None
