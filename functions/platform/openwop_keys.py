"""Keys of OpenWOP memories. All of a memory is in one partition, its entries by sequence number.

Each write of a memory takes a sequence number that is higher than all before (decision 20):
milliseconds since the epoch, and ten bits for what happens within one.
"""

import re
import secrets

from functions.platform import item_types
from functions.platform.keys import (
    BASE32,
    HASH_CHARACTERS,
    Key,
    build_id,
    decode_timestamp,
    encode_seed,
    encode_timestamp,
    hash_name,
)

_BITS = 10
_SEQUENCE, _SUFFIX = 12, 10  # characters of 5 bits
_ENTRY_ID = re.compile(rf"mem_([{BASE32}]{{{_SEQUENCE}}})([{BASE32}]{{{_SUFFIX}}})")
_RUN_ID = re.compile(rf"run_[{BASE32}]{{{HASH_CHARACTERS}}}([{BASE32}]{{{HASH_CHARACTERS}}})")
_REFERENCE = re.compile(rf"mref_[{BASE32}]{{{HASH_CHARACTERS}}}([{BASE32}]{{{HASH_CHARACTERS}}})")


def get_first_sequence(now: int) -> int:
    """Get the first sequence number of a millisecond."""
    return now << _BITS


def get_timestamp_of_sequence(sequence: int) -> int:
    """Get the time (epoch ms) of a sequence number."""
    return sequence >> _BITS


def encode_sequence(sequence: int) -> str:
    """Encode a sequence number as text that sorts by it."""
    within = encode_timestamp(sequence & (1 << _BITS) - 1)
    return encode_timestamp(sequence >> _BITS) + within[-(_BITS // 5) :]


def parse_sequence(sort: str) -> int:
    """Parse the sequence number that a sort key ends with."""
    text = sort.rpartition("#")[2]
    within = len(text) - _BITS // 5
    return decode_timestamp(text[:within]) << _BITS | decode_timestamp(text[within:])


def hash_memory(principal: str, agent: str, scope: str) -> str:
    """Hash what names a memory: who created it, for which agent and scope."""
    names = "".join(f"{len(name)}:{name}" for name in (principal, agent, scope))
    return hash_name("memory", names)


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


def build_memory_entry_id(sequence: int, suffix: str) -> str:
    """Build the id of the entry at a sequence number."""
    return f"mem_{encode_sequence(sequence)}{suffix}"


def parse_memory_entry_id(text: str) -> tuple[int, str] | None:
    """Parse sequence number and random suffix of an entry's id; None if it has no such form."""
    match = _ENTRY_ID.fullmatch(text)
    return match and (parse_sequence(match[1]), match[2])


def build_memory_partition(tenant: str, memory: str) -> str:
    """Build the partition of a memory."""
    return item_types.MEMORY.build_partition(tenant=tenant, memory=memory)


def build_memory_key(partition: str) -> Key:
    """Build the key of the item that holds the latest sequence number of a memory."""
    return partition, item_types.MEMORY.build_sort()


def build_memory_entry_key(partition: str, sequence: int) -> Key:
    """Build the key of the entry at a sequence number."""
    return partition, item_types.MEMORY_ENTRY.build_sort(sequence=encode_sequence(sequence))


def build_tag_prefix(tag: str) -> str:
    """Build what the sort keys of the rows of a tag begin with."""
    return item_types.TAG_ROW.build_sort(tag=hash_name("tag", tag), sequence="")


def build_tag_row_key(partition: str, tag: str, sequence: int) -> Key:
    """Build the key of the row by which the entry at a sequence number is found by a tag."""
    return partition, build_tag_prefix(tag) + encode_sequence(sequence)


def build_deletion_key(partition: str, sequence: int) -> Key:
    """Build the key of the row that says which entry was deleted at a sequence number."""
    return partition, item_types.DELETION.build_sort(sequence=encode_sequence(sequence))


def build_snapshot_pin_key(partition: str, sequence: int) -> Key:
    """Build the key of the row of an open run, at the sequence number of its snapshot."""
    return partition, item_types.SNAPSHOT_PIN.build_sort(sequence=encode_sequence(sequence))


def build_memory_run_key(partition: str, run: str) -> Key:
    """Build the key of a run."""
    return partition, item_types.MEMORY_RUN.build_sort(run=run)


def build_run_secrets_key(partition: str, run: str) -> Key:
    """Build the key of the encrypted secrets of a run."""
    return partition, item_types.RUN_SECRETS.build_sort(run=run)


def build_put_request_key(partition: str, key: bytes) -> Key:
    """Build the key of what says at which sequence number an Idempotency-Key's entry is."""
    return partition, item_types.PUT_REQUEST.build_sort(request=key.hex())
