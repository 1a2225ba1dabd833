"""A search asks the index for more hits until enough of them qualify."""

from functions.vectors.model import search_with_expansion

LIMIT = 500


def depths(wanted: int, qualifying: int, stored: int = 10_000) -> tuple[list[int], int]:
    """Return the hits asked for and found, if one hit in `qualifying` qualifies."""
    asked: list[int] = []

    def search(depth: int) -> tuple[list[int], bool]:
        asked.append(depth)
        hits = min(depth, stored)
        return list(range(hits // qualifying)), hits < depth

    return asked, len(search_with_expansion(wanted, LIMIT, search))


def test_twenty_hits_or_twice_as_many_as_wanted_come_first() -> None:
    assert depths(5, qualifying=1) == ([20], 5)
    assert depths(30, qualifying=1) == ([60], 30)


def test_more_hits_follow_while_too_few_qualify() -> None:
    assert depths(5, qualifying=10) == ([20, 200], 5)


def test_it_ends_at_the_indexs_maximum() -> None:
    assert depths(5, qualifying=1_000) == ([20, 200, LIMIT], 0)


def test_it_ends_with_the_last_hit() -> None:
    assert depths(5, qualifying=2, stored=8) == ([20], 4)
