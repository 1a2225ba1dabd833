"""Search the vectors that clients give their entries, exactly and in memory.

A search reads what was written since the one before, strongly consistent: so it finds what was
written before it began. All vectors of a partition have one length.
"""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.vectors.client_vector_store import NUMBERS, ClientVectorStore, count_numbers
from functions.vectors.in_memory_vectors import decode_vectors
from functions.vectors.matrix import HeldSpaces, RowKey, TextMatrix, VectorSpace

_OVERLAP = 30_000  # ms; as long as a request has, and the largest difference of clocks
_BATCH = 500  # vectors that are decoded at once
_MAX_HELD_BYTES = 256_000_000


class ClientHit(NamedTuple):
    """A result of a search by vector.

    Attributes:
        ref: the id of the entry.
        time: when the vector was written (epoch ms).
        score: the cosine of query and vector, at most 1.
    """

    ref: str
    time: int
    score: float


class ClientVectorIndex:
    """Searches clients' vectors exactly, in memory. Safe for use by several threads."""

    max_results = 10_000
    """The largest number of hits that one search gives."""

    def __init__(self, store: ClientVectorStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._spaces = HeldSpaces(VectorSpace, _MAX_HELD_BYTES)

    def find_nearest(
        self, partition: str, packed: bytes, depth: int
    ) -> tuple[list[ClientHit], bool]:
        """Find the `depth` vectors that are nearest by cosine, best first, and whether that is all.

        Args:
            partition: whose vectors, all as long as `packed`.
            packed: the query's vector.
            depth: how many hits to give at most; some of them may stand for entries that are gone.
        """
        (query,) = decode_vectors([packed], count_numbers(packed))
        with self._spaces.use(partition) as space:
            self._refresh(partition, space, len(query))
            found = space.matrix.find_nearest(query, depth)
        hits = [ClientHit(ref, time, min(round(cosine, 4), 1.0)) for ref, time, cosine in found]
        return hits, len(hits) < depth

    def forget(self, partition: str, hits: Iterable[ClientHit]) -> None:
        """Forget hits whose entries are gone, or have another vector."""
        with self._spaces.use(partition) as space:
            for hit in hits:
                space.matrix.forget(hit.ref, hit.time)

    def _refresh(self, partition: str, space: VectorSpace, dimension: int) -> None:
        now = self._clock()
        items = self._store.list_since(partition, space.refreshed - _OVERLAP)
        new = (item for item in items if _is_new(item, space.matrix))
        while batch := list(islice(new, _BATCH)):
            keys = [RowKey(item["ref"], {}, item["time"]) for item in batch]
            vectors = decode_vectors([bytes(item[NUMBERS]) for item in batch], dimension)
            space.matrix.put_many(keys, vectors)
        space.refreshed = now


def _is_new(item: Item, matrix: TextMatrix) -> bool:
    """Tell whether an item may be newer than what is held of its entry."""
    written = matrix.written_at(item["ref"])
    return written is None or written <= item["time"]
