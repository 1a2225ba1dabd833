"""Search by DynamoDB's own vector index (`SearchVectors`): approximate, and eventually consistent.

A space of one model is a partition of the index, so vectors of two models are never compared.
"""

from collections.abc import Mapping

from functions.platform.entry_keys import build_model_space, hash_filter_value, parse_vector_ref
from functions.platform.items import Item
from functions.platform.schema import SPACE_ATTRIBUTE, VECTOR_ATTRIBUTE, build_filter_attribute
from functions.platform.table import Table
from functions.vectors.model import Hit, Vector, VectorFormat

_SCALE = 10_000  # cosine knows no scale, so whole numbers of four digits do, and are as short


class NativeVectorIndex:
    """Searches spaces by a vector index of the table. Safe for use by several threads."""

    max_results = 100
    """The largest number of hits that one search gives: DynamoDB's own limit."""

    def __init__(self, table: Table, name: str, model: str) -> None:
        self._table = table
        self._name = name
        self._model = model

    def search(
        self, space: str, query: Vector, top_k: int, filters: Mapping[str, str]
    ) -> list[Hit]:
        """Find the `top_k` vectors most similar to the query among those that match all filters.

        Raises:
            Unavailable: the index is still being built.
        """
        numbers = _to_integers(query)
        if not numbers:
            return []
        wanted = _index_attributes(space, self._model, filters)
        limit = min(top_k, self.max_results)
        found = self._table.search_vectors(self._name, numbers, limit, wanted)
        return [Hit(parse_vector_ref(sort_key), 1.0 - distance) for sort_key, distance in found]


def native_format(model: str) -> VectorFormat:
    """Describe the native index's format: a list of integers, beside partition and filters."""

    def to_attributes(space: str, vector: Vector, filters: Mapping[str, str]) -> Item:
        item = {"model": model, **filters, VECTOR_ATTRIBUTE: _to_integers(vector) or None}
        return item | _index_attributes(space, model, filters)

    return VectorFormat(model, SPACE_ATTRIBUTE, to_attributes)


def _to_integers(vector: Vector) -> list[int]:
    """Convert a vector to integers; empty where all are 0, since that vector has no cosine."""
    numbers = [round(each * _SCALE) for each in vector]
    return numbers if any(numbers) else []


def _index_attributes(space: str, model: str, filters: Mapping[str, str]) -> dict[str, str]:
    """Build the attributes that the index partitions and filters by: short strings all."""
    values = {
        build_filter_attribute(name): hash_filter_value(each) for name, each in filters.items()
    }
    return {SPACE_ATTRIBUTE: build_model_space(space, model)} | values
