"""Pages of lists that hide elements: by filters, access, or expiry.

A store lists elements from the begin of the wanted page, highest position first; from the begin of
the list if the page is counted. `read_page` takes the page from them. It examines a bounded number
of elements. If few of them are shown, the page may be shorter than its limit, or empty, and still
has the position where the list continues.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from functions.platform.limits import MAX_EXAMINED, MAX_PAGE_ITEMS

T = TypeVar("T")

get_list_position: Callable[[Any], str] = attrgetter("list_position")
"""Get the position of an element in most lists."""


class Examined(NamedTuple, Generic[T]):
    """An examined element of a list; None if it isn't shown."""

    position: str
    element: T | None


class WantedPage(NamedTuple):
    """A page of a list that is wanted.

    Attributes:
        limit: the maximum number of elements.
        offset: the number of shown elements to skip; 0 with `after`.
        after: the position after which the page begins; None for the list's begin.
        is_counted: whether to count the whole list; else the cost depends on the page alone.
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
        """The number of elements to read together: the page and one more."""
        return MAX_PAGE_ITEMS if self.is_counted else self.offset + self.limit + 1


WHOLE = WantedPage(MAX_PAGE_ITEMS, is_counted=True)
"""All of a list."""


class BoundedPage(NamedTuple, Generic[T]):
    """A page of a list.

    Attributes:
        end: the position after which the list continues; None at its end.
        total: the number of elements of the list; None if they weren't counted.
    """

    elements: list[T]
    end: str | None
    total: int | None = None


def sort_newest(elements: Iterable[T], wanted: WantedPage = WHOLE) -> list[T]:
    """Sort elements by their `list_position`, from the begin of a page."""
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
        get_position: returns the position of an element.
    """
    return take_page(
        wanted,
        (Examined(get_position(each), each if is_shown(each) else None) for each in elements),
    )


def take_page(
    wanted: WantedPage, examined: Iterator[Examined[T]], most: int = MAX_EXAMINED
) -> BoundedPage[T]:
    """Take a page of examined elements, some of which are hidden or gone.

    Args:
        wanted: the page; all elements that its offset skips are examined.
        examined: the list from `wanted.begin` on, highest position first.
        most: the maximum number of elements to examine after the offset of an uncounted page.
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
