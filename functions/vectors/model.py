"""Vectors of texts, how they are stored, and how they are searched."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from functions.platform.clock import to_ttl_seconds
from functions.platform.items import Item
from functions.platform.limits import TOMBSTONE_LIFETIME
from functions.platform.schema import AGE_ATTRIBUTE, TTL_ATTRIBUTE

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]
else:
    Vector = array  # array takes no type argument in Python 3.11
"""Numbers in single precision."""

EmbedMeanings: TypeAlias = Callable[[Sequence[str]], list[Vector]]
"""Embed the meanings of texts as vectors; safe for use by several threads."""


class Embedding(NamedTuple):
    """The embedding of a text or a query.

    Attributes:
        meanings: a vector for each piece of a text, scaled by the piece's weight; one vector of
            unit length for a query.
        terms: the words and ids, with their weights.
    """

    meanings: tuple[Vector, ...]
    terms: Mapping[str, float]


NO_MODEL = "nothing"
"""The names of model and format if no model is available."""
_MIN_DEPTH = 20  # hits by meaning, and by words; more don't improve the ranking
_FIRST_EXPANSION = 2  # times the wanted number of results
_NEXT_EXPANSION = 10  # times the last depth
T = TypeVar("T")


class VectorFormat(NamedTuple):
    """The stored form of one model's vectors in an index; `NO_VECTORS` stores none.

    Attributes:
        attribute: the attribute that only vectors of this index have.
        to_attributes: converts space, embedding and filters to the attributes to store.
        is_listed_by_age: whether the index by age lists the vectors, for searches in memory, which
            read new ones; each change costs two write units of that index.
    """

    model: str
    attribute: str
    to_attributes: Callable[[str, Embedding, Mapping[str, str]], Item]
    is_listed_by_age: bool = False

    @property
    def name(self) -> str:
        """Name model and index together: vectors of other formats have other names."""
        return NO_MODEL if self.model == NO_MODEL else f"{self.model}/{self.attribute}"

    def matches(self, item: Item) -> bool:
        """Tell whether an item holds a vector in this format."""
        return item.get("model") == self.model and self.attribute in item

    def encode(
        self, space: str, embedding: Embedding, filters: Mapping[str, str], now: int
    ) -> Item:
        """Build the attributes of a vector that is written now (epoch ms)."""
        return self.to_attributes(space, embedding, filters) | self.build_stamp(now)

    def build_stamp(self, now: int) -> Item:
        """Build the attribute for the index by age, now (epoch ms), if the format has it."""
        return {AGE_ATTRIBUTE: now} if self.is_listed_by_age else {}

    def build_tombstone(self, version: int, now: int) -> Item:
        """Build the tombstone of a removed vector, kept for a day for indexes in memory."""
        ends = to_ttl_seconds(now + TOMBSTONE_LIFETIME)
        return {"version": version, TTL_ATTRIBUTE: ends} | self.build_stamp(now)


NO_VECTORS = VectorFormat(
    NO_MODEL, "vector", lambda _space, _embedding, filters: {"model": NO_MODEL, **filters}
)
"""The format without a model: stored items are embedded when a model is available."""


class Hit(NamedTuple):
    """A result of an index.

    Attributes:
        ref: the reference of the vector's entry, fact or message.
        score: its rank in the index: the scaled cosine, or the rarity of its words.
        cosine: of the meanings, at most 1.
        written: the time of the write (epoch ms); 0 if the index does not know it.
    """

    ref: str
    score: float
    cosine: float
    written: int = 0


class Statistics(NamedTuple):
    """The number of texts, and of texts with each term of a query."""

    total: int
    counts: Mapping[str, int]

    def compute_rarity(self, term: str) -> float:
        """Compute the inverse document frequency of a term.

        Example: among 100 texts, a term in one of them has 4.2, and a term in half of them 0.7.
        """
        count = self.counts.get(term, 0)
        return log(1 + (max(self.total - count, 0) + 0.5) / (count + 0.5))


def add_statistics(each: Iterable[Statistics]) -> Statistics:
    """Add the statistics of several spaces."""
    total, counts = 0, Counter[str]()
    for statistics in each:
        total += statistics.total
        counts.update(statistics.counts)
    return Statistics(total, counts)


class Candidates(NamedTuple):
    """The hits of an index by meaning and by words of a query, each best first.

    Attributes:
        is_complete: whether these are all texts that match the filters.
        statistics: of the space; None if the index does not have them.
    """

    by_meaning: list[Hit]
    by_words: list[Hit]
    is_complete: bool
    statistics: Statistics | None = None

    @property
    def cosines(self) -> dict[str, float]:
        """The cosine of each candidate's meaning, by its reference."""
        return {hit.ref: hit.cosine for hit in (*self.by_meaning, *self.by_words)}


class VectorIndex(Protocol):
    """Searches the vectors of a space."""

    @property
    def max_results(self) -> int:
        """The largest number of hits that one search returns, by meaning and by words each."""

    def find_candidates(
        self, space: str, query: Embedding, depth: int, filters: Mapping[str, str]
    ) -> Candidates:
        """Find the `depth` best texts by meaning, and by words, among those with these filters."""


def search_with_expansion(
    wanted: int, max_results: int, search: Callable[[int], tuple[list[T], bool]]
) -> list[T]:
    """Search for more and more hits until enough of them qualify.

    Hits may be deleted, expired or filtered out after the index found them. The search ends with
    `wanted` results, when the hits are exhausted, or at the maximum of the index.

    Args:
        max_results: the largest number of hits of the index.
        search: takes the number of hits; returns qualifying ones, best first, and whether there can
            be no others.
    """
    depth = min(max(_MIN_DEPTH, _FIRST_EXPANSION * wanted), max_results)
    while True:
        found, is_complete = search(depth)
        if len(found) >= wanted or is_complete or depth == max_results:
            return found[:wanted]
        depth = min(_NEXT_EXPANSION * depth, max_results)
