"""Search by DynamoDB itself (`SearchVectors`): approximate, and a moment behind the table.

A space of one model is a partition of the index, so vectors of two models are never compared.
"""

from collections.abc import Mapping

from functions.platform.items import Item
from functions.platform.schema import SPACE_ATTRIBUTE, VECTOR_ATTRIBUTE, filter_attribute
from functions.platform.table import Table
from functions.platform.vector_keys import filter_value, ref_of, space_of_model
from functions.vectors.model import Form, Hit, Vector

_SCALE = 10_000  # cosine knows no scale, so whole numbers of four digits do, and are as short


class NativeIndex:
    """Searches spaces by an index of the table. Any number of threads may."""

    most = 100
    """How many hits a search gives at most: DynamoDB's own limit."""

    def __init__(self, table: Table, name: str, model: str) -> None:
        self._table = table
        self._name = name
        self._model = model

    def search(self, space: str, query: Vector, top_k: int, equal: Mapping[str, str]) -> list[Hit]:
        """The `top_k` most alike to the query among those whose filters are `equal`, best first.

        Raises:
            Unavailable: the index is still being built.
        """
        numbers = _whole(query)
        if not numbers:
            return []
        wanted = _indexed(space, self._model, equal)
        found = self._table.search_vectors(self._name, numbers, min(top_k, self.most), wanted)
        return [Hit(ref_of(sort), 1.0 - distance) for sort, distance in found]


def as_numbers(model: str) -> Form:
    """How the native index wants vectors: a list, beside what it partitions and filters by."""

    def stored(space: str, vector: Vector, filters: Mapping[str, str]) -> Item:
        numbers = _whole(vector)
        item = {"model": model, **filters}
        return item | _indexed(space, model, filters) | {VECTOR_ATTRIBUTE: numbers or None}

    return Form(model, SPACE_ATTRIBUTE, stored)


def _whole(vector: Vector) -> list[int]:
    """The vector in whole numbers; empty where it has no direction, since that has no cosine."""
    numbers = [round(each * _SCALE) for each in vector]
    return numbers if any(numbers) else []


def _indexed(space: str, model: str, filters: Mapping[str, str]) -> dict[str, str]:
    """The attributes of the index: of one type and length each, whatever they stand for."""
    values = {filter_attribute(name): filter_value(each) for name, each in filters.items()}
    return {SPACE_ATTRIBUTE: space_of_model(space, model)} | values
