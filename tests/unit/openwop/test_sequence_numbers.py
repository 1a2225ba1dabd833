"""Sequence numbers and ids as text: in the order of the numbers, and the same when read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform.item_types import MEMORY_ENTRY, TAG_ROW
from functions.platform.openwop_keys import (
    build_memory_entry_id,
    build_memory_run_id,
    build_reference,
    create_random_suffix,
    get_first_sequence,
    get_timestamp_of_sequence,
    hash_memory,
    is_memory_run_id,
    parse_memory_entry_id,
    parse_reference,
)

LAST = get_first_sequence(253_402_300_799_999) + 1023  # the end of the year 9999
sequences = st.integers(0, LAST)
names = st.text("ab:#0123456789\u0000é", max_size=5)


@given(one=sequences, other=sequences)
def test_text_sorts_as_the_numbers_do(one: int, other: int) -> None:
    texts = [
        (
            MEMORY_ENTRY.build_sort(sequence=each),
            TAG_ROW.build_sort(tag="a#b", sequence=each),
            build_memory_entry_id(each, ""),
        )
        for each in (one, other)
    ]
    assert all((first < second) == (one < other) for first, second in zip(*texts, strict=True))


@given(sequence=sequences)
def test_a_sequence_number_is_parsed_as_it_was_built(sequence: int) -> None:
    suffix = create_random_suffix()
    assert parse_memory_entry_id(build_memory_entry_id(sequence, suffix)) == (sequence, suffix)


@given(moment=st.integers(0, 253_402_300_799_999), more=st.integers(0, 1023))
def test_a_sequence_number_belongs_to_its_millisecond(moment: int, more: int) -> None:
    assert get_timestamp_of_sequence(get_first_sequence(moment) + more) == moment
    assert get_first_sequence(moment) + more < get_first_sequence(moment + 1)


@given(one=st.tuples(names, names, names, names), other=st.tuples(names, names, names, names))
def test_different_names_are_different_memories(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    assert (hash_memory(*one) == hash_memory(*other)) == (one == other)


@given(seed=st.binary(min_size=16, max_size=16), name=names)
def test_a_reference_names_its_memory(seed: bytes, name: str) -> None:
    memory = hash_memory("principal", name, name, name)
    assert parse_reference(build_reference(seed, memory)) == memory
    assert is_memory_run_id(build_memory_run_id(seed))


@pytest.mark.parametrize("text", ["", "mem_", "mref_", "run_", "mem_x", "\n", "mem_" + "u" * 22])
def test_text_of_another_form_is_rejected(text: str) -> None:
    assert parse_reference(text) is None
    assert not is_memory_run_id(text)
    assert parse_memory_entry_id(text) is None
    assert parse_reference(build_reference(bytes(16), "0" * 25) + "\n") is None
