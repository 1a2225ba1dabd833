"""Strands' `Storage`: bytes under keys, as objects of the service."""

import asyncio
import builtins
import copy
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from strands.storage.search import KeywordSearchStrategy, SearchStrategy, StorageSearchResult
from strands.storage.storage import _NAMESPACED
from strands.types.exceptions import StorageError

from agent_memory import AsyncClient, Client
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.conversion import to_sync
from agent_memory.exceptions import AgentMemoryError
from agent_memory.model import Sensitivity

_Result = TypeVar("_Result")
_PAGE = 1000


class AgentMemoryStorage:
    """Strands' `Storage`, for snapshots of sessions and other data that Strands stores by key.

    Each key is an object, which a write replaces. Keys follow the rules of Strands' own storages:
    several slashes count as one, and `..` is not allowed. Objects belong to the principal. Any
    event loop and thread may use it.

    Args:
        client: calls as the principal; stays open.
        prefix: of all keys in the service; each prefix is a separate storage.
        ttl: the lifetime of each object, from its write: seconds, a timedelta, or an ISO 8601
            duration. None: until it is deleted.
        sensitivity: `confidential` or `restricted` to store all encrypted.
        search_strategy: the strategy of `search`; by default, it reads all and compares words.

    Raises:
        TypeError: raised when it is no client.
        StorageError: raised when the prefix is invalid.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        prefix: str = "",
        *,
        ttl: str | float | timedelta | None = None,
        sensitivity: Sensitivity | None = None,
        search_strategy: SearchStrategy[Any] | None = None,
    ) -> None:
        self._strategy = search_strategy
        self._storage = ObjectStorage(to_sync(client), "strands-storage", ttl, sensitivity)
        self._prefix = _extend("", prefix)

    async def write(self, key: str, data: bytes) -> None:
        """Create or replace the data of a key.

        Raises:
            StorageError: the key is invalid, or the data was not stored or not indexed.
        """
        place = self._place(key)
        await self._run(self._storage.put, place, bytes(data))
        if self._strategy is not None:
            try:
                await self._strategy.index(self, place.removeprefix(self._prefix), data)
            except Exception as failed:
                raise StorageError(f"{key!r} is stored, but not indexed") from failed

    async def read(self, key: str) -> bytes | None:
        """Return the data of a key; None if there is none.

        Raises:
            StorageError: the key is invalid, or it could not be read.
        """
        found = await self._run(self._storage.get, self._place(key))
        return None if found is None else found.data

    async def delete(self, key: str) -> None:
        """Delete the data of a key, if any.

        Raises:
            StorageError: the key is invalid, or it was not deleted.
        """
        await self._run(self._storage.delete, [self._place(key)])

    async def list(self, query: str = "") -> builtins.list[str]:
        """Return the keys with a prefix, in order.

        Raises:
            StorageError: the prefix is invalid, or the keys could not be listed.
        """
        prefix = self._prefix + _normalize_prefix(query)
        keys = await self._run(lambda: [*self._storage.list_keys(prefix, _PAGE)])
        return sorted(key.removeprefix(self._prefix) for key in keys)

    async def search(self, query: str) -> builtins.list[StorageSearchResult]:
        """Return the best results for a query, best first; without a strategy it reads everything.

        Raises:
            StorageError: the keys could not be listed.
        """
        strategy = self._strategy or KeywordSearchStrategy()
        found: builtins.list[StorageSearchResult] = await strategy.search(self, query)
        return found

    def namespace(self, prefix: str) -> "AgentMemoryStorage":
        """Return the part of this storage under a prefix.

        Raises:
            StorageError: the prefix can't be one.
        """
        scoped = copy.copy(self)
        # Strands adds no prefix to storage with this mark
        vars(scoped).update(_prefix=_extend(self._prefix, prefix), _namespaced=_NAMESPACED)
        return scoped

    def _place(self, key: str) -> str:
        normalized = _normalize_prefix(key).rstrip("/")
        if not normalized:
            raise StorageError("a key must have a character other than a slash")
        return self._prefix + normalized

    async def _run(self, act: Callable[..., _Result], *arguments: Any) -> _Result:
        try:
            return await asyncio.to_thread(act, *arguments)
        except AgentMemoryError as refused:
            raise StorageError(str(refused)) from refused


def _extend(before: str, prefix: str) -> str:
    normalized = _normalize_prefix(prefix).rstrip("/")
    return f"{before}{normalized}/" if normalized else before


def _normalize_prefix(prefix: str) -> str:
    normalized = re.sub("/+", "/", prefix).lstrip("/")
    if "\\" in prefix or ".." in normalized.split("/"):
        raise StorageError(f"a key has neither backslashes nor '..': {prefix!r}")
    return normalized
