"""What all parts of the client have in common."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx

from agent_memory.exceptions import InvalidAnswerError, MemoryNotFoundError

if TYPE_CHECKING:
    from agent_memory._async.client import AsyncClient

_AT_ONCE = 1000
_FOREVER = "forever"

Made = TypeVar("Made")


class AsyncResource:
    """A part of the client; it calls through the client's `request`."""

    def __init__(self, client: "AsyncClient") -> None:
        self._client = client

    async def _document(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        headers = None if version is None else {"If-Match": str(version)}
        answer = await self._client.request(method, path, params=params, json=json, headers=headers)
        return document_of(answer)

    async def _deleted(self, path: str, version: int | None = None) -> bool:
        """Deletes; whether there was something, or may have been when an answer was lost."""
        try:
            await self._document("DELETE", path, version=version)
        except MemoryNotFoundError as gone:
            return gone.may_have_happened
        return True

    async def _removed(self, path: str) -> None:
        """Deletes.

        Raises:
            MemoryNotFoundError: there is nothing, and wasn't when this call began.
        """
        try:
            await self._document("DELETE", path)
        except MemoryNotFoundError as gone:
            if not gone.may_have_happened:
                raise

    async def _listed(
        self, path: str, name: str | None, params: Mapping[str, Any] | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """The items of all pages: of the member `name`, or of a bare array."""
        offset: int | None = 0
        while offset is not None:
            asked = {"limit": _AT_ONCE, **(params or {}), "offset": offset}
            answer = await self._client.request("GET", path, params=asked)
            body = answer.json() if answer.content else {}
            for item in items(body if name is None else member(body, name)):
                yield item
            offset = position(body if name is not None else _headed(answer))


def made(kind: Callable[[Any], Made], document: Any) -> Made:
    """What `kind` makes of a document.

    Raises:
        InvalidAnswerError: the document isn't of that kind, so it isn't the service's.
    """
    try:
        return kind(document)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidAnswerError(
            "what answered isn't the memory service, or not in a version that this client knows; "
            "check server_url",
            may_have_happened=True,
        ) from None


def document_of(answer: httpx.Response) -> dict[str, Any]:
    """The object that an answer holds; an empty one if its body is empty.

    Raises:
        InvalidAnswerError: it holds something else.
    """
    return made(_object, answer.json() if answer.content else {})


def member(document: Any, name: str) -> Any:
    """A member that a document of the service has.

    Raises:
        InvalidAnswerError: it lacks it.
    """
    return made(itemgetter(name), document)


def position(page: Mapping[str, Any]) -> int | None:
    """The offset of what follows a page; None on the last one.

    Raises:
        InvalidAnswerError: it is no offset.
    """
    following = page.get("next_offset")
    return None if following is None else made(int, following)


def items(documents: Any) -> list[dict[str, Any]]:
    """A list of documents.

    Raises:
        InvalidAnswerError: it is something else.
    """
    return [made(_object, each) for each in made(_list, documents)]


def _headed(answer: httpx.Response) -> dict[str, Any]:
    return {"next_offset": answer.headers.get("X-Next-Offset")}


def _list(documents: Any) -> list[Any]:
    if not isinstance(documents, list):
        raise TypeError
    return documents


def _object(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise TypeError
    return document


def given(**fields: Any) -> dict[str, Any]:
    """The fields that aren't None."""
    return {name: value for name, value in fields.items() if value is not None}


def written(**fields: Any) -> dict[str, Any]:
    """The fields of an entry that are given, as the service takes them."""
    named = given(**fields)
    if "tags" in named:
        named["tags"] = texts(named["tags"])
    if named.get("ttl") == _FOREVER:
        named["ttl"] = None
    return named


def texts(several: Iterable[str] | None) -> list[str] | None:
    """Several texts, such as tags; None if they aren't given.

    Raises:
        TypeError: it is one text, whose characters nobody means.
    """
    if isinstance(several, str):
        raise TypeError("give a list of texts, not a text: its characters would be taken for them")
    return None if several is None else list(several)


def joined(tags: Iterable[str] | None) -> str | None:
    """Tags as a query names them; None if there are none.

    Raises:
        ValueError: one holds a comma, and would be taken for two.
    """
    named = texts(tags)
    if named and any("," in tag for tag in named):
        raise ValueError("a query separates tags by commas, so it can't ask for one that holds one")
    return ",".join(named) if named else None


def segment(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")
