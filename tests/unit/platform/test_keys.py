"""Keys and ids: what is built is parsed again, and sorts as it should."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform import entry_keys, item_types, run_keys
from functions.platform.errors import EntryNotFound
from functions.platform.keys import (
    create_nonce,
    decode_timestamp,
    encode_seed,
    encode_timestamp,
    get_due_shard,
    get_tenant,
    hash_name,
)

TIMES = st.integers(min_value=0, max_value=2**49)


@given(TIMES, TIMES)
def test_times_sort_as_text(one: int, other: int) -> None:
    assert decode_timestamp(encode_timestamp(one)) == one
    assert (encode_timestamp(one) < encode_timestamp(other)) == (one < other)


@pytest.mark.parametrize("tier", ["w", "e"])
def test_an_entry_id_holds_its_address(tier: str) -> None:
    address = entry_keys.build_private_address("acme", "ada", "notes", "k", tier)
    nonce = create_nonce(1_763_800_000_000)
    assert entry_keys.parse_entry_id("acme", address.build_id(nonce)) == (address, nonce)
    assert entry_keys.parse_entry_key(address.item_key, tier) == address
    assert address.is_owned_by("ada")
    assert not address.is_owned_by("bob")


def test_working_and_episodic_memory_share_an_item() -> None:
    working, episodic = (
        entry_keys.build_private_address("acme", "ada", "notes", "k", tier) for tier in "we"
    )
    assert working.item_key == episodic.item_key
    assert working != episodic


@pytest.mark.parametrize("text", ["", "mem_", "mem_x" + "0" * 74, "task_1", "mem_w" + "I" * 74])
def test_what_is_no_entry_id_is_not_parsed(text: str) -> None:
    with pytest.raises(EntryNotFound):
        entry_keys.parse_entry_id("acme", text)
    assert not list(entry_keys.parse_item_keys("acme", [text]))


def test_a_name_has_another_hash_for_each_kind() -> None:
    assert hash_name("agent", "x") != hash_name("namespace", "x")


def test_a_hash_of_a_name_has_128_bits() -> None:
    assert len(hash_name("agent", "x")) == len(encode_seed(bytes(16))) == 26
    assert len({encode_seed((1 << bit).to_bytes(16)) for bit in range(128)}) == 128


def test_a_partition_names_its_tenant_and_shard() -> None:
    partition = item_types.AGENT.build_partition("acme", agent="ada")
    assert get_tenant(partition) == "acme"
    assert get_due_shard(partition) in {str(number) for number in range(32)}


def test_a_run_id_holds_its_address() -> None:
    address = run_keys.create_run_address("acme", "sdr", bytes(16), 1_763_800_000_000)
    run_id = address.unsigned_id + encode_seed(bytes(range(16)))
    assert run_keys.parse_run_id("acme", run_id) == address
