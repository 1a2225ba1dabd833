"""Exact search among the vectors of a space, held in memory and refreshed by each search.

A search reads what has changed since the one before, so its reads grow with the changes and not
with what is stored.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from math import hypot
from struct import pack, unpack
from threading import Lock

from functions.platform.clock import Clock
from functions.platform.entry_keys import parse_vector_ref
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.schema import AGE_ATTRIBUTE, BY_AGE
from functions.platform.table import Table
from functions.vectors.model import Hit, Vector, VectorFormat

_VECTOR = "float16"
_OVERLAP = 60_000  # ms; the largest difference of clocks, and lag of the index by age
_MAX_HELD = 50_000  # vectors, of a kilobyte each in memory


def float16_format(model: str) -> VectorFormat:
    """Describe the format of exact search: half precision, two bytes for each number.

    A vector of 256 numbers costs a write unit so; in single precision it would cost two.
    """

    def to_attributes(_space: str, vector: Vector, filters: Mapping[str, str]) -> Item:
        return {_VECTOR: pack(f"<{len(vector)}e", *vector), "model": model, **filters}

    return VectorFormat(model, _VECTOR, to_attributes)


def _decode_float16(stored: bytes) -> Vector:
    return array("f", unpack(f"<{len(stored) // 2}e", stored))


class VectorMatrix:
    """The vectors of a space in one block of memory, a row for each sort key."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._sort_keys: list[str] = []
        self._items: list[Item | None] = []
        self._written: list[int] = []
        self._numbers = array("f")
        self._lengths = array("d")

    def __len__(self) -> int:
        return len(self._sort_keys)

    def written_at(self, sort_key: str) -> int | None:
        """Get the time (epoch ms) of the write that a row holds; None if there is no row."""
        row = self._rows.get(sort_key)
        return None if row is None else self._written[row]

    def put(self, sort_key: str, vector: Vector, item: Item, written: int) -> None:
        """Put a vector, with the item that it may be filtered by, written at a time (epoch ms)."""
        row = self._get_row(sort_key, len(vector))
        self._items[row], self._written[row] = item, written
        self._numbers[row * len(vector) : (row + 1) * len(vector)] = vector
        self._lengths[row] = hypot(*vector) or 1.0

    def remove(self, sort_key: str, dimension: int, written: int) -> None:
        """Leave a row without a vector, as of a write at a time (epoch ms)."""
        row = self._get_row(sort_key, dimension)
        self._items[row], self._written[row] = None, written

    def _get_row(self, sort_key: str, dimension: int) -> int:
        row = self._rows.setdefault(sort_key, len(self._sort_keys))
        if row == len(self._sort_keys):
            self._sort_keys.append(sort_key)
            self._items.append(None)
            self._written.append(0)
            self._numbers.extend([0.0] * dimension)
            self._lengths.append(1.0)
        return row

    def rank(self, query: Vector) -> Iterator[tuple[str, float, Item]]:
        """Give sort key, cosine and item of all, the most similar first; ties by sort key.

        Args:
            query: of unit length.
        """
        scores, order = _rank_rows(query, self._numbers, self._lengths)
        for score, rows in groupby(order, key=scores.__getitem__):
            for row in sorted(rows, key=self._sort_keys.__getitem__):
                item = self._items[row]
                if item is not None:
                    yield self._sort_keys[row], score, item


def _rank_rows(
    query: Vector, numbers: Vector, lengths: "array[float]"
) -> tuple[Sequence[float], Sequence[int]]:
    """Compute the cosine of each row with a query of unit length, and the rows' order by it."""
    import numpy as np  # noqa: PLC0415 - 70 ms, and most requests search nothing

    matrix = np.frombuffer(numbers, np.float32).reshape(-1, len(query))
    scores = matrix @ np.frombuffer(query, np.float32) / np.asarray(lengths)
    return scores.tolist(), np.argsort(-scores, kind="stable").tolist()


@dataclass(slots=True)
class _Space:
    lock: Lock = field(default_factory=Lock)
    matrix: VectorMatrix | None = None
    newest: int = 0  # epoch ms of the newest write that was read
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

    def search(
        self, space: str, query: Vector, top_k: int, filters: Mapping[str, str]
    ) -> list[Hit]:
        """Find the `top_k` vectors most similar to the query among those that match all filters."""
        with self._lock:
            held = self._spaces.setdefault(space, _Space())
            self._spaces.move_to_end(space)
        with held.lock:
            matrix = self._refresh(space, held, len(query))
            matching = (
                Hit(parse_vector_ref(sort_key), min(score, 1.0))
                for sort_key, score, item in matrix.rank(query)
                if filters.items() <= item.items()
            )
            hits = list(islice(matching, min(top_k, self.max_results)))
        self._evict_spaces()
        return hits

    def _refresh(self, name: str, space: _Space, dimension: int) -> VectorMatrix:
        now, matrix = self._clock(), space.matrix
        if matrix is None:
            matrix, items = VectorMatrix(), self._table.query(name, AGENT_VECTOR.sort_prefix)
        else:
            items = iter(self._read_changes(name, space, matrix))
        for item in items:
            self._apply(matrix, item, dimension)
            space.newest = max(space.newest, item[AGE_ATTRIBUTE])
        space.matrix, space.refreshed = matrix, now
        return matrix

    def _apply(self, matrix: VectorMatrix, item: Item, dimension: int) -> None:
        """Put a vector into the matrix; a tombstone, or one of another model, removes it."""
        stored, written = item.pop(_VECTOR, None), item[AGE_ATTRIBUTE]
        if stored is not None and item["model"] == self._model:
            matrix.put(item["sk"], _decode_float16(stored), item, written)
        else:
            matrix.remove(item["sk"], dimension, written)

    def _read_changes(self, name: str, space: _Space, matrix: VectorMatrix) -> Iterable[Item]:
        """Read what was written since the last refresh, with an overlap, and isn't held yet."""
        since = space.newest - _OVERLAP
        recent = self._table.query_since(BY_AGE, name, AGE_ATTRIBUTE, since)
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
