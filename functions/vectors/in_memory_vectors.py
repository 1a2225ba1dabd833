"""Exact search among the vectors of a space, held in memory and refreshed by each search.

A search reads what has changed since the one before, so its reads grow with the changes and not
with what is stored.
"""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from struct import pack
from threading import Lock
from typing import TYPE_CHECKING, Any

from functions.platform.clock import Clock
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.parallel import run_parallel
from functions.platform.schema import AGE_ATTRIBUTE, BY_AGE, VECTOR_FILTERS
from functions.platform.table import Table
from functions.platform.vector_keys import parse_vector_ref
from functions.vectors.hybrid import WORDS_DIMENSION
from functions.vectors.model import Candidates, Hit, Vector, VectorFormat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_VECTOR = "vector"
_OVERLAP = 60_000  # ms; the largest difference of clocks, and lag of the index by age
_MAX_HELD = 50_000  # vectors, of 1.5 KB each in memory
_MAX_BYTE = 127
_BATCH = 500  # vectors that are decoded at once
_READ = ("sk", _VECTOR, "model", AGE_ATTRIBUTE, *VECTOR_FILTERS)
_SORTED = 4  # times the depth; filters and deletions leave enough of as many


def float16_format(model: str) -> VectorFormat:
    """Describe the format of exact search: meaning in half precision, words in whole bytes.

    A vector has 640 bytes so, and with its entry's names costs one write unit.
    """

    def to_attributes(_space: str, vector: Vector, filters: Mapping[str, str]) -> Item:
        meaning, words = vector[:-WORDS_DIMENSION], vector[-WORDS_DIMENSION:]
        scale = _MAX_BYTE / (max(map(abs, words)) or 1.0)
        packed = pack(f"<{len(meaning)}e", *meaning) + pack(
            f"{WORDS_DIMENSION}b", *(round(each * scale) for each in words)
        )
        return {_VECTOR: packed, "model": model, **filters}

    return VectorFormat(model, _VECTOR, to_attributes, is_listed_by_age=True)


def decode_vectors(stored: Sequence[bytes]) -> "NDArray[np.float32]":
    """Decode vectors of one length, one or more, all at once: a row for each."""
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests search nothing

    block = np.frombuffer(b"".join(stored), np.uint8).reshape(len(stored), -1)
    split = block.shape[1] - WORDS_DIMENSION
    meaning = np.ascontiguousarray(block[:, :split]).view(np.float16).astype(np.float32)
    words = np.ascontiguousarray(block[:, split:]).view(np.int8).astype(np.float32)
    return np.hstack([_to_unit_length(meaning), _to_unit_length(words)])


def _to_unit_length(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415 - as above

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    scaled: NDArray[np.float32] = rows / lengths[:, None]
    return scaled


class VectorMatrix:
    """The vectors of a space in one block of memory, a row for each sort key."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._sort_keys: list[str] = []
        self._filters: list[Mapping[str, str] | None] = []
        self._written: list[int] = []
        self._numbers = array("f")

    def __len__(self) -> int:
        return len(self._sort_keys)

    def written_at(self, sort_key: str) -> int | None:
        """Get the time (epoch ms) of the write that a row holds; None if there is no row."""
        row = self._rows.get(sort_key)
        return None if row is None else self._written[row]

    def put(self, sort_key: str, vector: Vector, filters: Mapping[str, str], written: int) -> None:
        """Put a vector, with what it may be filtered by, written at a time (epoch ms)."""
        row = self._get_row(sort_key, len(vector))
        self._filters[row], self._written[row] = filters, written
        self._numbers[row * len(vector) : (row + 1) * len(vector)] = vector

    def put_many(
        self, keys: Sequence[tuple[str, Mapping[str, str], int]], vectors: "NDArray[np.float32]"
    ) -> None:
        """Put vectors, a row for each, with their sort keys, filters and times, at once."""
        import numpy as np  # noqa: PLC0415 - as above

        dimension = vectors.shape[1]
        rows = [self._get_row(sort_key, dimension) for sort_key, _, _ in keys]
        for row, (_, filters, written) in zip(rows, keys, strict=True):
            self._filters[row], self._written[row] = filters, written
        np.frombuffer(self._numbers, np.float32).reshape(-1, dimension)[rows] = vectors

    def remove(self, sort_key: str, dimension: int, written: int) -> None:
        """Leave a row without a vector, as of a write at a time (epoch ms)."""
        row = self._get_row(sort_key, dimension)
        self._filters[row], self._written[row] = None, written

    def _get_row(self, sort_key: str, dimension: int) -> int:
        row = self._rows.setdefault(sort_key, len(self._sort_keys))
        if row == len(self._sort_keys):
            self._sort_keys.append(sort_key)
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
                Hit(parse_vector_ref(self._sort_keys[row]), float(scores[row]), float(cosines[row]))
                for row in islice(rows, depth)
            ]

        best = take_best(cosines)
        return Candidates(best, take_best(by_words), is_complete=len(best) < depth)

    def _matches(self, row: int, filters: Mapping[str, str]) -> bool:
        present = self._filters[row]
        return present is not None and filters.items() <= present.items()


def _list_best(scores: "NDArray[np.float32]", depth: int) -> Iterator[int]:
    """List the rows by score, best first; sort no more of them than are likely asked for."""
    import numpy as np  # noqa: PLC0415 - as above

    likely = min(_SORTED * depth, len(scores))
    is_likely = scores >= np.partition(scores, -likely)[-likely]
    for is_wanted in (True, False):
        part = np.flatnonzero(is_likely == is_wanted)
        yield from part[np.argsort(-scores[part], kind="stable")].tolist()


@dataclass(slots=True)
class _Space:
    lock: Lock = field(default_factory=Lock)
    matrix: VectorMatrix | None = None
    refreshed: int = 0  # epoch ms of the last read; later writes may still have this time


class InMemoryVectors:
    """Searches spaces exactly. Safe for use by several threads."""

    max_results = 10_000
    """The largest number of hits that one search gives."""

    def __init__(self, table: Table, clock: Clock, model: str) -> None:
        self._table = table
        self._clock = clock
        self._model = model
        self._lock = Lock()
        self._spaces: OrderedDict[str, _Space] = OrderedDict()

    def find_candidates(
        self, space: str, query: Vector, depth: int, filters: Mapping[str, str]
    ) -> Candidates:
        """Find the `depth` best vectors by each half among those that match all filters."""
        with self._lock:
            held = self._spaces.setdefault(space, _Space())
            self._spaces.move_to_end(space)
        with held.lock:
            matrix = self._refresh(space, held, len(query))
            found = matrix.find_candidates(query, min(depth, self.max_results), filters)
        self._evict_spaces()
        return found

    def _refresh(self, name: str, space: _Space, dimension: int) -> VectorMatrix:
        now, matrix = self._clock(), space.matrix
        if matrix is None:
            matrix = self._read_all(name, dimension)
        else:
            items = iter(self._read_changes(name, space, matrix))
            while batch := list(islice(items, _BATCH)):
                self._apply(matrix, batch, dimension)
        space.matrix, space.refreshed = matrix, now
        return matrix

    def _read_all(self, name: str, dimension: int) -> VectorMatrix:
        """Read a space: while a page is decoded, the next one is on its way."""
        matrix = VectorMatrix()
        page, after = self._read_page(name, None)
        while after is not None:
            work: list[Callable[[], Any]] = [
                partial(self._apply, matrix, page, dimension),
                partial(self._read_page, name, after),
            ]
            _, (page, after) = run_parallel(work)
        self._apply(matrix, page, dimension)
        return matrix

    def _read_page(self, name: str, after: Key | None) -> tuple[list[Item], Key | None]:
        return self._table.query_page(name, AGENT_VECTOR.sort_prefix, _READ, after)

    def _apply(self, matrix: VectorMatrix, items: Iterable[Item], dimension: int) -> None:
        """Put vectors into the matrix; a tombstone, or one of another model, removes its row."""
        current: list[Item] = []
        for item in items:
            if _VECTOR in item and item["model"] == self._model:
                current.append(item)
            else:
                matrix.remove(item["sk"], dimension, item.get(AGE_ATTRIBUTE, 0))
        if not current:
            return
        keys = [
            (
                item["sk"],
                {name: item[name] for name in VECTOR_FILTERS if name in item},
                item[AGE_ATTRIBUTE],
            )
            for item in current
        ]
        matrix.put_many(keys, decode_vectors([item[_VECTOR] for item in current]))

    def _read_changes(self, name: str, space: _Space, matrix: VectorMatrix) -> Iterable[Item]:
        """Read what was written since the last refresh, with an overlap, and isn't held yet."""
        since = space.refreshed - _OVERLAP
        condition = f"pk = :space AND {AGE_ATTRIBUTE} >= :since"
        recent = list(self._table.query_index(BY_AGE, condition, space=name, since=since))
        wanted: list[Key] = [
            (name, row["sk"])
            for row in recent
            if row[AGE_ATTRIBUTE] != matrix.written_at(row["sk"])
            or row[AGE_ATTRIBUTE] >= space.refreshed
        ]
        return self._table.get_many(wanted).values() if wanted else ()

    def _evict_spaces(self) -> None:
        """Drop the least recently searched spaces while more vectors are held than allowed."""
        with self._lock:
            sizes = {name: len(space.matrix or ()) for name, space in self._spaces.items()}
            excess = sum(sizes.values()) - _MAX_HELD
            for name, size in list(sizes.items())[:-1]:
                if excess <= 0:
                    return
                del self._spaces[name]
                excess -= size
