"""Keys of OpenWOP memories. All of a memory is in one partition, its entries by position.

A position is a number that each write of a memory takes, higher than all before (decision 20):
milliseconds since the epoch, and ten bits that tell apart what happens within one.
"""

import re
import secrets

from functions.platform import item_types
from functions.platform.keys import (
    BASE32,
    Key,
    build_id,
    decode_timestamp,
    encode_seed,
    encode_timestamp,
    hash_name,
)

_BITS = 10
_POSITION, _SUFFIX, _MEMORY, _SEED = 12, 10, 25, 26  # characters of 5 bits
_ENTRY_ID = re.compile(rf"mem_([{BASE32}]{{{_POSITION}}})([{BASE32}]{{{_SUFFIX}}})")
_RUN_ID = re.compile(rf"run_[{BASE32}]{{{_SEED}}}([{BASE32}]{{{_MEMORY}}})")
_REFERENCE = re.compile(rf"mref_[{BASE32}]{{{_SEED}}}([{BASE32}]{{{_MEMORY}}})")


def get_first_position(now: int) -> int:
    """Get the first position of a millisecond."""
    return now << _BITS


def get_timestamp_of_position(position: int) -> int:
    """Get the time (epoch ms) of a position."""
    return position >> _BITS


def encode_position(position: int) -> str:
    """Encode a position as text that sorts by it."""
    within = encode_timestamp(position & (1 << _BITS) - 1)
    return encode_timestamp(position >> _BITS) + within[-(_BITS // 5) :]


def parse_position(sort: str) -> int:
    """Parse the position that a sort key ends with."""
    text = sort.rpartition("#")[2]
    within = len(text) - _BITS // 5
    return decode_timestamp(text[:within]) << _BITS | decode_timestamp(text[within:])


def hash_memory(principal: str, agent: str, scope: str) -> str:
    """Hash what names a memory, in 125 bits: who created it, for which agent and scope."""
    names = "".join(f"{len(name)}:{name}" for name in (principal, agent, scope))
    return hash_name("memory", names, _MEMORY)


def build_reference(seed: bytes, memory: str) -> str:
    """Build a memory's reference; `seed` is a message authentication code of 16 bytes."""
    return build_id("mref", seed) + memory


def parse_reference(text: str) -> str | None:
    """Parse the hash of the memory that a reference names; None if it has no such form."""
    match = _REFERENCE.fullmatch(text)
    return match and match[1]


def build_memory_run_id(seed: bytes, memory: str) -> str:
    """Build the id of a run on a memory."""
    return build_id("run", seed) + memory


def parse_memory_run_id(text: str) -> str | None:
    """Parse the hash of the memory that a run's id names; None if it has no such form."""
    match = _RUN_ID.fullmatch(text)
    return match and match[1]


def create_random_suffix() -> str:
    """Create 50 random bits, by which an entry's id fits no other memory and can't be guessed."""
    return encode_seed(secrets.token_bytes(16))[-_SUFFIX:]


def build_memory_entry_id(position: int, suffix: str) -> str:
    """Build the id of the entry at a position."""
    return f"mem_{encode_position(position)}{suffix}"


def parse_memory_entry_id(text: str) -> tuple[int, str] | None:
    """Parse position and random suffix of an entry's id; None if it has no such form."""
    match = _ENTRY_ID.fullmatch(text)
    return match and (parse_position(match[1]), match[2])


def build_memory_partition(tenant: str, memory: str) -> str:
    """Build the partition of a memory."""
    return item_types.MEMORY.build_partition(tenant=tenant, memory=memory)


def build_memory_key(partition: str) -> Key:
    """Build the key of the item that holds the latest position of a memory."""
    return partition, item_types.MEMORY.build_sort()


def build_memory_entry_key(partition: str, position: int) -> Key:
    """Build the key of the entry at a position."""
    return partition, item_types.MEMORY_ENTRY.build_sort(position=encode_position(position))


def build_tag_prefix(tag: str) -> str:
    """Build what the sort keys of the rows of a tag begin with."""
    return item_types.TAG_ROW.build_sort(tag=hash_name("tag", tag), position="")


def build_tag_row_key(partition: str, tag: str, position: int) -> Key:
    """Build the key of the row by which the entry at a position is found by a tag."""
    return partition, build_tag_prefix(tag) + encode_position(position)


def build_removal_key(partition: str, position: int) -> Key:
    """Build the key of the row that says which entry was deleted at a position."""
    return partition, item_types.REMOVAL.build_sort(position=encode_position(position))


def build_snapshot_pin_key(partition: str, position: int) -> Key:
    """Build the key of the row of an open run, at the position of its snapshot."""
    return partition, item_types.SNAPSHOT_PIN.build_sort(position=encode_position(position))


def build_memory_run_key(partition: str, run: str) -> Key:
    """Build the key of a run."""
    return partition, item_types.MEMORY_RUN.build_sort(run=run)


def build_run_secrets_key(partition: str, run: str) -> Key:
    """Build the key of the encrypted secrets of a run."""
    return partition, item_types.RUN_SECRETS.build_sort(run=run)


def build_put_request_key(partition: str, key: bytes) -> Key:
    """Build the key of what says at which position an Idempotency-Key's entry is."""
    return partition, item_types.PUT_REQUEST.build_sort(request=key.hex())
