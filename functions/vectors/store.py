"""Writes of vectors, for writers that may come twice and in any order."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.lifetimes import ttl_seconds
from functions.platform.schema import AGE_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.vector_keys import ref_of, vector_item
from functions.platform.writes import put
from functions.vectors.index import as_halves
from functions.vectors.model import Form, Vector

_TOMBSTONE_KEPT = 86_400_000  # ms; change streams are kept as long


class VectorStore:
    """Keeps and drops vectors: one write each, which never counts over a newer version."""

    def __init__(self, table: Table, clock: Clock, form: Form | None = None) -> None:
        self._table = table
        self._clock = clock
        self._form = form or as_halves()

    def keep(
        self, space: str, ref: str, version: int, vector: Vector, filters: Mapping[str, str]
    ) -> None:
        """Puts what `ref` means at this version; `filters` are what a search may ask for."""
        stamp = {"version": version, AGE_ATTRIBUTE: self._clock()}
        self._put(space, ref, self._form.stored(space, vector, filters) | stamp)

    def current(self, places: Iterable[tuple[str, str]]) -> set[str]:
        """Which of these, each a space and a ref, have a vector of the form of today."""
        found = self._table.get_many(vector_item(space, ref) for space, ref in places)
        return {ref_of(sort) for (_, sort), item in found.items() if self._form.made(item)}

    def drop(self, space: str, ref: str, version: int) -> None:
        """Leaves a tombstone, so that an older version that comes later finds it."""
        self._put(space, ref, tombstone(version, self._clock()))

    def _put(self, space: str, ref: str, item: Item) -> None:
        not_newer = "attribute_not_exists(pk) OR version <= :version"
        with suppress(ConditionFailed):
            version = item["version"]
            self._table.put(put(vector_item(space, ref), item, not_newer, version=version))


def tombstone(version: int, now: int) -> Item:
    """What is left for a day of a vector that was removed, for indexes that hold it in memory."""
    ends = ttl_seconds(now + _TOMBSTONE_KEPT)
    return {"version": version, AGE_ATTRIBUTE: now, TTL_ATTRIBUTE: ends}
