"""Write vectors; writers may repeat a write, and come in any order."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from functions.platform.clock import Clock
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put
from functions.vectors.model import Embedding, VectorFormat


class TextVector(NamedTuple):
    """The vector of a text.

    Attributes:
        ref: what it stands for.
        version: of the text.
        filters: what a search may filter by.
    """

    space: str
    ref: str
    version: int
    embedding: Embedding
    filters: Mapping[str, str]


class VectorStore:
    """Puts and removes vectors: one write each, which never replaces a newer version."""

    def __init__(self, table: Table, clock: Clock, vector_format: VectorFormat) -> None:
        self._table = table
        self._clock = clock
        self._format = vector_format

    def put_vector(self, vector: TextVector) -> None:
        """Put a vector, beside what a search may filter by."""
        self._put(vector.space, vector.ref, self._encode(vector))

    def put_new(self, vectors: Iterable[TextVector]) -> None:
        """Put the first vectors of texts: two calls per 25.

        A record that is delivered again finds its vector, or a later one, and leaves it alone.
        """
        wanted = {(each.space, each.ref): each for each in vectors}
        known = self.read_versions(wanted)
        self._table.write_many(
            [
                put(AGENT_VECTOR.build_key_in(address[0], ref=address[1]), self._encode(each))
                for address, each in wanted.items()
                if each.ref not in known
            ]
        )

    def _encode(self, vector: TextVector) -> Item:
        attributes = self._format.to_attributes(vector.space, vector.embedding, vector.filters)
        stamp = self._format.build_stamp(self._clock())
        return attributes | {"version": vector.version} | stamp

    def remove_vector(self, space: str, ref: str, version: int) -> None:
        """Replace the vector of `ref` by a tombstone, which outlives late older versions."""
        self._put(space, ref, self._format.build_tombstone(version, self._clock()))

    def select_current(self, addresses: Iterable[tuple[str, str]]) -> set[str]:
        """Select the refs whose vectors exist in the current format."""
        return {ref for ref, item in self._read(addresses).items() if self._format.matches(item)}

    def read_versions(self, addresses: Iterable[tuple[str, str]]) -> dict[str, int]:
        """Read the versions from which vectors were made, by what these stand for."""
        return {ref: item["version"] for ref, item in self._read(addresses).items()}

    def _read(self, addresses: Iterable[tuple[str, str]]) -> dict[str, Item]:
        found = self._table.get_many(
            AGENT_VECTOR.build_key_in(space, ref=ref) for space, ref in addresses
        )
        return {AGENT_VECTOR.parse(sort): item for (_, sort), item in found.items()}

    def _put(self, space: str, ref: str, item: Item) -> None:
        not_newer = "attribute_not_exists(pk) OR version <= :version"
        with suppress(ConditionFailed):
            version = item["version"]
            self._table.put(
                put(AGENT_VECTOR.build_key_in(space, ref=ref), item, not_newer, version=version)
            )
