"""The base of all parts of the client."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import httpx

from agent_memory._sync.pages import Pages, to_pages
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.page import Item, Page, Paging
from agent_memory.requests import drop_none
from agent_memory.responses import get_member, parse, parse_items, parse_object, parse_position

if TYPE_CHECKING:
    from agent_memory._sync.client import Client


class Resource:
    """A part of the client, which calls by the client's `request`."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        headers = None if version is None else {"If-Match": str(version)}
        answer = self._client.request(method, path, params=params, json=json, headers=headers)
        return parse_object(answer)

    def _delete(self, path: str, version: int | None = None) -> bool:
        """Delete; return True if it existed, or may have existed at a lost attempt."""
        try:
            self._call("DELETE", path, version=version)
        except MemoryNotFoundError as gone:
            return gone.may_have_happened
        return True

    def _remove(self, path: str) -> None:
        """Delete.

        Raises:
            MemoryNotFoundError: it does not exist, and did not when this call began.
        """
        try:
            self._call("DELETE", path)
        except MemoryNotFoundError as gone:
            if not gone.may_have_happened:
                raise

    def _list(
        self,
        path: str,
        member: str | None,
        read: Callable[[dict[str, Any]], Item],
        paging: Paging,
        params: Mapping[str, Any] | None = None,
    ) -> Pages[Item]:
        """Return the list at a path.

        Args:
            member: the member of the response that has the items; None: the response is an array.
            read: builds an item from its document.
            params: the filters of the list.

        Raises:
            TypeError: raised when a keyword of the call isn't one of `Paging`.
        """

        def fetch(size: int, position: str | None) -> Page[Item]:
            return self._fetch(path, member, read, params or {}, size, position)

        return to_pages(fetch, paging)

    def _fetch(
        self,
        path: str,
        member: str | None,
        read: Callable[[dict[str, Any]], Item],
        params: Mapping[str, Any],
        size: int,
        position: str | None,
    ) -> Page[Item]:
        """Fetch a page by its size and its position."""
        asked = {"total": "none", **params, **drop_none(limit=size, after=position)}
        answer = self._client.request("GET", path, params=asked)
        return _read_page(answer, member, read)


def _read_page(
    answer: httpx.Response, member: str | None, read: Callable[[dict[str, Any]], Item]
) -> Page[Item]:
    if member is None:
        documents = parse_items(answer.json() if answer.content else None)
        return Page([parse(read, each) for each in documents], answer.headers.get("X-Next"))
    body = parse_object(answer)
    documents = parse_items(get_member(body, member))
    return Page([parse(read, each) for each in documents], parse_position(body))
