"""Search the vectors that clients give their entries, exactly and in memory.

A search reads what was written since the one before, strongly consistent: so it finds what was
written before it began. All vectors of a partition have one length.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import NamedTuple

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.vectors.client_vector_store import NUMBERS, ClientVectorStore

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


@dataclass(slots=True)
class _Space:
    """The vectors of a partition in one block of memory; a row that is removed has no ref."""

    lock: Lock = field(default_factory=Lock)
    rows: dict[str, int] = field(default_factory=dict)
    refs: list[str | None] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    numbers: "array[float]" = field(default_factory=lambda: array("f"))
    refreshed: int = 0  # epoch ms

    @property
    def size(self) -> int:
        """The bytes of the vectors."""
        return len(self.numbers) * self.numbers.itemsize

    def is_new(self, item: Item) -> bool:
        """Tell whether an item may be newer than what is held of its entry."""
        row = self.rows.get(item["ref"])
        return row is None or self.times[row] <= item["time"]

    def apply(self, items: list[Item]) -> None:
        """Hold vectors, each in the place of its entry's older one."""
        import numpy as np  # noqa: PLC0415 - 70 ms, and most requests search nothing

        block = np.frombuffer(b"".join(item[NUMBERS] for item in items), "<f2")
        vectors = block.reshape(len(items), -1).astype(np.float32)
        for item, vector in zip(items, vectors, strict=True):
            if not self.is_new(item):
                continue
            row = self.rows.setdefault(item["ref"], len(self.refs))
            if row == len(self.refs):
                self.refs.append(None)
                self.times.append(0)
                self.numbers.frombytes(bytes(vector.nbytes))
            self.refs[row], self.times[row] = item["ref"], item["time"]
            place = slice(row * len(vector), (row + 1) * len(vector))
            self.numbers[place] = array("f", vector.tobytes())

    def find_nearest(self, packed: bytes, depth: int) -> tuple[list[ClientHit], bool]:
        """Find the nearest vectors, best first, and whether these are all that there are."""
        import numpy as np  # noqa: PLC0415 - as above

        if not self.refs:
            return [], True
        query = np.frombuffer(packed, "<f2").astype(np.float32)
        cosines = np.frombuffer(self.numbers, np.float32).reshape(len(self.refs), -1) @ query
        count = min(depth, len(cosines))
        best = np.argpartition(-cosines, count - 1)[:count]
        best = best[np.argsort(-cosines[best], kind="stable")]
        hits = [
            ClientHit(ref, self.times[row], min(round(float(cosines[row]), 4), 1.0))
            for row in best.tolist()
            if (ref := self.refs[row]) is not None
        ]
        return hits, count == len(cosines)

    def forget(self, hits: Iterable[ClientHit]) -> None:
        """Leave out vectors whose entries are gone; a vector of zeros is near to nothing."""
        for hit in hits:
            row = self.rows.get(hit.ref)
            if row is not None and self.times[row] == hit.time:
                width = len(self.numbers) // len(self.refs)
                self.numbers[row * width : (row + 1) * width] = array("f", bytes(4 * width))
                self.refs[row] = None


class ClientVectorIndex:
    """Searches clients' vectors exactly, in memory. Safe for use by several threads."""

    max_results = 10_000
    """The largest number of hits that one search gives."""

    def __init__(self, store: ClientVectorStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._spaces: OrderedDict[str, _Space] = OrderedDict()

    def find_nearest(
        self, partition: str, packed: bytes, depth: int
    ) -> tuple[list[ClientHit], bool]:
        """Find the `depth` vectors that are nearest by cosine, best first, and whether that is all.

        Args:
            partition: whose vectors, all as long as `packed`.
            packed: the query's vector.
            depth: how many hits to give at most; some of them may stand for entries that are gone.
        """
        space = self._get_space(partition)
        with space.lock:
            self._refresh(partition, space)
            found = space.find_nearest(packed, depth)
        self._evict_spaces()
        return found

    def forget(self, partition: str, hits: Iterable[ClientHit]) -> None:
        """Forget hits whose entries are gone, or have another vector."""
        space = self._get_space(partition)
        with space.lock:
            space.forget(hits)

    def _get_space(self, partition: str) -> _Space:
        with self._lock:
            space = self._spaces.setdefault(partition, _Space())
            self._spaces.move_to_end(partition)
            return space

    def _refresh(self, partition: str, space: _Space) -> None:
        now = self._clock()
        items = self._store.list_since(partition, space.refreshed - _OVERLAP)
        new = (item for item in items if space.is_new(item))
        while batch := list(islice(new, _BATCH)):
            space.apply(batch)
        space.refreshed = now

    def _evict_spaces(self) -> None:
        """Drop the least recently searched spaces while more bytes are held than allowed."""
        with self._lock:
            excess = sum(space.size for space in self._spaces.values()) - _MAX_HELD_BYTES
            for name, space in list(self._spaces.items())[:-1]:
                if excess <= 0:
                    return
                del self._spaces[name]
                excess -= space.size
