"""Vectors that clients give their entries: of unit length, in half precision, in order of time.

The write of an entry brings its vector along.
"""

from collections.abc import Iterable, Sequence
from math import fsum, sqrt
from struct import pack, unpack

from functions.platform.errors import ValidationFailed
from functions.platform.item_types import CLIENT_VECTOR, CLIENT_VECTOR_LENGTH
from functions.platform.items import Item
from functions.platform.keys import HIGHEST, Key, encode_timestamp
from functions.platform.table import Table
from functions.platform.writes import Write, delete, put, put_new

NUMBERS = "numbers"
"""The attribute that has a vector's numbers, or how many they are."""

_BYTES = 2  # of a number
_PAGE = 1_000  # vectors of a call
_MAX_REMEMBERED = 10_000  # lengths


class ClientVectorStore:
    """Reads and removes clients' vectors, and knows their lengths."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lengths: dict[str, int] = {}

    def get_length(self, partition: str) -> int | None:
        """Get the length of a partition's vectors, which never changes; None if it has none."""
        if partition not in self._lengths:
            item = self._table.get((partition, CLIENT_VECTOR_LENGTH.sort))
            if item is None:
                return None
            if len(self._lengths) >= _MAX_REMEMBERED:
                self._lengths.clear()
            self._lengths[partition] = item[NUMBERS]
        return self._lengths[partition]

    def get(self, partition: str, time: int, ref: str) -> bytes | None:
        """Return the vector that was written for an entry at a time (epoch ms), packed."""
        item = self._table.get(_build_key(partition, time, ref))
        return None if item is None else bytes(item[NUMBERS])

    def list_since(self, partition: str, time: int) -> Iterable[Item]:
        """List what was written since a time (epoch ms), oldest first, strongly consistent."""
        first = f"{CLIENT_VECTOR.sort_prefix}{encode_timestamp(max(time, 0))}"
        last = f"{CLIENT_VECTOR.sort_prefix}{HIGHEST}"
        return self._table.query_from(partition, first, last, _PAGE)

    def remove(self, vectors: Iterable[tuple[str, int, str]]) -> None:
        """Remove vectors by their partition, time (epoch ms) and entry: a call per 25."""
        self._table.write_many([delete(_build_key(*each)) for each in vectors])


def claim_vector_length(partition: str, length: int) -> Write:
    """Build the write of the length of a partition's vectors, if none is there yet."""
    return put_new((partition, CLIENT_VECTOR_LENGTH.sort), {NUMBERS: length})


def put_client_vector(partition: str, time: int, ref: str, packed: bytes) -> Write:
    """Build the write of an entry's vector, at a time (epoch ms)."""
    return put(_build_key(partition, time, ref), {NUMBERS: packed, "ref": ref, "time": time})


def _build_key(partition: str, time: int, ref: str) -> Key:
    return partition, CLIENT_VECTOR.sort.format(time=encode_timestamp(time), ref=ref)


def pack_vector(numbers: Sequence[float]) -> bytes:
    """Pack a vector, scaled to unit length: a cosine knows no length.

    Half precision changes a cosine by less than 0.001, and halves what is stored.
    """
    # divided by the largest first: squares of 1e200 would be infinite, those of 1e-200 zero
    largest = max(map(abs, numbers))
    if largest == 0:
        raise ValidationFailed("vector", "has no direction: all numbers are 0")
    scaled = [each / largest for each in numbers]
    length = sqrt(fsum(each * each for each in scaled))
    return pack(f"<{len(scaled)}e", *(each / length for each in scaled))


def unpack_vector(packed: bytes) -> list[float]:
    """Return the numbers of a packed vector."""
    return list(unpack(f"<{count_numbers(packed)}e", packed))


def count_numbers(packed: bytes) -> int:
    """Count the numbers of a packed vector."""
    return len(packed) // _BYTES
