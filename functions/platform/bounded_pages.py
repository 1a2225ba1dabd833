"""Pages of lists that leave elements out: by filters, by what the caller may not see, by expiry.

A page examines a bounded number of elements. Where few of them are shown it may be shorter than
its limit, or empty, and still says where the list continues.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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


class Listed(NamedTuple, Generic[T]):
    """An element of a list whose large values are read when they are asked for.

    Attributes:
        position: where it is in the list.
        head: the element without its values.
        load: reads it with its values; None if it has just been deleted.
    """

    position: str
    head: T
    load: Callable[[], T | None]


def load_listed(listed: Iterable[Listed[T]], *, has_values: bool) -> Iterator[tuple[str, T]]:
    """Load elements, each with its position; those that have just been deleted are left out.

    Args:
        has_values: whether to read their values.
    """
    for each in listed:
        element = each.load() if has_values else each.head
        if element is not None:
            yield each.position, element


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
    def read_size(self) -> int:
        """Return the number of elements to read together: those of the page and one more."""
        return self.offset + self.limit + 1


class BoundedPage(NamedTuple, Generic[T]):
    """A page of a list.

    Attributes:
        elements: those of the page.
        end: the position after which the list continues; None at its end.
        total: how many elements the list has; None if they weren't counted.
    """

    elements: list[T]
    end: str | None
    total: int | None = None


def examine_all(
    elements: Iterable[T],
    get_position: Callable[[T], str],
    is_shown: Callable[[T], bool] = lambda _: True,
) -> Iterator[Examined[T]]:
    """Examine elements one after another."""
    return (Examined(get_position(each), each if is_shown(each) else None) for each in elements)


def examine_after(
    elements: Sequence[T], get_position: Callable[[T], str], after: str | None
) -> Iterator[Examined[T]]:
    """Examine what comes after a position in a list in memory, highest position first."""
    rest = (each for each in elements if after is None or get_position(each) < after)
    return examine_all(rest, get_position)


def filter_shown(
    examined: Iterable[Examined[T]], is_shown: Callable[[T], bool]
) -> Iterator[Examined[T]]:
    """Leave further elements out of what is shown."""
    for position, element in examined:
        has_element = element is not None and is_shown(element)
        yield Examined(position, element if has_element else None)


def select_shown(examined: Iterable[Examined[T]]) -> Iterator[T]:
    return (element for _, element in examined if element is not None)


def read_page(
    wanted: WantedPage,
    iterate: Callable[[str | None, int], Iterator[Examined[T]]],
    get_position: Callable[[T], str],
    read_all: Callable[[], Iterable[T]] | None = None,
) -> BoundedPage[T]:
    """Read a page of a list as far as it needs, or all of the list to count it.

    Args:
        iterate: examines elements one after another, from a position on; the first ones together.
        get_position: gives what the list sorts by.
        read_all: reads all elements that are shown, to count them; by `iterate` unless given.
    """
    if not wanted.is_counted:
        return take_page(iterate(wanted.after, wanted.read_size), wanted)
    every = select_shown(iterate(None, MAX_PAGE_ITEMS)) if read_all is None else read_all()
    return count_page(every, get_position, wanted)


def read_newest(
    wanted: WantedPage,
    iterate: Callable[[str | None, int], Iterable[T]],
    read_all: Callable[[], Iterable[T]],
    is_shown: Callable[[T], bool] = lambda _: True,
) -> BoundedPage[T]:
    """Read a page of a list of elements that have a `list_position`, the highest one first.

    Args:
        iterate: reads elements in this order, from a position on, by an index that may lag; first
            together.
        read_all: reads all elements in any order, to count them.
    """

    def examine(before: str | None, count: int) -> Iterator[Examined[T]]:
        return examine_all(iterate(before, count), get_list_position, is_shown)

    def read_shown() -> list[T]:
        return sorted(filter(is_shown, read_all()), key=get_list_position, reverse=True)

    return read_page(wanted, examine, get_list_position, read_shown)


def take_page(
    examined: Iterator[Examined[T]], wanted: WantedPage, most: int = MAX_EXAMINED
) -> BoundedPage[T]:
    """Take the elements of a page.

    Args:
        examined: the list from the page's begin on, or from its own if there is an offset.
        wanted: the page; what its offset passes over is as much as it takes.
        most: how many elements to examine after the offset.
    """
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


def count_page(
    elements: Iterable[T], get_position: Callable[[T], str], wanted: WantedPage
) -> BoundedPage[T]:
    """Take the elements of a page, and count those of the whole list, highest position first."""
    limit, offset, after, _ = wanted
    page: list[T] = []
    total, passed = 0, 0
    for each in elements:
        total += 1
        passed += after is None or get_position(each) < after
        if offset < passed <= offset + limit:
            page.append(each)
    has_more = page and passed > offset + limit
    return BoundedPage(page, get_position(page[-1]) if has_more else None, total)
