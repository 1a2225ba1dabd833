"""A search asks the index for more hits until enough of them qualify."""

from collections.abc import Mapping

from functions.vectors.factory import DEFAULT_EMBED
from functions.vectors.in_memory_vectors import float16_format
from functions.vectors.model import Candidates, Embedding, VectorSearch

LIMIT = 500


class EmptyIndex:
    """An index that is never asked."""

    max_results = LIMIT

    def find_candidates(
        self, space: str, query: Embedding, depth: int, filters: Mapping[str, str]
    ) -> Candidates:
        """Find nothing."""
        raise NotImplementedError


SEARCH = VectorSearch(
    DEFAULT_EMBED, DEFAULT_EMBED, lambda _: [], float16_format("model"), EmptyIndex()
)


def depths(wanted: int, qualifying: int, stored: int = 10_000) -> tuple[list[int], int]:
    """How many hits were asked for, if one of so many qualifies, and how many were found."""
    asked: list[int] = []

    def search(depth: int) -> tuple[list[int], bool]:
        asked.append(depth)
        hits = min(depth, stored)
        return list(range(hits // qualifying)), hits < depth

    return asked, len(SEARCH.search_with_expansion(wanted, search))


def test_twenty_hits_or_twice_as_many_as_wanted_come_first() -> None:
    assert depths(5, qualifying=1) == ([20], 5)
    assert depths(30, qualifying=1) == ([60], 30)


def test_more_hits_follow_while_too_few_qualify() -> None:
    assert depths(5, qualifying=10) == ([20, 200], 5)


def test_it_ends_at_the_indexs_maximum() -> None:
    assert depths(5, qualifying=1_000) == ([20, 200, LIMIT], 0)


def test_it_ends_with_the_last_hit() -> None:
    assert depths(5, qualifying=2, stored=8) == ([20], 4)
