"""Exact search among the vectors of a space, held in memory and refreshed by each search.

A search reads changes since the last search, so its reads depend on the changes, not on the number
of stored vectors.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from struct import pack, unpack
from typing import Any

from functions.platform.clock import Clock
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.parallel import run_parallel
from functions.platform.schema import AGE_ATTRIBUTE, BY_AGE, VECTOR_FILTERS
from functions.platform.table import Table
from functions.vectors.matrix import (
    OWNED,
    HeldSpace,
    HeldSpaces,
    RowKey,
    TextMatrix,
    decode_vectors,
    hash_term,
)
from functions.vectors.model import Candidates, Embedding, VectorFormat

_VECTOR, _TERMS = "vector", "terms"
_HALF, _TERM = 2, 4  # bytes of a number, and of a hashed term
_SHORT_OVERLAP, _OFTEN = 2_000, 10_000  # ms; overlap of most refreshes, and until the next
_OVERLAP = 60_000  # ms; the largest difference of clocks, and the lag of the index by age
_MAX_HELD_BYTES = 76_800_000  # of 50,000 vectors
_BATCH = 500  # vectors that are decoded at once
_FILTERS = (*VECTOR_FILTERS, OWNED)
_READ = ("sk", _VECTOR, _TERMS, "model", AGE_ATTRIBUTE, *_FILTERS)


def float16_format(model: str) -> VectorFormat:
    """Describe the format of exact search: meanings in half precision, and hashed terms.

    A text of up to 1,000 characters has 512 bytes of meaning and up to 400 bytes of terms, so its
    vector costs one write unit.
    """

    def to_attributes(_space: str, embedding: Embedding, filters: Mapping[str, str]) -> Item:
        # Each number of meaning takes 2 bytes, each term a hash of 4: a text of two pieces with 256
        # numbers and 30 terms has 1,024 + 120 bytes.
        meanings = b"".join(pack(f"<{len(each)}e", *each) for each in embedding.meanings)
        hashes = sorted({hash_term(each) for each in embedding.terms})
        terms = pack(f"<{len(hashes)}I", *hashes) or None
        return {_VECTOR: meanings, _TERMS: terms, "model": model, **filters}

    return VectorFormat(model, _VECTOR, to_attributes, is_listed_by_age=True)


def decode_terms(item: Item) -> tuple[int, ...]:
    """Decode the hashed terms of an item."""
    packed = bytes(item.get(_TERMS, b""))
    return unpack(f"<{len(packed) // _TERM}I", packed)


class InMemoryVectors:
    """Searches spaces exactly. Safe for use by several threads."""

    max_results = 10_000
    """The largest number of hits of one search."""

    def __init__(self, table: Table, clock: Clock, model: str) -> None:
        self._table = table
        self._clock = clock
        self._model = model
        self._spaces = HeldSpaces(HeldSpace, _MAX_HELD_BYTES)

    def find_candidates(
        self, space: str, query: Embedding, depth: int, filters: Mapping[str, str]
    ) -> Candidates:
        """Find the `depth` best texts by meaning, and by words, among those with these filters."""
        with self._spaces.use(space) as held:
            self._refresh(space, held, len(query.meanings[0]))
            return held.matrix.find_candidates(query, min(depth, self.max_results), filters)

    def _refresh(self, name: str, space: HeldSpace, dimension: int) -> None:
        now = self._clock()
        if space.refreshed == 0 or space.matrix.is_sparse:
            space.matrix = self._read_all(name, dimension)
        else:
            items = iter(self._read_changes(name, space))
            while batch := list(islice(items, _BATCH)):
                self._apply(space.matrix, batch, dimension)
        space.refreshed = now

    def _read_all(self, name: str, dimension: int) -> TextMatrix:
        """Read a space: the next page is read while a page is decoded."""
        matrix, read = TextMatrix(), partial(self._table.query_page, name, AGENT_VECTOR.sort_prefix)
        page, after = read(_READ, None)
        while after is not None:
            work: list[Callable[[], Any]] = [
                partial(self._apply, matrix, page, dimension),
                partial(read, _READ, after),
            ]
            _, (page, after) = run_parallel(work)
        self._apply(matrix, page, dimension)
        return matrix

    def _apply(self, matrix: TextMatrix, items: Iterable[Item], dimension: int) -> None:
        """Put vectors into the matrix; tombstones and vectors of other models remove their rows."""
        current: list[Item] = []
        for item in items:
            if (
                item.get(_VECTOR)
                and item["model"] == self._model
                and (len(item[_VECTOR]) % (_HALF * dimension) == 0)
            ):
                current.append(item)
            else:
                matrix.remove(item["sk"], item.get(AGE_ATTRIBUTE, 0))
        if not current:
            return
        keys = [
            RowKey(
                item["sk"],
                {name: item[name] for name in _FILTERS if name in item},
                item[AGE_ATTRIBUTE],
                len(item[_VECTOR]) // (_HALF * dimension),
            )
            for item in current
        ]
        vectors = decode_vectors([bytes(item[_VECTOR]) for item in current], dimension)
        matrix.put_texts(keys, vectors, (decode_terms(item) for item in current))

    def _choose_overlap(self, space: HeldSpace) -> int:
        """Choose the overlap of a refresh: a long one only every tenth second.

        After a bulk load of 10,000 texts, an overlap of a minute costs 80 ms.
        """
        if space.refreshed - space.looked_back < _OFTEN:
            return _SHORT_OVERLAP
        space.looked_back = space.refreshed
        return _OVERLAP

    def _read_changes(self, name: str, space: HeldSpace) -> Iterable[Item]:
        """Read vectors written since the last refresh, with an overlap, that aren't held yet."""
        since = space.refreshed - self._choose_overlap(space)
        condition = f"pk = :space AND {AGE_ATTRIBUTE} >= :since"
        recent = list(self._table.query_index(BY_AGE, condition, space=name, since=since))
        wanted: list[Key] = [
            (name, row["sk"])
            for row in recent
            if row[AGE_ATTRIBUTE] != space.matrix.written_at(row["sk"])
            or row[AGE_ATTRIBUTE] >= space.refreshed
        ]
        return self._table.get_many(wanted).values() if wanted else ()
