"""Positions and ids as text: in the order of the numbers, and the same when read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform.snapshot_keys import (
    entry_id,
    entry_item,
    first_position,
    hold_row,
    memory_name,
    memory_of_reference,
    memory_of_run,
    moment_of_position,
    new_luck,
    parse_memory_entry_id,
    position_of,
    reference,
    removal_row,
    run_id,
    tag_row,
)

AT_LAST = first_position(253_402_300_799_999) + 1023  # the end of the year 9999
positions = st.integers(0, AT_LAST)
names = st.text("ab:#0123456789\u0000é", max_size=5)


@given(one=positions, other=positions)
def test_text_sorts_as_the_numbers_do(one: int, other: int) -> None:
    texts = [entry_item("p", each)[1] for each in (one, other)]
    assert (texts[0] < texts[1]) == (one < other)


@given(position=positions)
def test_a_position_is_read_as_it_was_written(position: int) -> None:
    for _, sort in (
        entry_item("p", position),
        tag_row("p", "a#b", position),
        hold_row("p", position),
        removal_row("p", position),
    ):
        assert position_of(sort) == position
    luck = new_luck()
    assert parse_memory_entry_id(entry_id(position, luck)) == (position, luck)


@given(moment=st.integers(0, 253_402_300_799_999), more=st.integers(0, 1023))
def test_a_position_lies_in_its_millisecond(moment: int, more: int) -> None:
    assert moment_of_position(first_position(moment) + more) == moment
    assert first_position(moment) + more < first_position(moment + 1)


@given(one=st.tuples(names, names, names), other=st.tuples(names, names, names))
def test_different_names_are_different_memories(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (memory_name(*one) == memory_name(*other)) == (one == other)


@given(seed=st.binary(min_size=16, max_size=16), parts=st.tuples(names, names, names))
def test_handles_tell_their_memory(seed: bytes, parts: tuple[str, str, str]) -> None:
    memory = memory_name(*parts)
    assert memory_of_reference(reference(seed, memory)) == memory
    assert memory_of_run(run_id(seed, memory)) == memory


@pytest.mark.parametrize("text", ["", "mem_", "mref_", "run_", "mem_x", "\n", "mem_" + "u" * 22])
def test_what_has_another_form_is_nothing(text: str) -> None:
    assert memory_of_reference(text) is None
    assert memory_of_run(text) is None
    assert parse_memory_entry_id(text) is None
    assert memory_of_reference(reference(bytes(16), "0" * 25) + "\n") is None
