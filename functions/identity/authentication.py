"""Authenticate callers: by API key, by the operator's root key, or by a JWT.

The gateway's authorizer has verified the JWT. A token only identifies a principal. Its existence,
kind and permissions are read from the table, never from claims.
"""

import hmac
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from functions.identity.model import OPERATOR, ROOT_TENANT, Principal
from functions.identity.store import PrincipalStore
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, Unauthenticated

_MAX_CACHED = 10_000
_API_KEY, _TOKEN = "API key", "token's principal"
_Credential = tuple[str, ...]  # (_API_KEY, key), or (_TOKEN, tenant, principal)
_OPERATOR = Principal(ROOT_TENANT, OPERATOR.id, "user", frozenset())


class _CachedPrincipal(NamedTuple):
    """A cached principal, and the time (epoch ms) when it must be read again."""

    principal: Principal
    until: int


class Authentication:
    """Finds the principals of callers.

    Args:
        claims: the names of the claims that hold the tenant and the principal's id; empty where
            tokens aren't used.
    """

    def __init__(
        self,
        store: PrincipalStore,
        root_key: Callable[[], str],
        clock: Clock,
        cache_seconds: float,
        claims: tuple[str, ...] = (),
    ) -> None:
        self._store = store
        self._root_key = root_key
        self._clock = clock
        self._lifetime = math.floor(cache_seconds * 1000)
        self._claims = claims
        self._cache: dict[_Credential, _CachedPrincipal] = {}

    def authenticate(
        self,
        headers: Mapping[str, str],
        jwt: Mapping[str, Any] | None = None,
        operator: Literal["never", "may", "must"] = "never",
    ) -> Principal:
        """Find the principal that sent a request, or the operator.

        Args:
            jwt: the gateway's result for the token; None without one.
            operator: whether the operator may send the request, or must.
        """
        if jwt is not None and self._claims:
            if operator == "must":
                raise AccessDenied("only the root key may create tenants")
            caller = self._find((_TOKEN, *self._read_claims(jwt)))
        else:
            api_key = _get_api_key(headers)
            if operator != "never" and self._is_root(api_key):
                return _OPERATOR
            caller = self._find((_API_KEY, api_key))
            if operator == "must":
                raise AccessDenied("only the root key may create tenants")
        # Header values are bytes: an id beyond ASCII arrives as UTF-8 that was decoded as Latin-1.
        if headers.get("x-agent-id") not in (None, caller.id, caller.id.encode().decode("latin-1")):
            raise AccessDenied("X-Agent-ID must be the principal of this API key")
        return caller

    def _read_claims(self, jwt: Mapping[str, Any]) -> list[str]:
        named = [jwt["claims"].get(name) for name in self._claims]
        if not all(isinstance(each, str) and each for each in named):
            names = " and ".join(self._claims)
            raise Unauthenticated(f"the token needs the claims {names} as texts")
        return named

    def _is_root(self, api_key: str) -> bool:
        return hmac.compare_digest(api_key.encode(), self._root_key().encode())

    def _find(self, credential: _Credential) -> Principal:
        now = self._clock()
        cached = self._cache.get(credential)
        if cached is not None and now < cached.until:
            principal: Principal | None = cached.principal
        else:
            principal = self._read_through(credential, now + self._lifetime)
        if principal is None:
            raise Unauthenticated(
                f"this {credential[0]} is not known; it may have been revoked: ask an administrator"
                " for another one"
            )
        if principal.expires_at is not None and principal.expires_at <= now:
            raise Unauthenticated(f"this {credential[0]} has expired")
        return principal

    def _read_through(self, credential: _Credential, until: int) -> Principal | None:
        """Read and cache a principal, unless a key is changed at the same time."""
        cache = self._cache
        principal = self._read(*credential)
        if principal is None:
            cache.pop(credential, None)
            return None
        if len(cache) >= _MAX_CACHED:
            cache.clear()
        cache[credential] = _CachedPrincipal(principal, until)
        return principal

    def _read(self, kind: str, *named: str) -> Principal | None:
        if kind == _TOKEN:
            stored = self._store.get(*named)
            return None if stored is None else stored.principal
        principal = self._store.get_by_api_key(*named)
        if principal is None and self._is_root(*named):
            raise AccessDenied(
                "the root key is accepted for tenants only; use the key of a principal"
            )
        return principal

    def invalidate_cache(self) -> None:
        """Empty the cache, since a key was changed."""
        self._cache = {}  # a read under way writes into the old cache


def _get_api_key(headers: Mapping[str, str]) -> str:
    key = headers.get("x-api-key", "").strip()
    if not key:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else ""
    if not key:
        raise Unauthenticated("send X-API-Key: KEY, or Authorization: Bearer KEY")
    return key
