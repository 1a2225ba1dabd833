"""Pages of lists: cut to the size of a response, with the position to continue from.

A list sorts by positions: texts that are unique in it and don't change, highest first. A page that
begins after a position neither skips nor repeats elements that stay in the list. For published
clients, some lists are bare arrays, with the position in headers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import orjson

from functions.api.documents import PagePosition, UncountedPosition
from functions.api.http import Request, Response, json_response
from functions.api.parameters import (
    AFTER,
    ARRAY_LIMIT,
    LIMIT,
    OFFSET,
    TOTAL,
    UNCOUNTED,
    IntegerParameter,
    TextParameter,
    read_either,
)
from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage, get_list_position
from functions.platform.errors import PageTooLarge, ValidationFailed
from functions.platform.json_text import get_escaped_size
from functions.platform.limits import MAX_PAGE_BYTES, MAX_RESPONSE_BYTES

D = TypeVar("D")

T = TypeVar("T")


_NO_FILTERS = frozenset({"limit", "offset", "after", "before", "total", "values", "touch"})
"""Parameters that select a part of a list, and not the list."""


def truncate_to_limit(documents: Iterable[D], beside: bytes = b"") -> list[D]:
    """Take as many documents as fit into a response, at least one.

    The documents are returned serialized: as `orjson.Fragment`, which `json_response` copies.

    Args:
        beside: other JSON in the response.
    """
    texts = _take_while_fits(map(orjson.dumps, documents), len, MAX_PAGE_BYTES - len(beside))
    if 2 * (sum(map(len, texts)) + len(beside)) + len(texts) > MAX_RESPONSE_BYTES:  # if escaped
        most_bytes = MAX_RESPONSE_BYTES - get_escaped_size(beside)
        texts = _take_while_fits(texts, get_escaped_size, most_bytes)
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


def render_page(
    found: Iterator[T], limit: int, render: Callable[[T], D], get_position: Callable[[T], str]
) -> tuple[list[D], str | None]:
    """Render up to `limit` elements, or as many as fit into a response.

    Returns:
        The documents, and the position of the last one if there are more; else None.
    """
    taken: list[T] = []

    def render_next() -> Iterator[D]:
        for each in islice(found, limit):
            taken.append(each)
            yield render(each)

    page = truncate_to_limit(render_next())
    has_more = len(page) < len(taken) or next(found, None) is not None
    return page, get_position(taken[len(page) - 1]) if taken and has_more else None


class PageRequest(NamedTuple):
    """The page of a list that a request asks for."""

    wanted: WantedPage
    sign: Callable[[str], str]

    def describe(self, taken: int, end: str | None, total: int | None) -> PagePosition:
        """Describe the returned page."""
        position: PagePosition = {"limit": self.wanted.limit}
        if total is not None:
            position["total"] = total
        if self.wanted.after is None:
            position["offset"] = self.wanted.offset
            if end is not None:
                position["next_offset"] = self.wanted.offset + taken
        if end is not None:
            position["next"] = self.sign(end)
        return position


def sign_cursor(request: Request, caller: Principal, position: str) -> str:
    """Build the cursor of a position in the list that a request asks for."""
    # A list sorts by position, such as "01hf7yat00#mem_e…". The position is signed with the list,
    # so a cursor of `?tags=a` is rejected with `?tags=b`: it would skip entries.
    return request.services.cursors.sign(position.encode(), _build_list_name(request, caller))


def read_cursor(request: Request, caller: Principal, *names: TextParameter) -> str | None:
    """Read the position after which a page begins; None if the request has none.

    Args:
        names: the alternative parameters; by default, `after`.
    """
    names = names or (AFTER,)
    cursor = read_either(request, *names)
    if cursor is None:
        return None
    position = request.services.cursors.verify(cursor, _build_list_name(request, caller))
    if position is None:
        sent = next(each.name for each in names if each.text(request) is not None)
        raise ValidationFailed(
            sent, "must be the `next` of a page of this list, with the same filters"
        )
    return position.decode()


def read_page_request(
    request: Request, caller: Principal, limit: IntegerParameter = LIMIT
) -> PageRequest:
    """Read the page of a list that a request asks for.

    Args:
        limit: the parameter of the page's size; `ARRAY_LIMIT` for a bare array.
    """
    after, total = read_cursor(request, caller), TOTAL.read(request)
    if after is not None and OFFSET.text(request) is not None:
        raise ValidationFailed("offset", "can't be combined with after")
    is_counted = total == "exact" or (total is None and after is None)
    wanted = WantedPage(limit.read(request), OFFSET.read(request), after, is_counted)
    return PageRequest(wanted, partial(sign_cursor, request, caller))


def _build_list_name(request: Request, caller: Principal) -> bytes:
    """Build the name of a request's list: tenant, path and filters."""
    filters = sorted(
        (name, values) for name, values in request.query.items() if name not in _NO_FILTERS
    )
    return orjson.dumps([caller.tenant, caller.id, request.path, filters])


def build_page(
    asked: PageRequest,
    page: BoundedPage[T],
    render: Callable[[T], D],
    get_position: Callable[[T], str] = get_list_position,
) -> tuple[list[D], PagePosition]:
    """Render the part of a page that fits into a response, and describe it."""
    elements, limit = iter(page.elements), asked.wanted.limit
    rendered, end = render_page(elements, limit, render, get_position)
    return rendered, asked.describe(len(rendered), end or page.end, page.total)


def paginate(
    request: Request,
    caller: Principal,
    read: Callable[[WantedPage], BoundedPage[T]],
    render: Callable[[T], D],
    get_position: Callable[[T], str] = get_list_position,
) -> tuple[list[D], PagePosition]:
    """Read, render and describe the page that a request asks for."""
    asked = read_page_request(request, caller)
    return build_page(asked, read(asked.wanted), render, get_position)


def paginate_uncounted(
    request: Request,
    caller: Principal,
    read: Callable[[WantedPage], Iterable[T]],
    render: Callable[[T], D],
    get_position: Callable[[T], str] = get_list_position,
) -> tuple[list[D], UncountedPosition]:
    """Read, render and describe the page of an uncounted list.

    Args:
        read: lists elements from where the page begins.
    """
    UNCOUNTED.read(request)
    asked = read_page_request(request, caller)
    wanted = asked.wanted._replace(is_counted=False)
    page, end = render_page(iter(read(wanted)), wanted.limit, render, get_position)
    position: UncountedPosition = {"limit": wanted.limit}
    if end is not None:
        position["next"] = asked.sign(end)
    return page, position


def mark_hidden(
    position: PagePosition, page: Sequence[object], is_barred: Callable[[], bool]
) -> PagePosition:
    """Mark an empty list if the caller named memory that it may not read, even a missing one.

    Args:
        is_barred: tells whether the caller may not read it; called only for an empty first page.
    """
    if not page and position.get("offset") == 0 and is_barred():
        return {**position, "hidden": True}
    return position


BARE_ARRAY_HEADERS = ("X-Total-Count", "X-Next-Offset", "X-Next", "X-Hidden")


def bare_array_response(
    request: Request, page: list[Any], position: PagePosition, available: int
) -> Response:
    """Build a response whose body is a bare array; the position is in headers.

    Args:
        request: asks for it; without a limit, for the whole list.
        available: how many there are for the page.
    """
    fitting = len(page)
    is_whole = "next" not in position or ARRAY_LIMIT.text(request) is not None
    if fitting < available or not is_whole:
        limit = max(fitting, 1)
        raise PageTooLarge(
            f"the page is too large for a response; ask for limit={limit}", limit=limit
        )
    named = {
        "x_total_count": position.get("total"),
        "x_next_offset": position.get("next_offset"),
        "x_next": position.get("next"),
        "x_hidden": "true" if "hidden" in position else None,
    }
    headers = {name: str(value) for name, value in named.items() if value is not None}
    return json_response(200, page, **headers)
