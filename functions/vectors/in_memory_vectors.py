"""Exact search among the vectors of a space, held in memory and refreshed by each search.

A search reads what has changed since the one before, so its reads grow with the changes and not
with what is stored.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from struct import pack
from typing import TYPE_CHECKING, Any

from functions.platform.clock import Clock
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.parallel import run_parallel
from functions.platform.schema import AGE_ATTRIBUTE, BY_AGE, VECTOR_FILTERS
from functions.platform.table import Table
from functions.vectors.hybrid import WORDS_DIMENSION
from functions.vectors.matrix import HeldSpaces, Space, VectorMatrix
from functions.vectors.model import Candidates, Vector, VectorFormat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_VECTOR = "vector"
_OVERLAP = 60_000  # ms; the largest difference of clocks, and lag of the index by age
_MAX_HELD_BYTES = 76_800_000  # of 50,000 vectors
_MAX_BYTE = 127
_BATCH = 500  # vectors that are decoded at once
_READ = ("sk", _VECTOR, "model", AGE_ATTRIBUTE, *VECTOR_FILTERS)


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


class InMemoryVectors:
    """Searches spaces exactly. Safe for use by several threads."""

    max_results = 10_000
    """The largest number of hits that one search gives."""

    def __init__(self, table: Table, clock: Clock, model: str) -> None:
        self._table = table
        self._clock = clock
        self._model = model
        self._spaces = HeldSpaces(_MAX_HELD_BYTES)

    def find_candidates(
        self, space: str, query: Vector, depth: int, filters: Mapping[str, str]
    ) -> Candidates:
        """Find the `depth` best vectors by each half among those that match all filters."""
        with self._spaces.use(space) as held:
            self._refresh(space, held, len(query))
            return held.matrix.find_candidates(query, min(depth, self.max_results), filters)

    def _refresh(self, name: str, space: Space, dimension: int) -> None:
        now = self._clock()
        if space.refreshed == 0:
            space.matrix = self._read_all(name, dimension)
        else:
            items = iter(self._read_changes(name, space))
            while batch := list(islice(items, _BATCH)):
                self._apply(space.matrix, batch, dimension)
        space.refreshed = now

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

    def _read_changes(self, name: str, space: Space) -> Iterable[Item]:
        """Read what was written since the last refresh, with an overlap, and isn't held yet."""
        since = space.refreshed - _OVERLAP
        condition = f"pk = :space AND {AGE_ATTRIBUTE} >= :since"
        recent = list(self._table.query_index(BY_AGE, condition, space=name, since=since))
        wanted: list[Key] = [
            (name, row["sk"])
            for row in recent
            if row[AGE_ATTRIBUTE] != space.matrix.written_at(row["sk"])
            or row[AGE_ATTRIBUTE] >= space.refreshed
        ]
        return self._table.get_many(wanted).values() if wanted else ()
