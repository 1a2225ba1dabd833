"""A page examines a bounded number of elements, and says where the list continues."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform.bounded_pages import (
    Examined,
    WantedPage,
    count_page,
    examine_all,
    take_page,
)
from functions.platform.items import Item
from functions.platform.newest_first import iterate_groups


def examine(count: int, shown: set[int], examined: list[int]) -> Iterator[Examined[int]]:
    """Examine the numbers below `count`, highest first, and note which ones were examined."""
    for number in reversed(range(count)):
        examined.append(number)
        yield Examined(f"{number:03}", number if number in shown else None)


@pytest.mark.parametrize(
    ("shown", "expected", "most_examined"),
    [
        ({99, 98, 97, 96}, ([99, 98], "098"), 3),
        ({99, 98}, ([99, 98], "090"), 11),
        ({99, 91}, ([99, 91], "090"), 11),
        ({99, 50}, ([99], "090"), 11),
        (set[int](), ([], "090"), 11),
    ],
)
def test_a_page_ends_where_it_has_examined_enough(
    shown: set[int], expected: tuple[list[int], str], most_examined: int
) -> None:
    examined: list[int] = []
    assert take_page(examine(100, shown, examined), WantedPage(2), most=10) == (*expected, None)
    assert len(examined) <= most_examined


def test_the_last_page_names_no_position() -> None:
    assert take_page(examine(10, {3}, []), WantedPage(2), most=10) == ([3], None, None)
    assert take_page(examine(10, {3, 1}, []), WantedPage(2), most=10) == ([3, 1], None, None)
    assert take_page(examine(0, set(), []), WantedPage(2)) == ([], None, None)


def test_an_offset_is_passed_over_however_much_has_to_be_examined() -> None:
    wanted = WantedPage(1, offset=2)
    assert take_page(examine(100, {99, 50, 49, 48}, []), wanted, most=10) == ([49], "049", None)
    assert take_page(examine(100, {99}, []), wanted, most=10) == ([], None, None)


@given(st.sets(st.integers(0, 40)), st.integers(1, 5), st.integers(1, 10))
def test_pages_in_turn_show_everything_once(shown: set[int], limit: int, most: int) -> None:
    found, end, _ = take_page(examine(41, shown, []), WantedPage(limit), most)
    while end is not None:
        page, end, _ = take_page(examine(int(end), shown, []), WantedPage(limit), most)
        found += page
    assert found == sorted(shown, reverse=True)


@given(st.integers(0, 9), st.integers(0, 10), st.integers(1, 4))
def test_a_counted_page_is_the_slice_of_the_list(count: int, offset: int, limit: int) -> None:
    everything = list(reversed(range(count)))
    page, end, total = count_page(everything, str, WantedPage(limit, offset))
    assert (page, total) == (everything[offset : offset + limit], count)
    assert end == (str(page[-1]) if page and offset + limit < count else None)
    if end is not None:
        following = count_page(everything, str, WantedPage(limit, after=end))
        assert following.elements == everything[offset + limit :][:limit]
        assert following.total == count


def test_elements_are_examined_by_what_they_are() -> None:
    assert list(examine_all([2, 1], str, lambda each: each == 1)) == [("2", None), ("1", 1)]


def test_groups_double_until_the_list_ends() -> None:
    sizes: list[int] = []

    def read(before: str | None, size: int) -> list[Item]:
        sizes.append(size)
        below = 30 if before is None else int(before)
        return [{"at": f"{number:02}"} for number in range(below - 1, -1, -1)[:size]]

    groups = list(iterate_groups(read, "at", None, 3, 10))
    assert sizes == [3, 6, 10, 10, 10]
    assert [row["at"] for rows in groups for row in rows] == [f"{n:02}" for n in range(29, -1, -1)]
