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
_RUN_ID = re.compile(rf"run_[{BASE32}]{{{HASH_CHARACTERS}}}")
_REFERENCE = re.compile(rf"mref_[{BASE32}]{{{HASH_CHARACTERS}}}([{BASE32}]{{{HASH_CHARACTERS}}})")


def get_first_sequence(now: int) -> int:
    """Get the first sequence number of a millisecond."""
    return now << _BITS


def get_timestamp_of_sequence(sequence: int) -> int:
    """Get the time (epoch ms) of a sequence number."""
    return sequence >> _BITS


def encode_sequence(sequence: int) -> str:
    """Encode a sequence number as text that sorts by it."""
    # The fourth number of the millisecond 1700000000000 is "01hf7yat00" + "03", in base 32: ten
    # characters of the time, and two for the ten bits within it.
    within = encode_timestamp(sequence & (1 << _BITS) - 1)
    return encode_timestamp(sequence >> _BITS) + within[-(_BITS // 5) :]


def parse_sequence(text: str) -> int:
    within = len(text) - _BITS // 5
    return decode_timestamp(text[:within]) << _BITS | decode_timestamp(text[within:])


def parse_sort_sequence(sort: str) -> int:
    """Parse the sequence number that the sort key of an entry or of a tag's row ends with."""
    return parse_sequence(sort.rpartition("#")[2])


def hash_memory(owner_kind: str, owner: str, agent: str, scope: str) -> str:
    """Hash what names a memory: whose it is, for which agent and scope.

    Args:
        owner_kind: `principal` or `agent_type`.
    """
    names = "".join(f"{len(name)}:{name}" for name in (owner_kind, owner, agent, scope))
    return hash_name("memory", names)


def build_reference(seed: bytes, memory: str) -> str:
    """Build a memory's reference; `seed` is a message authentication code of 16 bytes."""
    return build_id("mref", seed) + memory


def parse_reference(text: str) -> str | None:
    """Parse the hash of the memory that a reference names; None if it has no such form."""
    match = _REFERENCE.fullmatch(text)
    return match and match[1]


def build_memory_run_id(seed: bytes) -> str:
    """Build the id of a run; `seed` has 16 bytes that can't be guessed."""
    return build_id("run", seed)


def is_memory_run_id(text: str) -> bool:
    """Tell whether a text has the form of a run's id."""
    return _RUN_ID.fullmatch(text) is not None


def create_random_suffix() -> str:
    """Create 50 random bits, by which an entry's id fits no other memory and can't be guessed."""
    return encode_seed(secrets.token_bytes(16))[-_SUFFIX:]


def build_memory_entry_id(sequence: int, suffix: str) -> str:
    return f"mem_{encode_sequence(sequence)}{suffix}"


def parse_memory_entry_id(text: str) -> tuple[int, str] | None:
    """Parse sequence number and random suffix of an entry's id; None if it has no such form."""
    match = _ENTRY_ID.fullmatch(text)
    return match and (parse_sequence(match[1]), match[2])


def build_memory_partition(tenant: str, memory: str) -> str:
    return item_types.MEMORY.build_partition(tenant, memory=memory)


def build_owned_memories_partition(tenant: str, owner_kind: str, owner: str) -> str:
    """Build the partition, in the index by group, of the memories of an owner."""
    return f"{tenant}#o#{hash_name(owner_kind, owner)}"


def build_memory_entry_key(partition: str, sequence: int) -> Key:
    return partition, item_types.MEMORY_ENTRY.build_sort(sequence=encode_sequence(sequence))


def build_tag_prefix(tag: str) -> str:
    """Build what the sort keys of the rows of a tag begin with."""
    return item_types.TAG_ROW.build_sort(tag=hash_name("tag", tag), sequence="")


def build_tag_row_key(partition: str, tag: str, sequence: int) -> Key:
    """Build the key of the row by which the entry at a sequence number is found by a tag."""
    return partition, build_tag_prefix(tag) + encode_sequence(sequence)


def get_pin_range(after: int, before: int) -> tuple[str, str]:
    """Get the first and the last sort key of the pins between two sequence numbers."""
    first, last = encode_sequence(after + 1), encode_sequence(before - 1)
    return (
        item_types.SNAPSHOT_PIN.build_sort(sequence=first, run=""),
        item_types.SNAPSHOT_PIN.build_sort(sequence=last, run="~"),
    )


def build_snapshot_pin_key(partition: str, sequence: int, run: str) -> Key:
    """Build the key of what keeps a run's snapshot, which is at a sequence number."""
    sort = item_types.SNAPSHOT_PIN.build_sort(sequence=encode_sequence(sequence), run=run)
    return partition, sort


def build_started_runs_partition(tenant: str, principal: str) -> str:
    """Build the partition, in the index by group, of the runs that a principal started."""
    return f"{tenant}#l#{hash_name('principal', principal)}"
