"""Who calls, and who may: authentication, tenants, principals, keys (contract §2)."""

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

from functions.identity.model import ADMIN, READ, WRITE, Principal
from functions.identity.store import NewKey, PrincipalStore, StoredPrincipal
from functions.platform.clock import Clock
from functions.platform.errors import (
    AccessDenied,
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

_REMEMBERED = 10_000
_SALT_BYTES = 16
_LookUp = Callable[[], Principal | None]
ALL_PERMISSIONS = frozenset({READ, WRITE, ADMIN})


@dataclass(frozen=True, slots=True)
class _Known:
    """Good until a time (epoch ms)."""

    principal: Principal
    until: int


class Identity:
    """Use cases on tenants, principals and keys.

    A function remembers a good key for `remember_seconds`; a change made through this same
    instance bites at once. `root_key()` is the operator's.
    """

    def __init__(
        self,
        store: PrincipalStore,
        root_key: Callable[[], str],
        clock: Clock,
        remember_seconds: float,
    ) -> None:
        self._store = store
        self._root_key = root_key
        self._clock = clock
        self._remember = math.floor(remember_seconds * 1000)
        self._known: dict[str, _Known] = {}

    def is_root(self, api_key: str) -> bool:
        """Whether this is the operator's key."""
        return hmac.compare_digest(api_key.encode(), self._root_key().encode())

    def authenticate(self, api_key: str) -> Principal:
        """The principal of a key.

        Raises:
            Unauthenticated: no such key, or its principal has expired.
        """
        return self._remembered(api_key, "API key", partial(self._store.by_key, api_key))

    def recognize(self, tenant: str, principal_id: str) -> Principal:
        """The principal that a verified token names.

        Raises:
            Unauthenticated: there is no such principal, or it has expired.
        """
        name = f"{tenant}\n{principal_id}"  # no key looks so: a header is one line
        return self._remembered(
            name, "token's principal", partial(self._named, tenant, principal_id)
        )

    def _named(self, tenant: str, principal_id: str) -> Principal | None:
        stored = self._store.find(tenant, principal_id)
        return None if stored is None else stored.principal

    def _remembered(self, by: str, what: str, look_up: _LookUp) -> Principal:
        now = self._clock()
        known = self._known.get(by)
        if known is not None and now < known.until:
            principal: Principal | None = known.principal
        else:
            principal = self._look_up(by, look_up, now + self._remember)
        if principal is None:
            raise Unauthenticated(f"this {what} is not known; it may have been revoked")
        if principal.expires is not None and principal.expires <= now:
            raise Unauthenticated(f"this {what} has expired")
        return principal

    def _look_up(self, by: str, look_up: _LookUp, until: int) -> Principal | None:
        """Look up and remember a principal, unless a key is changed meanwhile."""
        known = self._known
        principal = look_up()
        if principal is None:
            known.pop(by, None)
            return None
        if len(known) >= _REMEMBERED:
            known.clear()
        known[by] = _Known(principal, until)
        return principal

    def forget_keys(self) -> None:
        """Look up every key again, from now on: one has changed."""
        self._known = {}  # a look-up under way writes into the former one

    def create_tenant(
        self, tenant: str, token: RequestToken, once: str | None
    ) -> tuple[Principal, str]:
        """A new tenant and its first principal, with the key that is shown this once.

        Raises:
            EntryExists: the tenant is there already.
        """
        admin = self._admin(tenant, "admin")
        key = self._new_key(admin, once)
        if not self._store.add_tenant(admin, key, token.stored):
            return self._replayed(admin, once, token, "this tenant exists already")
        return admin, key.api_key

    def ensure_tenant(self, tenant: str, admin: str, api_key: str) -> bool:
        """Makes a tenant whose first principal has this key, unless the tenant exists.

        Returns whether the key stands for that principal now.
        """
        if not self._store.tenant_exists(tenant):
            token = RequestToken.create().stored
            self._store.add_tenant(self._admin(tenant, admin), NewKey(api_key), token)
        found = self._store.by_key(api_key)
        return found is not None and (found.tenant, found.id) == (tenant, admin)

    def create_principal(
        self, caller: Principal, new: NewPrincipal, token: RequestToken, once: str | None
    ) -> tuple[Principal, str]:
        """A new principal of the caller's tenant, with the key that is shown this once.

        Raises:
            EntryExists: the id is taken.
            ValidationFailed: it would have expired already.
        """
        now = self._clock()
        if new.expires_at is not None and new.expires_at <= now:
            raise ValidationFailed("expires_at", "lies in the past")
        permissions = frozenset(new.permissions)
        principal = Principal(caller.tenant, new.id, new.kind, permissions, new.expires_at, now)
        key = self._new_key(principal, once)
        if not self._store.add(principal, key, token.stored):
            return self._replayed(principal, once, token, "this principal exists already")
        return principal, key.api_key

    def principals(self, caller: Principal) -> list[Principal]:
        """The principals of the caller's tenant, newest first."""
        found = self._store.all(caller.tenant)
        return sorted(found, key=lambda each: (each.created, each.id), reverse=True)

    def rotate(
        self, caller: Principal, principal_id: str, token: RequestToken, once: str | None
    ) -> tuple[Principal, str]:
        """A new key for a principal; the old one stops.

        Raises:
            NotFound: no such principal in the caller's tenant.
            EntryExists: a retry comes after another rotation.
            Throttled: somebody else rotates or revokes it at this very moment.
        """
        stored = self._existing(caller, principal_id)
        if token.matches(stored.token):
            return self._replayed(stored.principal, once, token, "the key was rotated already")
        if token.is_superseded(stored.previous_tokens):
            raise EntryExists("this rotation was carried out, and the key was changed since")
        key = self._new_key(stored.principal, once)
        if not self._store.replace_key(stored, key, token.stored):
            raise Throttled("the key is being changed by someone else; try again")
        self.forget_keys()
        return stored.principal, key.api_key

    def revoke(self, caller: Principal, principal_id: str) -> None:
        """Removes a principal; its key stops.

        Raises:
            NotFound: no such principal in the caller's tenant.
            Throttled: somebody else rotates or revokes it at this very moment.
        """
        stored = self._existing(caller, principal_id)
        if not self._store.remove(stored):
            raise Throttled("the key is being changed by someone else; try again")
        self.forget_keys()

    def _admin(self, tenant: str, principal_id: str) -> Principal:
        return Principal(tenant, principal_id, "user", ALL_PERMISSIONS, None, self._clock())

    def _existing(self, caller: Principal, principal_id: str) -> StoredPrincipal:
        stored = self._store.find(caller.tenant, principal_id)
        if stored is None:
            raise NotFound("no principal has this id")
        return stored

    def _replayed(
        self, asked: Principal, once: str | None, token: RequestToken, refusal: str
    ) -> tuple[Principal, str]:
        stored = self._store.find(asked.tenant, asked.id)
        if stored is None or once is None or not token.matches(stored.token) or not stored.salt:
            raise EntryExists(refusal)
        return stored.principal, self._derived(asked, once, stored.salt)

    def _new_key(self, principal: Principal, once: str | None) -> NewKey:
        """A random key; with an Idempotency-Key one that a retry can be given again."""
        if once is None:
            return NewKey(create_api_key())
        salt = secrets.token_bytes(_SALT_BYTES)
        return NewKey(self._derived(principal, once, salt), salt)

    def _derived(self, principal: Principal, once: str, salt: bytes) -> str:
        """A key that follows from the root key, the request and the salt on the item it made."""
        seed = salt + "\n".join((principal.tenant, once, principal.id)).encode()
        mac = hmac.new(self._root_key().encode(), seed, sha256).digest()
        return f"am_{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def require(caller: Principal, permission: str) -> None:
    """Checks a permission of RFC-0015 §6.4.

    Raises:
        AccessDenied: the principal doesn't have it.
    """
    if permission not in caller.permissions:
        raise AccessDenied(f"this needs the permission {permission}")
