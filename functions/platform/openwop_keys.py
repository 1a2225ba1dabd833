"""Names, ids and sequence numbers of OpenWOP memories.

All items of a memory are in one partition, its entries by sequence number.

Each write of a memory takes a sequence number that is higher than all before (decision 20):
milliseconds since the epoch, and ten bits for writes of one millisecond.
"""

import re
import secrets

from functions.platform.keys import (
    BASE32,
    HASH_CHARACTERS,
    build_id,
    decode_base32,
    encode_base32,
    encode_seed,
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


def hash_memory(owner_kind: str, owner: str, agent: str, scope: str) -> str:
    """Hash the name of a memory: its owner, agent and scope.

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
    """Create 50 random bits, which make an entry's id unguessable, and unique to its memory."""
    return encode_seed(secrets.token_bytes(16))[-_SUFFIX:]


def build_memory_entry_id(sequence: int, suffix: str) -> str:
    return f"mem_{encode_base32(sequence, _SEQUENCE)}{suffix}"


def parse_memory_entry_id(text: str) -> tuple[int, str] | None:
    """Parse sequence number and random suffix of an entry's id; None if it has no such form."""
    match = _ENTRY_ID.fullmatch(text)
    return match and (decode_base32(match[1]), match[2])
