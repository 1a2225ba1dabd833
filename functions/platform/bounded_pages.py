"""Pages of lists that leave elements out: by filters, by what the caller may not see, by expiry.

A store lists elements from where a wanted page begins, highest position first; from the list's
begin if the page is counted. `read_page` takes the page from them. It examines a bounded number of
elements. Where few of them are shown it may be shorter than its limit, or empty, and still says
where the list continues.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from functions.platform.limits import MAX_EXAMINED, MAX_PAGE_ITEMS

T = TypeVar("T")

get_list_position: Callable[[Any], str] = attrgetter("list_position")
"""Get what most lists sort by."""


class Examined(NamedTuple, Generic[T]):
    """An element of a list that was examined; None in its place if it isn't shown."""

    position: str
    element: T | None


class WantedPage(NamedTuple):
    """Which page of a list is wanted.

    Attributes:
        limit: how many elements at most.
        offset: how many shown elements to pass over; 0 with `after`.
        after: the position after which the page begins; None for the list's begin.
        is_counted: whether to count the whole list; else the cost grows with the page alone.
    """

    limit: int
    offset: int = 0
    after: str | None = None
    is_counted: bool = False

    @property
    def begin(self) -> str | None:
        """The position after which to list elements; None for the list's begin."""
        return None if self.is_counted else self.after

    @property
    def read_size(self) -> int:
        """The number of elements to read together: those of the page and one more."""
        return MAX_PAGE_ITEMS if self.is_counted else self.offset + self.limit + 1


WHOLE = WantedPage(MAX_PAGE_ITEMS, is_counted=True)
"""All of a list."""


class BoundedPage(NamedTuple, Generic[T]):
    """A page of a list.

    Attributes:
        end: the position after which the list continues; None at its end.
        total: how many elements the list has; None if they weren't counted.
    """

    elements: list[T]
    end: str | None
    total: int | None = None


def sort_newest(elements: Iterable[T], wanted: WantedPage = WHOLE) -> list[T]:
    """Sort elements that have a `list_position`, from where a page begins on."""
    begin = wanted.begin
    listed = (each for each in elements if begin is None or get_list_position(each) < begin)
    return sorted(listed, key=get_list_position, reverse=True)


def select_shown(examined: Iterable[Examined[T]]) -> Iterator[T]:
    return (element for _, element in examined if element is not None)


def read_page(
    wanted: WantedPage,
    elements: Iterable[T],
    is_shown: Callable[[T], bool] = lambda _: True,
    get_position: Callable[[T], str] = get_list_position,
) -> BoundedPage[T]:
    """Read a page of a list.

    Args:
        elements: the list from `wanted.begin` on, highest position first.
        get_position: gives what the list sorts by.
    """
    return take_page(
        wanted,
        (Examined(get_position(each), each if is_shown(each) else None) for each in elements),
    )


def take_page(
    wanted: WantedPage, examined: Iterator[Examined[T]], most: int = MAX_EXAMINED
) -> BoundedPage[T]:
    """Take a page of elements of which some were found to be hidden, or gone.

    Args:
        wanted: the page; what its offset passes over is as much as it takes.
        examined: the list from `wanted.begin` on, highest position first.
        most: how many elements to examine after the offset of a page that isn't counted.
    """
    if wanted.is_counted:
        return _count_page(wanted, examined)
    skipped = islice(select_shown(examined), wanted.offset)
    if sum(1 for _ in skipped) < wanted.offset:
        return BoundedPage([], None)
    found: list[T] = []
    end = None
    for position, element in islice(examined, most):
        if element is not None:
            if len(found) == wanted.limit:
                return BoundedPage(found, end)
            found.append(element)
        end = position
    has_more = next(examined, None) is not None
    return BoundedPage(found, end if has_more else None)


def _count_page(wanted: WantedPage, examined: Iterator[Examined[T]]) -> BoundedPage[T]:
    limit, offset, after, _ = wanted
    found: list[T] = []
    end, total, passed = None, 0, 0
    for position, element in examined:
        if element is None:
            continue
        total += 1
        passed += after is None or position < after
        if offset < passed <= offset + limit:
            found.append(element)
            end = position
    return BoundedPage(found, end if passed > offset + limit else None, total)
