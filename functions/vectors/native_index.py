"""Search by DynamoDB's own vector index (`SearchVectors`): approximate, and eventually consistent.

A space of one model is a partition of the index, so vectors of two models are never compared.
"""

from array import array
from collections.abc import Mapping, Sequence
from functools import partial
from math import hypot, sqrt

from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.platform.keys import hash_name
from functions.platform.parallel import run_parallel
from functions.platform.schema import (
    SPACE_ATTRIBUTE,
    VECTOR_ATTRIBUTE,
    WORDS_DIMENSIONS,
    build_filter_attribute,
)
from functions.platform.table import Table
from functions.vectors.hybrid import embed_terms, scale_to_unit
from functions.vectors.model import Candidates, Embedding, Hit, Vector, VectorFormat

_SCALE = 10_000  # cosines don't depend on scale, so short integers of four digits suffice


class NativeVectorIndex:
    """Searches spaces by a vector index of the table. Safe for use by several threads."""

    max_results = 100
    """The largest number of hits of one search: DynamoDB's limit."""

    def __init__(self, table: Table, name: str, model: str) -> None:
        self._table = table
        self._name = name
        self._model = model

    def find_candidates(
        self, space: str, query: Embedding, depth: int, filters: Mapping[str, str]
    ) -> Candidates:
        """Find the `depth` best texts by meaning, and by words, among those with these filters."""
        (meaning,) = query.meanings
        words = embed_terms(query.terms)
        asked = (meaning + _zeros(WORDS_DIMENSIONS), _zeros(len(meaning)) + words)
        limit = min(depth, self.max_results)
        searches = [partial(self._search, space, each, limit, filters) for each in asked]
        by_meaning, by_words = run_parallel(searches)
        cosines = dict(by_meaning)
        missing = [ref for ref, _ in by_words if ref not in cosines]
        cosines |= self._read_cosines(space, meaning, missing)
        return Candidates(
            [Hit(ref, score, score) for ref, score in by_meaning],
            [Hit(ref, score, cosines[ref]) for ref, score in by_words if ref in cosines],
            is_complete=max(len(by_meaning), len(by_words)) < limit,
        )

    def _search(
        self, space: str, query: Vector, limit: int, filters: Mapping[str, str]
    ) -> list[tuple[str, float]]:
        """Search by one half; each half of a stored vector has the same length."""
        numbers = _to_integers(query)
        if not numbers:
            return []
        wanted = _index_attributes(space, self._model, filters)
        found = self._table.search_vectors(self._name, numbers, limit, wanted)
        return [
            (AGENT_VECTOR.parse(sort_key), min((1.0 - distance) * sqrt(2), 1.0))
            for sort_key, distance in found
        ]

    def _read_cosines(self, space: str, meaning: Vector, refs: list[str]) -> dict[str, float]:
        """Read the vectors that were found only by words, and compare their meanings."""
        items = self._table.get_many(AGENT_VECTOR.build_key_in(space, ref=ref) for ref in refs)
        return {
            AGENT_VECTOR.parse(sort): _compute_cosine(meaning, item[VECTOR_ATTRIBUTE])
            for (_, sort), item in items.items()
            if VECTOR_ATTRIBUTE in item
        }


def _zeros(count: int) -> Vector:
    return array("f", bytes(4 * count))


def _compute_cosine(meaning: Vector, stored: Sequence[int]) -> float:
    other = [float(each) for each in stored[: len(meaning)]]
    length = hypot(*meaning) * hypot(*other) or 1.0
    return min(sum(one * two for one, two in zip(meaning, other, strict=True)) / length, 1.0)


def native_format(model: str) -> VectorFormat:
    """Describe the native index's format: a list of integers, beside partition and filters.

    The vector of a text has two halves of unit length: the mean of its pieces' meanings, and its
    words.
    """

    def to_attributes(space: str, embedding: Embedding, filters: Mapping[str, str]) -> Item:
        total = [sum(column) for column in zip(*embedding.meanings, strict=True)]
        vector = scale_to_unit(total) + embed_terms(embedding.terms)
        item = {"model": model, **filters, VECTOR_ATTRIBUTE: _to_integers(vector) or None}
        return item | _index_attributes(space, model, filters)

    return VectorFormat(model, SPACE_ATTRIBUTE, to_attributes)


def _to_integers(vector: Vector) -> list[int]:
    """Convert a vector to integers; empty if all are 0, since such a vector has no cosine."""
    numbers = [round(each * _SCALE) for each in vector]
    return numbers if any(numbers) else []


def _index_attributes(space: str, model: str, filters: Mapping[str, str]) -> dict[str, str]:
    """Build the attributes that the index partitions and filters by, all short strings."""
    values = {
        build_filter_attribute(name): hash_name("filter", each) for name, each in filters.items()
    }
    return {SPACE_ATTRIBUTE: f"{space}#{model}"} | values
