"""Pages of lists: cut to what a response holds, with where to go on (contract §3)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import orjson

from functions.api.http import Request
from functions.api.parameters import LIMIT, OFFSET
from functions.api.responses.types import PagePosition
from functions.platform.json_text import get_escaped_size
from functions.platform.limits import MAX_PAGE_BYTES, MAX_RESPONSE_BYTES

D = TypeVar("D")


def truncate_to_limit(documents: Iterable[D]) -> list[D]:
    """Take as many documents as a response holds, at least one.

    The documents come back serialised: `orjson.Fragment`s, which `json_response` copies.
    """
    texts = _take_while_fits(map(orjson.dumps, documents), len, MAX_PAGE_BYTES)
    if 2 * sum(map(len, texts)) + len(texts) > MAX_RESPONSE_BYTES:  # if all had to be escaped
        texts = _take_while_fits(texts, get_escaped_size, MAX_RESPONSE_BYTES)
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


def page_position(total: int, limit: int, offset: int, taken: int) -> PagePosition:
    """Describe a page of a list; `taken` is how many of the list's items it covers."""
    position: PagePosition = {"total": total, "limit": limit, "offset": offset}
    if offset + taken < total:
        position["next_offset"] = offset + taken
    return position


def page_headers(total: int, offset: int, taken: int) -> dict[str, str]:
    """Describe a page that is a bare array, in headers; names with underscores."""
    headers = {"x_total_count": str(total)}
    return headers | ({"x_next_offset": str(offset + taken)} if offset + taken < total else {})


def paginate(request: Request, documents: Sequence[D]) -> tuple[list[D], PagePosition]:
    """Take a page of a list that is at hand as a whole."""
    limit, offset = LIMIT.read(request), OFFSET.read(request)
    page = truncate_to_limit(documents[offset : offset + limit])
    return page, page_position(len(documents), limit, offset, len(page))
