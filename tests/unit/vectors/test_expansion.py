"""A search asks the index for more hits until enough of them qualify."""

from array import array
from collections.abc import Mapping

from functions.vectors.in_memory_vectors import float16_format
from functions.vectors.model import Hit, Vector, VectorSearch

LIMIT = 500


class EmptyIndex:
    """An index that is never asked."""

    max_results = LIMIT

    def search(
        self, space: str, query: Vector, top_k: int, filters: Mapping[str, str]
    ) -> list[Hit]:
        """Find nothing."""
        raise NotImplementedError


SEARCH = VectorSearch(lambda _: array("f"), float16_format("model"), EmptyIndex())


def depths(wanted: int, qualifying: int, stored: int = 10_000) -> tuple[list[int], int]:
    """How many hits were asked for, if one of so many qualifies, and how many were found."""
    asked: list[int] = []

    def search(depth: int) -> tuple[list[int], bool]:
        asked.append(depth)
        hits = min(depth, stored)
        return list(range(hits // qualifying)), hits < depth

    return asked, len(SEARCH.search_with_expansion(wanted, search))


def test_twice_as_many_hits_as_wanted_come_first() -> None:
    assert depths(5, qualifying=1) == ([10], 5)


def test_more_hits_follow_while_too_few_qualify() -> None:
    assert depths(5, qualifying=10) == ([10, 100], 5)


def test_it_ends_at_the_indexs_maximum() -> None:
    assert depths(5, qualifying=1_000) == ([10, 100, LIMIT], 0)


def test_it_ends_with_the_last_hit() -> None:
    assert depths(5, qualifying=2, stored=8) == ([10], 4)
