"""Use cases of identity: authentication, tenants, principals, keys (contract §2)."""

from __future__ import annotations

import base64
import hmac
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from functions.identity.model import ALL_PERMISSIONS, Principal
from functions.identity.store import NewKey, PrincipalStore, StoredPrincipal
from functions.platform.clock import Clock
from functions.platform.errors import (
    EntryExists,
    NotFound,
    Throttled,
    Unauthenticated,
    ValidationFailed,
)
from functions.platform.idempotency import RequestToken
from functions.platform.task_keys import create_api_key

if TYPE_CHECKING:
    from functions.identity.requests import NewPrincipal

_MAX_CACHED = 10_000
_SALT_BYTES = 16
_Read = Callable[[], Principal | None]


@dataclass(frozen=True, slots=True)
class _CachedPrincipal:
    """A principal, and until when (epoch ms) it may be used unread."""

    principal: Principal
    until: int


class Identity:
    """Authenticates callers, and manages tenants, principals and keys.

    Args:
        root_key: gives the operator's key.
        cache_seconds: how long principals are cached; a change made through this same instance
            applies at once.
    """

    def __init__(
        self,
        store: PrincipalStore,
        root_key: Callable[[], str],
        clock: Clock,
        cache_seconds: float,
    ) -> None:
        self._store = store
        self._root_key = root_key
        self._clock = clock
        self._lifetime = math.floor(cache_seconds * 1000)
        self._cache: dict[str, _CachedPrincipal] = {}

    def is_root(self, api_key: str) -> bool:
        """Whether this is the operator's key."""
        return hmac.compare_digest(api_key.encode(), self._root_key().encode())

    def authenticate_api_key(self, api_key: str) -> Principal:
        """Find the principal of an API key.

        Raises:
            Unauthenticated: there is no such key, or its principal has expired.
        """
        read = partial(self._store.get_by_api_key, api_key)
        return self._authenticate(api_key, "API key", read)

    def authenticate_jwt(self, tenant: str, principal_id: str) -> Principal:
        """Find the principal that a verified token names.

        Raises:
            Unauthenticated: there is no such principal, or it has expired.
        """

        def read() -> Principal | None:
            stored = self._store.get(tenant, principal_id)
            return None if stored is None else stored.principal

        cache_key = f"{tenant}\n{principal_id}"  # never an API key: a header is one line
        return self._authenticate(cache_key, "token's principal", read)

    def _authenticate(self, cache_key: str, credential: str, read: _Read) -> Principal:
        now = self._clock()
        cached = self._cache.get(cache_key)
        if cached is not None and now < cached.until:
            principal: Principal | None = cached.principal
        else:
            principal = self._read_through(cache_key, read, now + self._lifetime)
        if principal is None:
            raise Unauthenticated(f"this {credential} is not known; it may have been revoked")
        if principal.expires is not None and principal.expires <= now:
            raise Unauthenticated(f"this {credential} has expired")
        return principal

    def _read_through(self, cache_key: str, read: _Read, until: int) -> Principal | None:
        """Read and cache a principal, unless a key is changed meanwhile."""
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

    def create_tenant(
        self, tenant: str, token: RequestToken, idempotency_key: str | None
    ) -> tuple[Principal, str]:
        """Create a tenant and its first principal; return that with its key, shown only once.

        Raises:
            EntryExists: the tenant exists already.
        """
        admin = self._build_admin(tenant, "admin")
        key = self._create_key(admin, idempotency_key)
        if not self._store.add_tenant(admin, key, token.stored):
            return self._replay(admin, idempotency_key, token, "this tenant exists already")
        return admin, key.api_key

    def ensure_tenant(self, tenant: str, admin: str, api_key: str) -> bool:
        """Create a tenant whose first principal has this key, unless the tenant exists.

        Returns whether the key is that principal's.
        """
        if not self._store.has_tenant(tenant):
            token = RequestToken.create().stored
            self._store.add_tenant(self._build_admin(tenant, admin), NewKey(api_key), token)
        found = self._store.get_by_api_key(api_key)
        return found is not None and (found.tenant, found.id) == (tenant, admin)

    def create_principal(
        self, caller: Principal, new: NewPrincipal, token: RequestToken, idempotency_key: str | None
    ) -> tuple[Principal, str]:
        """Create a principal of the caller's tenant; return it with its key, shown only once.

        Raises:
            EntryExists: the id is taken.
            ValidationFailed: `expires_at` is not in the future.
        """
        now = self._clock()
        if new.expires_at is not None and new.expires_at <= now:
            raise ValidationFailed("expires_at", "lies in the past")
        permissions = frozenset(new.permissions)
        principal = Principal(caller.tenant, new.id, new.kind, permissions, new.expires_at, now)
        key = self._create_key(principal, idempotency_key)
        if not self._store.add(principal, key, token.stored):
            return self._replay(principal, idempotency_key, token, "this principal exists already")
        return principal, key.api_key

    def list_principals(self, caller: Principal) -> list[Principal]:
        """List the principals of the caller's tenant, newest first."""
        found = self._store.list_principals(caller.tenant)
        return sorted(found, key=lambda each: (each.created, each.id), reverse=True)

    def rotate_key(
        self, caller: Principal, principal_id: str, token: RequestToken, idempotency_key: str | None
    ) -> tuple[Principal, str]:
        """Replace a principal's key; the old one is invalid from then on.

        Raises:
            NotFound: the caller's tenant has no such principal.
            EntryExists: this is a retry, and the key was rotated again since.
            Throttled: somebody else rotates or revokes the key at the same time.
        """
        stored = self._existing(caller, principal_id)
        if token.matches(stored.token):
            return self._replay(
                stored.principal, idempotency_key, token, "the key was rotated already"
            )
        if token.is_superseded(stored.previous_tokens):
            raise EntryExists("this rotation was carried out, and the key was changed since")
        key = self._create_key(stored.principal, idempotency_key)
        if not self._store.replace_key(stored, key, token.stored):
            raise Throttled("the key is being changed by someone else; try again")
        self.invalidate_cache()
        return stored.principal, key.api_key

    def revoke(self, caller: Principal, principal_id: str) -> None:
        """Delete a principal; its key is invalid from then on.

        Raises:
            NotFound: the caller's tenant has no such principal.
            Throttled: somebody else rotates or revokes the key at the same time.
        """
        stored = self._existing(caller, principal_id)
        if not self._store.remove(stored):
            raise Throttled("the key is being changed by someone else; try again")
        self.invalidate_cache()

    def _build_admin(self, tenant: str, principal_id: str) -> Principal:
        return Principal(tenant, principal_id, "user", ALL_PERMISSIONS, None, self._clock())

    def _existing(self, caller: Principal, principal_id: str) -> StoredPrincipal:
        stored = self._store.get(caller.tenant, principal_id)
        if stored is None:
            raise NotFound("no principal has this id")
        return stored

    def _replay(
        self, asked: Principal, idempotency_key: str | None, token: RequestToken, conflict: str
    ) -> tuple[Principal, str]:
        """Return what an earlier try of the same request created.

        Raises:
            EntryExists: another request created it.
        """
        stored = self._store.get(asked.tenant, asked.id)
        if (
            stored is None
            or idempotency_key is None
            or not token.matches(stored.token)
            or not stored.salt
        ):
            raise EntryExists(conflict)
        return stored.principal, self._derive_key(asked, idempotency_key, stored.salt)

    def _create_key(self, principal: Principal, idempotency_key: str | None) -> NewKey:
        """Create a random key, or with an Idempotency-Key one that a retry derives again."""
        if idempotency_key is None:
            return NewKey(create_api_key())
        salt = secrets.token_bytes(_SALT_BYTES)
        return NewKey(self._derive_key(principal, idempotency_key, salt), salt)

    def _derive_key(self, principal: Principal, idempotency_key: str, salt: bytes) -> str:
        """Derive a key from the root key, the request and the salt on the item that it created."""
        seed = salt + "\n".join((principal.tenant, idempotency_key, principal.id)).encode()
        mac = hmac.new(self._root_key().encode(), seed, sha256).digest()
        return f"am_{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
