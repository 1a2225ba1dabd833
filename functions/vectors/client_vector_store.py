"""Vectors that clients give their entries: of unit length, in half precision, in order of time.

The write of an entry includes its vector. A search reads all vectors written since the last search,
strongly consistent, so it finds everything written before it began. It is exact, and in memory.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice, repeat
from math import fsum, sqrt
from struct import pack, unpack

from functions.platform.clock import Clock
from functions.platform.errors import ValidationFailed
from functions.platform.item_types import CLIENT_VECTOR, CLIENT_VECTOR_LENGTH
from functions.platform.items import Item
from functions.platform.keys import HIGHEST
from functions.platform.table import Table
from functions.platform.writes import Write, delete, put, put_new
from functions.vectors.matrix import HeldSpace, HeldSpaces, RowKey, TextMatrix, decode_vectors
from functions.vectors.model import Candidates, Embedding, Hit

_NUMBERS = "numbers"  # the attribute with a vector's numbers, or with their count
_BYTES = 2  # of a number
_PAGE = 1_000  # vectors of a call
_MAX_REMEMBERED = 10_000  # lengths
_OVERLAP = 30_000  # ms; the time of a request, and the largest difference of clocks
_BATCH = 500  # vectors that are decoded at once
_MAX_HELD_BYTES = 256_000_000


class ClientVectorStore:
    """Reads, searches and removes clients' vectors. Safe for use by several threads.

    All vectors of a partition have one length, which never changes.
    """

    max_results = 10_000
    """The largest number of hits of one search."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._lengths: dict[str, int] = {}
        self._spaces = HeldSpaces(HeldSpace, _MAX_HELD_BYTES)

    def get_length(self, partition: str) -> int | None:
        """Get the length of a partition's vectors; None if it has none."""
        if partition not in self._lengths:
            item = self._table.get((partition, CLIENT_VECTOR_LENGTH.sort))
            if item is None:
                return None
            if len(self._lengths) >= _MAX_REMEMBERED:
                self._lengths.clear()
            self._lengths[partition] = item[_NUMBERS]
        return self._lengths[partition]

    def get(self, partition: str, time: int, ref: str) -> bytes | None:
        """Return the vector that was written for an entry at a time (epoch ms), packed."""
        item = self._table.get(CLIENT_VECTOR.build_key_in(partition, time=time, ref=ref))
        return None if item is None else bytes(item[_NUMBERS])

    def remove(self, vectors: Iterable[tuple[str, int, str]]) -> None:
        """Remove vectors by their partition, time (epoch ms) and entry: a call per 25."""
        build = CLIENT_VECTOR.build_key_in
        keys = (build(partition, time=time, ref=ref) for partition, time, ref in vectors)
        self._table.write_many([delete(key) for key in keys])

    def find_candidates(self, partition: str, packed: bytes, depth: int) -> Candidates:
        """Find the `depth` vectors that are nearest by cosine.

        Args:
            partition: whose vectors, all as long as `packed`.
            depth: how many hits to give at most; some of them may stand for entries that are gone.
        """
        query = Embedding((array("f", unpack_vector(packed)),), {})
        with self._spaces.use(partition) as space:
            self._refresh(partition, space, count_numbers(packed))
            return space.matrix.find_candidates(query, depth, {})

    def _refresh(self, partition: str, space: HeldSpace, dimension: int) -> None:
        now = self._clock()
        first = CLIENT_VECTOR.build_sort_prefix(time=max(space.refreshed - _OVERLAP, 0))
        last = f"{CLIENT_VECTOR.sort_prefix}{HIGHEST}"
        items = self._table.query(partition, first, last, _PAGE)
        new = (item for item in items if _is_new(item, space.matrix))
        while batch := list(islice(new, _BATCH)):
            keys = [RowKey(item["ref"], {}, item["time"]) for item in batch]
            vectors = decode_vectors([bytes(item[_NUMBERS]) for item in batch], dimension)
            space.matrix.put_texts(keys, vectors, repeat((), len(keys)))
        space.refreshed = now

    def forget(self, partition: str, hits: Iterable[Hit]) -> None:
        """Drop hits of removed entries, and of entries with another vector."""
        with self._spaces.use(partition) as space:
            for hit in hits:
                space.matrix.forget(hit.ref, hit.written)


def _is_new(item: Item, matrix: TextMatrix) -> bool:
    """Tell whether an item may be newer than the held vector of its entry."""
    written = matrix.written_at(item["ref"])
    return written is None or written <= item["time"]


def claim_vector_length(partition: str, length: int) -> Write:
    """Build the write of the length of a partition's vectors, on condition that none is stored."""
    return put_new((partition, CLIENT_VECTOR_LENGTH.sort), {_NUMBERS: length})


def put_client_vector(partition: str, time: int, ref: str, packed: bytes) -> Write:
    """Build the write of an entry's vector, at a time (epoch ms)."""
    key = CLIENT_VECTOR.build_key_in(partition, time=time, ref=ref)
    return put(key, {_NUMBERS: packed, "ref": ref, "time": time})


def pack_vector(numbers: Sequence[float]) -> bytes:
    """Pack a vector, scaled to unit length, which does not change cosines.

    Half precision changes a cosine by less than 0.001, and halves the size. Example: (3, 4) becomes
    (0.6, 0.8) in four bytes.
    """
    # divided by the largest first: squares of 1e200 would be infinite, those of 1e-200 zero
    largest = max(map(abs, numbers))
    if largest == 0:
        raise ValidationFailed("vector", "must have a number other than 0")
    scaled = [each / largest for each in numbers]
    length = sqrt(fsum(each * each for each in scaled))
    return pack(f"<{len(scaled)}e", *(each / length for each in scaled))


def unpack_vector(packed: bytes) -> list[float]:
    """Return the numbers of a packed vector."""
    return list(unpack(f"<{count_numbers(packed)}e", packed))


def count_numbers(packed: bytes) -> int:
    return len(packed) // _BYTES
