"""Vectors of texts, how they are stored, and how they are searched."""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from functions.platform.items import Item

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]
else:
    Vector = array  # array takes no type argument in Python 3.11
"""Single precision, of unit length."""

Embed: TypeAlias = Callable[[str], Vector]
"""Embed a text; safe for use by several threads."""

_FIRST_EXPANSION = 2  # times the wanted number of results
_NEXT_EXPANSION = 10  # times the last depth
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VectorFormat:
    """How an index stores the vectors of one model.

    Attributes:
        model: the name of the model.
        attribute: the attribute that only vectors of this index have.
        to_attributes: takes space, vector and filters; gives the attributes that are stored.
    """

    model: str
    attribute: str
    to_attributes: Callable[[str, Vector, Mapping[str, str]], Item]

    @property
    def name(self) -> str:
        """Name model and index together: vectors of other formats have other names."""
        return f"{self.model}/{self.attribute}"

    def matches(self, item: Item) -> bool:
        """Tell whether an item holds a vector in this format."""
        return item.get("model") == self.model and self.attribute in item


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of an index: what the vector stands for, and its cosine similarity, at most 1."""

    ref: str
    score: float


class VectorIndex(Protocol):
    """Searches the vectors of a space."""

    @property
    def max_results(self) -> int:
        """The largest number of hits that one search gives."""

    def search(
        self, space: str, query: Vector, top_k: int, filters: Mapping[str, str]
    ) -> list[Hit]:
        """Find the `top_k` vectors most similar to the query among those that match all filters.

        The result is sorted by similarity, best first.
        """


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """The embedding model, the format and the index that a deployment searches with."""

    embed: Embed
    format: VectorFormat
    index: VectorIndex

    def search_with_expansion(
        self, wanted: int, search: Callable[[int], tuple[list[T], bool]]
    ) -> list[T]:
        """Search for more and more hits until enough of them qualify.

        Hits may be deleted, expired or filtered out after the index gave them. The search ends with
        `wanted` results, with no more hits, or at the index's own maximum.

        Args:
            wanted: the number of results.
            search: takes the number of hits; gives those that qualify, and whether there can be no
                others.
        """
        depth = min(_FIRST_EXPANSION * wanted, self.index.max_results)
        while True:
            found, is_complete = search(depth)
            if len(found) >= wanted or is_complete or depth == self.index.max_results:
                return found[:wanted]
            depth = min(_NEXT_EXPANSION * depth, self.index.max_results)
