"""What all parts of the client have in common."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import httpx

from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.responses import get_member, parse_items, parse_next_page, parse_object

if TYPE_CHECKING:
    from agent_memory._sync.client import Client

_AT_ONCE = 1000


class Resource:
    """A part of the client; it calls through the client's `request`."""

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
        """Delete; whether there was something, or may have been when an answer was lost."""
        try:
            self._call("DELETE", path, version=version)
        except MemoryNotFoundError as gone:
            return gone.may_have_happened
        return True

    def _remove(self, path: str) -> None:
        """Delete.

        Raises:
            MemoryNotFoundError: there is nothing, and wasn't when this call began.
        """
        try:
            self._call("DELETE", path)
        except MemoryNotFoundError as gone:
            if not gone.may_have_happened:
                raise

    def _list(
        self, path: str, name: str | None, params: Mapping[str, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages: of the member `name`, or of a bare array."""
        asked: dict[str, Any] = {"limit": _AT_ONCE, "total": "none", **(params or {})}
        following: dict[str, Any] | None = {}
        while following is not None:
            answer = self._client.request("GET", path, params=asked | following)
            body = answer.json() if answer.content else {}
            for item in parse_items(body if name is None else get_member(body, name)):
                yield item
            following = parse_next_page(body if name is not None else _headed(answer))


def _headed(answer: httpx.Response) -> dict[str, Any]:
    headers = answer.headers
    return {"next": headers.get("X-Next"), "next_offset": headers.get("X-Next-Offset")}
