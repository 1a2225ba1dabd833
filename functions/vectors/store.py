"""Writes of vectors, for writers that may come twice and in any order."""

from collections.abc import Mapping
from contextlib import suppress

from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.lifetimes import ttl_seconds
from functions.platform.schema import AGE_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.vector_keys import vector_item
from functions.platform.writes import put
from functions.vectors.index import as_bytes
from functions.vectors.model import Form, Vector

_TOMBSTONE_KEPT = 86_400_000  # ms; change streams are kept as long


class VectorStore:
    """Keeps and drops vectors: one write each, which counts only over an older version."""

    def __init__(self, table: Table, clock: Clock, form: Form | None = None) -> None:
        self._table = table
        self._clock = clock
        self._form = form or as_bytes()

    def keep(
        self, space: str, ref: str, version: int, vector: Vector, filters: Mapping[str, str]
    ) -> None:
        """Puts what `ref` means at this version; `filters` are what a search may ask for."""
        self._put(space, ref, version, self._form(space, vector, filters))

    def drop(self, space: str, ref: str, version: int) -> None:
        """Leaves a tombstone, so that an older version that comes later finds it."""
        ends = ttl_seconds(self._clock() + _TOMBSTONE_KEPT)
        self._put(space, ref, version, {TTL_ATTRIBUTE: ends})

    def _put(self, space: str, ref: str, version: int, item: Item) -> None:
        stamped = item | {"version": version, AGE_ATTRIBUTE: self._clock()}
        older = "attribute_not_exists(pk) OR version < :version"
        with suppress(ConditionFailed):
            self._table.put(put(vector_item(space, ref), stamped, older, version=version))
