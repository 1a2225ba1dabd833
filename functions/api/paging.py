"""Lists: parameters checked, pages cut (contract §3)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import orjson

from functions.api.documents import Document
from functions.api.http import Request
from functions.platform.errors import ValidationFailed
from functions.platform.jsontext import payload_size
from functions.platform.limits import (
    DEFAULT_PAGE_ITEMS,
    MAX_OFFSET,
    MAX_PAGE_BYTES,
    MAX_PAGE_ITEMS,
    MAX_RESPONSE_BYTES,
)

PAGE = ("limit", "offset")


def single(request: Request, name: str) -> str | None:
    """A query parameter that may be given once.

    Raises:
        ValidationFailed: it is given more than once.
    """
    values = request.query.get(name)
    if values is None:
        return None
    if len(values) > 1:
        raise ValidationFailed(name, "is given more than once")
    return values[0]


def assert_known_parameters(request: Request, known: Iterable[str]) -> None:
    """Raise `ValidationFailed` if the request has query parameters that its route doesn't know."""
    unknown = sorted(request.query.keys() - set(known))
    if unknown:
        problems = [(name, "is no parameter of this call") for name in unknown]
        raise ValidationFailed(*problems[0], *problems[1:])


def limits(request: Request) -> tuple[int, int]:
    """`limit` (1-1000, default 100) and `offset` (from 0) of a list."""
    limit = number(request, "limit", DEFAULT_PAGE_ITEMS, 1, MAX_PAGE_ITEMS)
    return limit, number(request, "offset", 0, 0, MAX_OFFSET)


def number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A query parameter that is a whole number.

    Raises:
        ValidationFailed: it is none, or out of range.
    """
    text = single(request, name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise ValidationFailed(name, f"is a whole number from {least} to {most}")
    return int(text)


def cut(documents: Iterable[Document]) -> list[Any]:
    """As many documents as an answer holds, serialised; at least one."""
    texts = _first(map(orjson.dumps, documents), len, MAX_PAGE_BYTES)
    if 2 * sum(map(len, texts)) + len(texts) > MAX_RESPONSE_BYTES:  # if all had to be escaped
        texts = _first(texts, payload_size, MAX_RESPONSE_BYTES)
    return [orjson.Fragment(text) for text in texts]


def _first(texts: Iterable[bytes], size: Callable[[bytes], int], room: int) -> list[bytes]:
    """As many as there is room for, each with a comma; at least one."""
    taken: list[bytes] = []
    for text in texts:
        room -= size(text) + 1
        if room < 0 and taken:
            break
        taken.append(text)
    return taken


def envelope(
    name: str, page: Sequence[Any], total: int, limit: int, offset: int, taken: int
) -> Document:
    """A page of a list; `taken` is how far into the list it reaches."""
    document = {name: page, "total": total, "limit": limit, "offset": offset}
    return document | ({"next_offset": offset + taken} if offset + taken < total else {})


def position(total: int, offset: int, taken: int) -> dict[str, str]:
    """What an envelope would say of a bare array, as headers."""
    headers = {"x_total_count": str(total)}
    return headers | ({"x_next_offset": str(offset + taken)} if offset + taken < total else {})


def listed(request: Request, name: str, documents: Sequence[Document]) -> Document:
    """A page of a list that is at hand as a whole."""
    limit, offset = limits(request)
    page = cut(documents[offset : offset + limit])
    return envelope(name, page, len(documents), limit, offset, len(page))
