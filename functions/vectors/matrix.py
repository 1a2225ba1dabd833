"""Vectors in memory: a matrix of rows for each space, and the spaces that a process holds."""

from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from functions.platform.vector_keys import parse_vector_ref
from functions.vectors.hybrid import WORDS_DIMENSION
from functions.vectors.model import Candidates, Hit, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SORTED = 4  # times the depth; filters and deletions leave enough of as many


class VectorMatrix:
    """The vectors of a space in one block of memory, a row for each name."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._names: list[str] = []
        self._filters: list[Mapping[str, str] | None] = []
        self._written: list[int] = []
        self._numbers = array("f")

    @property
    def size(self) -> int:
        """The bytes of the vectors."""
        return len(self._numbers) * self._numbers.itemsize

    def written_at(self, name: str) -> int | None:
        """Get the time (epoch ms) of the write that a row holds; None if there is no row."""
        row = self._rows.get(name)
        return None if row is None else self._written[row]

    def put_many(
        self, keys: Sequence[tuple[str, Mapping[str, str], int]], vectors: "NDArray[np.float32]"
    ) -> None:
        """Put vectors, a row for each, with their names, filters and times, at once."""
        import numpy as np  # noqa: PLC0415 - as above

        dimension = vectors.shape[1]
        rows = [self._get_row(name, dimension) for name, _, _ in keys]
        for row, (_, filters, written) in zip(rows, keys, strict=True):
            self._filters[row], self._written[row] = filters, written
        np.frombuffer(self._numbers, np.float32).reshape(-1, dimension)[rows] = vectors

    def remove(self, name: str, dimension: int, written: int) -> None:
        """Leave a row without a vector, as of a write at a time (epoch ms)."""
        row = self._get_row(name, dimension)
        self._filters[row], self._written[row] = None, written

    def forget(self, name: str, written: int) -> None:
        """Leave a row without a vector, if it is the one that was written at a time (epoch ms)."""
        if self.written_at(name) == written:
            self._filters[self._rows[name]] = None

    def _get_row(self, name: str, dimension: int) -> int:
        row = self._rows.setdefault(name, len(self._names))
        if row == len(self._names):
            self._names.append(name)
            self._filters.append(None)
            self._written.append(0)
            self._numbers.frombytes(bytes(self._numbers.itemsize * dimension))
        return row

    def find_candidates(self, query: Vector, depth: int, filters: Mapping[str, str]) -> Candidates:
        """Find the best rows by each half; of rows that are equally good, the first put."""
        import numpy as np  # noqa: PLC0415 - as above

        if not self._rows:
            return Candidates([], [], is_complete=True)
        numbers = np.frombuffer(self._numbers, np.float32).reshape(-1, len(query))
        wanted, split = np.frombuffer(query, np.float32), len(query) - WORDS_DIMENSION
        cosines = np.minimum(numbers[:, :split] @ wanted[:split], 1.0)
        by_words = np.minimum(numbers[:, split:] @ wanted[split:], 1.0)

        def take_best(scores: "NDArray[np.float32]") -> list[Hit]:
            rows = (row for row in _list_best(scores, depth) if self._matches(row, filters))
            return [
                Hit(parse_vector_ref(self._names[row]), float(scores[row]), float(cosines[row]))
                for row in islice(rows, depth)
            ]

        best = take_best(cosines)
        return Candidates(best, take_best(by_words), is_complete=len(best) < depth)

    def find_nearest(
        self, query: "NDArray[np.float32]", depth: int
    ) -> list[tuple[str, int, float]]:
        """Find the nearest vectors, best first: their names, times (epoch ms) and cosines."""
        import numpy as np  # noqa: PLC0415 - as above

        if not self._rows:
            return []
        cosines = np.frombuffer(self._numbers, np.float32).reshape(-1, len(query)) @ query
        rows = (row for row in _list_best(cosines, depth) if self._matches(row, {}))
        return [
            (self._names[row], self._written[row], float(cosines[row]))
            for row in islice(rows, depth)
        ]

    def _matches(self, row: int, filters: Mapping[str, str]) -> bool:
        present = self._filters[row]
        return present is not None and filters.items() <= present.items()


def _list_best(scores: "NDArray[np.float32]", depth: int) -> Iterator[int]:
    """List the rows by score, best first; sort only as many as a caller is likely to read."""
    import numpy as np  # noqa: PLC0415 - as above

    likely = min(_SORTED * depth, len(scores))
    is_likely = scores >= np.partition(scores, -likely)[-likely]
    for is_wanted in (True, False):
        part = np.flatnonzero(is_likely == is_wanted)
        yield from part[np.argsort(-scores[part], kind="stable")].tolist()


@dataclass(slots=True)
class Space:
    """The vectors of a space, as of the time at which they were read last; 0 is never."""

    lock: Lock = field(default_factory=Lock)
    matrix: VectorMatrix = field(default_factory=VectorMatrix)
    refreshed: int = 0  # epoch ms; later writes may still have this time


class HeldSpaces:
    """The spaces that a process holds, up to a number of bytes. Safe for threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._spaces: OrderedDict[str, Space] = OrderedDict()

    @contextmanager
    def use(self, name: str) -> Iterator[Space]:
        """Hold a space for one search; then drop the least recently used ones that are too many."""
        with self._lock:
            space = self._spaces.setdefault(name, Space())
            self._spaces.move_to_end(name)
        with space.lock:
            yield space
        with self._lock:
            excess = sum(each.matrix.size for each in self._spaces.values()) - self._max_bytes
            for other, each in list(self._spaces.items())[:-1]:
                if excess <= 0:
                    return
                del self._spaces[other]
                excess -= each.matrix.size
