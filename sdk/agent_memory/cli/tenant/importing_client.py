"""A client whose requests import: ids, versions, times and authors stay as they were."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

import httpx

from agent_memory import Client
from agent_memory._waiting import sleep
from agent_memory.exceptions import MemoryAccessError
from agent_memory.requests import render_json

PERMISSION: Final = "memory.import"
_HEADERS = {"X-Import": "true"}
_WAITS = 14  # a function in the cloud may know a principal's former permissions for a minute
_SECONDS = 5.0


class ImportingClient(Client):
    """Sends `X-Import` with each request; see `keep` for what calls have no argument for."""

    _kept: Mapping[str, Any] = MappingProxyType({})
    _kept_headers: Mapping[str, str] = MappingProxyType({})

    @contextmanager
    def keep(self, **fields: Any) -> Iterator[None]:
        """Add fields to the bodies of PUT and PATCH: when a conversation or state was made, say.

        The same PUT counts once, however often it is sent.
        """
        self._kept = fields
        try:
            yield
        finally:
            self._kept = {}

    @contextmanager
    def keep_headers(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Add headers to PUTs, which have what is said of an object."""
        self._kept_headers = headers
        try:
            yield
        finally:
            self._kept_headers = {}

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        **rest: Any,
    ) -> httpx.Response:
        """Send a call; wait where the service doesn't know of the permission to import yet."""
        body, named = json, {**(headers or {}), **_HEADERS}
        if self._kept and method in ("PUT", "PATCH"):
            body = {**json, **self._kept}
        if self._kept and method == "PUT":
            named["Idempotency-Key"] = sha256(f"{path} {render_json(body)!r}".encode()).hexdigest()
        named |= self._kept_headers if method == "PUT" else {}
        for _ in range(_WAITS):
            try:
                return super().request(method, path, json=body, headers=named, **rest)
            except MemoryAccessError as error:
                if PERMISSION not in str(error):
                    raise
            sleep(_SECONDS)
        return super().request(method, path, json=body, headers=named, **rest)
