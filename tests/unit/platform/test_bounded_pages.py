"""A page examines a bounded number of elements, and says where the list continues."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.platform.bounded_pages import (
    BoundedPage,
    Examined,
    WantedPage,
    read_page,
    sort_newest,
    take_page,
)
from functions.platform.items import Item
from functions.platform.newest_first import iterate_groups
from functions.tasks.model import Grant


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
    assert take_page(WantedPage(2), examine(100, shown, examined), most=10) == (*expected, None)
    assert len(examined) <= most_examined


def test_the_last_page_names_no_position() -> None:
    assert take_page(WantedPage(2), examine(10, {3}, []), most=10) == ([3], None, None)
    assert take_page(WantedPage(2), examine(10, {3, 1}, []), most=10) == ([3, 1], None, None)
    assert take_page(WantedPage(2), examine(0, set(), [])) == ([], None, None)


def test_an_offset_is_passed_over_however_much_has_to_be_examined() -> None:
    wanted = WantedPage(1, offset=2)
    assert take_page(wanted, examine(100, {99, 50, 49, 48}, []), most=10) == ([49], "049", None)
    assert take_page(wanted, examine(100, {99}, []), most=10) == ([], None, None)


@given(st.sets(st.integers(0, 40)), st.integers(1, 5), st.integers(1, 10))
def test_pages_in_turn_show_everything_once(shown: set[int], limit: int, most: int) -> None:
    found, end, _ = take_page(WantedPage(limit), examine(41, shown, []), most)
    while end is not None:
        page, end, _ = take_page(WantedPage(limit), examine(int(end), shown, []), most)
        found += page
    assert found == sorted(shown, reverse=True)


@given(st.integers(0, 9), st.integers(0, 10), st.integers(1, 4))
def test_a_counted_page_is_the_slice_of_the_list(count: int, offset: int, limit: int) -> None:
    everything = list(reversed(range(count)))

    def read(wanted: WantedPage) -> BoundedPage[int]:
        return read_page(wanted, everything, get_position=str)

    page, end, total = read(WantedPage(limit, offset, is_counted=True))
    assert (page, total) == (everything[offset : offset + limit], count)
    assert end == (str(page[-1]) if page and offset + limit < count else None)
    if end is not None:
        following = read(WantedPage(limit, after=end, is_counted=True))
        assert following.elements == everything[offset + limit :][:limit]
        assert following.total == count


def test_hidden_elements_are_neither_shown_nor_counted() -> None:
    def read(wanted: WantedPage) -> BoundedPage[int]:
        return read_page(wanted, [4, 3, 2, 1], lambda each: each % 2 == 1, str)

    assert read(WantedPage(1, is_counted=True)) == ([3], "3", 2)
    assert read(WantedPage(2)) == ([3, 1], None, None)
    assert read(WantedPage(1)) == ([3], "2", None)


def test_a_list_in_memory_is_sorted_from_where_a_page_begins() -> None:
    grants = [Grant("a", "read", 0, created_at=each) for each in (2, 3, 1)]
    after = grants[1].list_position
    assert [each.created_at for each in sort_newest(grants)] == [3, 2, 1]
    for is_counted, expected in ((False, [2, 1]), (True, [3, 2, 1])):
        wanted = WantedPage(9, after=after, is_counted=is_counted)
        assert [each.created_at for each in sort_newest(grants, wanted)] == expected


def test_groups_double_until_the_list_ends() -> None:
    sizes: list[int] = []

    def read(before: str | None, size: int) -> list[Item]:
        sizes.append(size)
        below = 30 if before is None else int(before)
        return [{"at": f"{number:02}"} for number in range(below - 1, -1, -1)[:size]]

    groups = list(iterate_groups(read, "at", WantedPage(2), 10))
    assert sizes == [3, 6, 10, 10, 10]
    assert [row["at"] for rows in groups for row in rows] == [f"{n:02}" for n in range(29, -1, -1)]
