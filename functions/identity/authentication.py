"""Authenticate callers by API key, or by a token that the gateway has verified."""

import hmac
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from functions.identity.model import Principal
from functions.identity.store import PrincipalStore
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, Unauthenticated

_MAX_CACHED = 10_000
_CacheKey = tuple[str, ...]  # ("key", API key), or ("token", tenant, principal)
_Read = Callable[[], Principal | None]


class _CachedPrincipal(NamedTuple):
    """A principal, and until when (epoch ms) it may be used unread."""

    principal: Principal
    until: int


class Authentication:
    """Finds the principals of callers.

    Args:
        root_key: gives the operator's key.
        cache_seconds: how long principals are cached.
    """

    def __init__(
        self, store: PrincipalStore, root_key: Callable[[], str], clock: Clock, cache_seconds: float
    ) -> None:
        self._store = store
        self._root_key = root_key
        self._clock = clock
        self._lifetime = math.floor(cache_seconds * 1000)
        self._cache: dict[_CacheKey, _CachedPrincipal] = {}

    def is_root(self, api_key: str) -> bool:
        """Tell whether this is the operator's key."""
        return hmac.compare_digest(api_key.encode(), self._root_key().encode())

    def authenticate_api_key(self, api_key: str) -> Principal:
        """Find the principal of an API key."""
        read = partial(self._get_by_api_key, api_key)
        return self._authenticate(("key", api_key), "API key", read)

    def _get_by_api_key(self, api_key: str) -> Principal | None:
        principal = self._store.get_by_api_key(api_key)
        if principal is None and self.is_root(api_key):
            raise AccessDenied("the root key makes tenants; use a principal's key for the rest")
        return principal

    def authenticate_jwt(self, tenant: str, principal_id: str) -> Principal:
        """Find the principal that a verified token names."""

        def read() -> Principal | None:
            stored = self._store.get(tenant, principal_id)
            return None if stored is None else stored.principal

        return self._authenticate(("token", tenant, principal_id), "token's principal", read)

    def _authenticate(self, cache_key: _CacheKey, credential: str, read: _Read) -> Principal:
        now = self._clock()
        cached = self._cache.get(cache_key)
        if cached is not None and now < cached.until:
            principal: Principal | None = cached.principal
        else:
            principal = self._read_through(cache_key, read, now + self._lifetime)
        if principal is None:
            raise Unauthenticated(f"this {credential} is not known; it may have been revoked")
        if principal.expires_at is not None and principal.expires_at <= now:
            raise Unauthenticated(f"this {credential} has expired")
        return principal

    def _read_through(self, cache_key: _CacheKey, read: _Read, until: int) -> Principal | None:
        """Read and cache a principal, unless a key is changed at the same time."""
        cache = self._cache
        principal = read()
        if principal is None:
            cache.pop(cache_key, None)
            return None
        if len(cache) >= _MAX_CACHED:
            cache.clear()
        cache[cache_key] = _CachedPrincipal(principal, until)
        return principal

    def invalidate_cache(self) -> None:
        """Read every principal again from now on, since a key was changed."""
        self._cache = {}  # a read under way writes into the former one
