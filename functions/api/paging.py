"""Pages of lists: cut to what a response holds, with where to continue.

A list sorts by positions: texts that are unique in it and don't change, highest first. A page that
begins after a position neither skips nor repeats what stays in the list.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import orjson

from functions.api.http import Request
from functions.api.parameters import (
    AFTER,
    LIMIT,
    OFFSET,
    TOTAL,
    UNCOUNTED,
    IntegerParameter,
    TextParameter,
    read_either,
)
from functions.api.responses.types import PagePosition, UncountedPosition
from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, Examined, count_page, take_page
from functions.platform.errors import ValidationFailed
from functions.platform.json_text import get_escaped_size
from functions.platform.limits import MAX_PAGE_BYTES, MAX_RESPONSE_BYTES

D = TypeVar("D")
T = TypeVar("T")

_NO_FILTERS = frozenset({"limit", "offset", "after", "before", "total", "values", "touch"})
"""Parameters that say how much of a list is answered, and not which list."""


def truncate_to_limit(documents: Iterable[D], beside: bytes = b"") -> list[D]:
    """Take as many documents as a response holds, at least one.

    The documents come back serialised: `orjson.Fragment`s, which `json_response` copies.

    Args:
        beside: JSON that the response holds besides them.
    """
    texts = _take_while_fits(map(orjson.dumps, documents), len, MAX_PAGE_BYTES - len(beside))
    if 2 * (sum(map(len, texts)) + len(beside)) + len(texts) > MAX_RESPONSE_BYTES:  # if escaped
        room = MAX_RESPONSE_BYTES - get_escaped_size(beside)
        texts = _take_while_fits(texts, get_escaped_size, room)
    rendered: list[Any] = [orjson.Fragment(text) for text in texts]
    return rendered


def _take_while_fits(
    texts: Iterable[bytes], size: Callable[[bytes], int], limit: int
) -> list[bytes]:
    """Take texts while they have at most `limit` bytes together, each with a comma."""
    taken: list[bytes] = []
    for text in texts:
        limit -= size(text) + 1
        if limit < 0 and taken:
            break
        taken.append(text)
    return taken


class PageRequest(NamedTuple):
    """Which page of a list a request asks for.

    Attributes:
        limit: how many elements at most.
        offset: how many to pass over; 0 with `after`.
        after: the position after which the page begins; None for the first page.
        is_counted: whether the answer says how many there are.
        sign: makes the cursor of a position in this list.
    """

    limit: int
    offset: int
    after: str | None
    is_counted: bool
    sign: Callable[[str], str]

    def describe(self, taken: int, end: str | None, total: int | None) -> PagePosition:
        """Describe the page that answers the request.

        Args:
            taken: how many elements the page shows.
            end: the position after which the list continues; None at its end.
            total: how many there are; None if they weren't counted.
        """
        position: PagePosition = {"limit": self.limit}
        if total is not None:
            position["total"] = total
        if self.after is None:
            position["offset"] = self.offset
            if end is not None:
                position["next_offset"] = self.offset + taken
        if end is not None:
            position["next"] = self.sign(end)
        return position


def sign_cursor(request: Request, caller: Principal, position: str) -> str:
    """Make the cursor of a position in the list that a request asks for."""
    return request.services.cursors.sign(_build_list_name(request, caller), position)


def read_cursor(request: Request, caller: Principal, *names: TextParameter) -> str | None:
    """Read the position after which a page begins; None if the request names none.

    Args:
        names: the parameters of which one may be sent; `after` alone unless given.

    Raises:
        ValidationFailed: what is sent is no cursor of this list, or more than one is.
    """
    names = names or (AFTER,)
    cursor = read_either(request, *names)
    if cursor is None:
        return None
    position = request.services.cursors.verify(_build_list_name(request, caller), cursor)
    if position is None:
        sent = next(each.name for each in names if each.text(request) is not None)
        raise ValidationFailed(sent, "is no `next` of this list with these filters")
    return position


def read_page_request(
    request: Request, caller: Principal, limit: IntegerParameter = LIMIT
) -> PageRequest:
    """Read which page of a list a request asks for.

    Args:
        request: asks for the page.
        caller: who asks.
        limit: the parameter that says how many elements; `ARRAY_LIMIT` of a bare array.

    Raises:
        ValidationFailed: a parameter is wrong, or `after` is no cursor of this list.
    """
    after, total = read_cursor(request, caller), TOTAL.read(request)
    if after is not None and OFFSET.text(request) is not None:
        raise ValidationFailed("offset", "doesn't go with after")
    return PageRequest(
        limit.read(request),
        OFFSET.read(request),
        after,
        total == "exact" or (total is None and after is None),
        partial(sign_cursor, request, caller),
    )


def _build_list_name(request: Request, caller: Principal) -> bytes:
    """Name the list of a request: whose it is, its path and its filters."""
    filters = sorted(
        (name, values) for name, values in request.query.items() if name not in _NO_FILTERS
    )
    return orjson.dumps([caller.tenant, caller.id, request.path, filters])


def build_page(
    wanted: PageRequest,
    page: BoundedPage[T],
    total: int | None,
    render: Callable[[T], D],
    get_position: Callable[[T], str],
) -> tuple[list[D], PagePosition]:
    """Render a page, as far as a response holds it, and describe it.

    Args:
        wanted: the page that is asked for.
        page: its elements, and where the list continues.
        total: how many the list has; None if they weren't counted.
        render: renders an element.
        get_position: gives what the list sorts by.
    """
    rendered = truncate_to_limit(map(render, page.elements))
    taken = len(rendered)
    is_whole = taken == len(page.elements)
    end = page.end if is_whole else get_position(page.elements[taken - 1])
    return rendered, wanted.describe(taken, end, total)


def paginate(
    request: Request,
    caller: Principal,
    read_all: Callable[[], Iterable[T]],
    iterate: Callable[[str | None, int], Iterator[Examined[T]]],
    render: Callable[[T], D],
    get_position: Callable[[T], str],
    limit: IntegerParameter = LIMIT,
) -> tuple[list[D], PagePosition]:
    """Take the page that a request asks for from a list that is read as far as it needs.

    Args:
        request: asks for the page.
        caller: who asks.
        read_all: reads all elements, to count them.
        iterate: examines elements one after another, from a position on; first so many together.
        render: renders an element.
        get_position: gives what the list sorts by.
        limit: as for `read_page_request`.
    """
    wanted, page, total = read_page_of(request, caller, read_all, iterate, get_position, limit)
    return build_page(wanted, page, total, render, get_position)


def read_page_of(
    request: Request,
    caller: Principal,
    read_all: Callable[[], Iterable[T]],
    iterate: Callable[[str | None, int], Iterator[Examined[T]]],
    get_position: Callable[[T], str],
    limit: IntegerParameter = LIMIT,
) -> tuple[PageRequest, BoundedPage[T], int | None]:
    """Read the elements of such a page, and how many there are if they are counted."""
    wanted = read_page_request(request, caller, limit)
    if wanted.is_counted:
        page, total = count_page(
            read_all(), get_position, wanted.after, wanted.offset, wanted.limit
        )
        return wanted, page, total
    examined = iterate(wanted.after, wanted.offset + wanted.limit + 1)
    return wanted, take_page(examined, wanted.offset, wanted.limit), None


def paginate_uncounted(
    request: Request,
    caller: Principal,
    read: Callable[[str | None, int], Sequence[T]],
    render: Callable[[T], D],
    get_position: Callable[[T], str],
) -> tuple[list[D], UncountedPosition]:
    """Take the page that a request asks for from a list that is never counted.

    Args:
        request: asks for the page.
        caller: who asks.
        read: reads so many elements behind a position; behind None from the begin.
        render: renders an element.
        get_position: gives what the list sorts by.
    """
    UNCOUNTED.read(request)
    wanted = read_page_request(request, caller)
    found = read(wanted.after, wanted.limit + 1)
    page = truncate_to_limit(map(render, found[: wanted.limit]))
    position: UncountedPosition = {"limit": wanted.limit}
    if len(page) < len(found):
        position["next"] = wanted.sign(get_position(found[len(page) - 1]))
    return page, position


def mark_hidden(
    position: PagePosition, page: Sequence[object], has_hidden: Callable[[], bool]
) -> PagePosition:
    """Say of an empty list whether there is what the caller may not read.

    Args:
        position: describes the page.
        page: its elements.
        has_hidden: whether there are; asked only where the list is empty from its begin.
    """
    if not page and position.get("offset") == 0 and has_hidden():
        return {**position, "hidden": True}
    return position
