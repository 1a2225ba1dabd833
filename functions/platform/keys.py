"""Define the parts of keys: hashes of names, sortable times and ids, shards.

Each name is hashed under its kind, so no separator in a name can make two keys equal. The keys
themselves are in `functions.platform.item_types`.
"""

import secrets
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE

Key = tuple[str, str]
"""Partition and sort key of an item."""


class DueKey(NamedTuple):
    """The key of an item that is due; `due` is in epoch ms."""

    due: int
    key: Key


TENANT_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
BASE32 = "0-9a-hjkmnp-tv-z"
"""The characters of hashes, times and ids, as in a character class of a regular expression."""
HASH_CHARACTERS, TIME_CHARACTERS, SUFFIX_CHARACTERS = 26, 10, 6  # of 5 bits
AUDIT_POSITION_PATTERN = rf"[{BASE32}]{{{TIME_CHARACTERS + HASH_CHARACTERS}}}"
HIGHEST = "\U0010ffff"  # sorts behind all other characters
LOWEST = "\0"  # sorts before them; DynamoDB rejects an empty key
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's alphabet: sorts as the numbers do
_MAX_POSITION_CHARACTERS = 200
_DUE_SHARDS = 32  # each takes 1,000 changes a second
REMOVE_DUE = f"REMOVE {DUE_ATTRIBUTE}, {DUE_SHARD_ATTRIBUTE}"
"""The clause of an update after which an item is no longer due."""
DUE_SHARDS = tuple(str(number) for number in range(_DUE_SHARDS))
"""The shards of the index of due items."""


def encode_base32(number: int, characters: int) -> str:
    """Encode a number as text that sorts by it, in 5 bits a character."""
    return "".join(_ALPHABET[number >> 5 * i & 31] for i in reversed(range(characters)))


def decode_base32(text: str) -> int:
    """Decode a number."""
    number = 0
    for character in text:
        number = number << 5 | _ALPHABET.index(character)
    return number


class Digest(str):
    """A hash of a name: a template such as `{task:task}` does not hash it again."""

    __slots__ = ()


@lru_cache(maxsize=4096)
def hash_name(kind: str, name: str) -> Digest:
    """Hash a name for use in keys: 128 bits, which differ by kind of name."""
    digest = blake2b(name.encode(), digest_size=16, person=kind.encode()).digest()
    return Digest(encode_seed(digest))


hash_agent = partial(hash_name, "agent")
"""Hash an agent's id, for partitions and attribute names."""
hash_namespace = partial(hash_name, "namespace")
"""Hash a namespace's name, for the partition of its semantic memory and its permissions."""

hash_fact = partial(hash_name, "fact")
"""Hash a fact's id, for its key and for references to it."""


def encode_timestamp(timestamp: int) -> str:
    """Encode a time (epoch ms) as text that sorts by it."""
    return encode_base32(timestamp, TIME_CHARACTERS)


def build_list_position(created: int, id: str) -> str:
    """Build the position of an element in a list, newest first; `created` is in epoch ms.

    A sort key holds 1,024 bytes, so a long id is cut, and its hash is added.
    """
    if len(id) > _MAX_POSITION_CHARACTERS:
        id = f"{id[:_MAX_POSITION_CHARACTERS]}#{hash_name('position', id)}"
    return f"{encode_timestamp(created)}#{id}"


def decode_timestamp(text: str) -> int:
    """Decode the time (epoch ms) at the start of a nonce, an eviction order or a sort token."""
    return decode_base32(text[:TIME_CHARACTERS])


def encode_seed(seed: bytes) -> str:
    """Encode 16 bytes."""
    return encode_base32(int.from_bytes(seed), HASH_CHARACTERS)


def create_nonce(now: int) -> str:
    """Create a nonce, which tells ids of one natural key apart: the time and 30 random bits."""
    number = now << 5 * SUFFIX_CHARACTERS | secrets.randbits(5 * SUFFIX_CHARACTERS)
    return encode_base32(number, TIME_CHARACTERS + SUFFIX_CHARACTERS)


def build_id(prefix: str, seed: bytes) -> str:
    """Build an id such as `task_…` or `evt_…` from 16 bytes."""
    return f"{prefix}_{encode_seed(seed)}"


FIRST_AUDIT_POSITION = "0" * (TIME_CHARACTERS + HASH_CHARACTERS)


def build_audit_position(time: int, id: str) -> str:
    """Build the position of an audit record: its time (epoch ms), then its id without prefix."""
    return encode_timestamp(time) + id.rpartition("_")[2]


def get_tenant(partition: str) -> str:
    return partition.partition("#")[0]


def get_due_shard(partition: str) -> str:
    """Get the shard of a partition's items in the index of due items."""
    return str(crc32(partition.encode()) % _DUE_SHARDS)


def build_due_attributes(partition: str, due: int | None) -> dict[str, Any]:
    """Build the attributes that make an item due for the scheduled function.

    Args:
        due: when, in epoch ms; None for never.
    """
    shard = None if due is None else get_due_shard(partition)
    return {DUE_ATTRIBUTE: due, DUE_SHARD_ATTRIBUTE: shard}
