"""Use cases on tenants, principals and their keys."""

import base64
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize
from functions.identity import authority
from functions.identity.model import (
    ALL_PERMISSIONS,
    INSPECT,
    OPERATOR,
    ROOT_TENANT,
    Principal,
    apply_change,
    assert_grantable,
    describe_principal,
    diff_principals,
)
from functions.identity.requests import NewPrincipal, PrincipalChange, PrincipalGrant
from functions.identity.store import NewKey, PrincipalStore, StoredPrincipal, create_api_key
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock
from functions.platform.errors import EntryExists, NotFound, ValidationFailed
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write

_SALT_BYTES = 16
_PURPOSE = b"agent-memory: API keys issued under an Idempotency-Key"
_BUSY, _ATTEMPTS = "others are changing this principal", 30
_TENANT_EXISTS = "this tenant exists, or was deleted; choose another id"
_PRINCIPAL_EXISTS = "this principal exists; change it by PATCH, or choose another id"
_REVOKED = (
    'a revoked principal had this id; send "reuse": true to get its memory, tasks and access, '
    "or choose another id"
)
_OPERATOR = Principal(ROOT_TENANT, OPERATOR.id, "user", frozenset())


@dataclass(eq=False)
class Principals:
    """Manages tenants, principals and keys.

    Args:
        invalidate_cache: called after a change, which this instance applies at once.
    """

    _store: PrincipalStore
    _audit: AuditTrail
    _derive_secret: Callable[[bytes], bytes]
    _invalidate_cache: Callable[[], None]
    _clock: Clock

    def create_tenant(
        self, caller: Principal, tenant: str, token: RequestToken, idempotency_key: str | None
    ) -> tuple[Principal, str]:
        """Create a tenant and its first principal; return that with its key, shown only once.

        Raises:
            AccessDenied: the caller isn't the operator.
            EntryExists: the tenant exists already.
        """
        admin = self._build_admin(tenant, "admin")
        key = self._create_key(admin, idempotency_key)
        if not self._add_tenant(caller, admin, key, token):
            return self._replay(admin, idempotency_key, token, _TENANT_EXISTS)
        return admin, key.api_key

    def ensure_tenant(self, tenant: str, admin: str, api_key: str) -> bool:
        """Create a tenant if it is missing; its first principal has this key and all permissions.

        Returns whether the key belongs to that principal.
        """
        if not self._store.has_tenant(tenant):
            built, token = self._build_admin(tenant, admin), RequestToken.create()
            first = built._replace(permissions=ALL_PERMISSIONS | {INSPECT})
            self._add_tenant(_OPERATOR, first, NewKey(api_key), token)
        found = self._store.get_by_api_key(api_key)
        return found is not None and (found.tenant, found.id) == (tenant, admin)

    def _add_tenant(
        self, caller: Principal, admin: Principal, key: NewKey, token: RequestToken
    ) -> bool:
        authorize(caller, authority.CREATE_TENANT, admin)
        target, after = f"tenant:{admin.tenant}", {"admin": admin.id}
        record = self._audit.record(
            caller, authority.CREATE_TENANT, target, after=after, tenant=admin.tenant
        )
        return self._store.add_tenant(admin, key, token, record)

    def create_admin(
        self,
        caller: Principal,
        tenant: str,
        principal_id: str,
        token: RequestToken,
        idempotency_key: str | None,
    ) -> tuple[Principal, str]:
        """Create an administrator in an existing tenant; return it with its key, shown only once.

        Raises:
            AccessDenied: the caller isn't the operator.
            NotFound: there is no such tenant.
            EntryExists: the id is taken, or a revoked principal had it.
        """
        admin = self._build_admin(tenant, principal_id)
        authorize(caller, authority.CREATE_ADMIN, admin)
        if not self._store.has_tenant(tenant):
            raise NotFound("no tenant has this id; create it by POST /api/v1/tenants")
        return self._add(caller, authority.CREATE_ADMIN, admin, token, idempotency_key)

    def _add(
        self,
        caller: Principal,
        action: Action[object],
        new: Principal,
        token: RequestToken,
        idempotency_key: str | None,
        *,
        reuse: bool = False,
    ) -> tuple[Principal, str]:
        key = self._create_key(new, idempotency_key)
        after = describe_principal(new) | ({"reuse": True} if reuse else {})
        record = self._record(caller, action, new, after=after)
        addition = self._store.add(new, key, token, record, reuse=reuse)
        if addition == "revoked":
            raise EntryExists(_REVOKED)
        if addition == "taken":
            return self._replay(new, idempotency_key, token, _PRINCIPAL_EXISTS)
        return new, key.api_key

    def create_principal(
        self, caller: Principal, new: NewPrincipal, token: RequestToken, idempotency_key: str | None
    ) -> tuple[Principal, str]:
        """Create a principal of the caller's tenant; return it with its key, shown only once.

        Raises:
            AccessDenied: the caller lacks `memory.admin`, or gives `memory.inspect`.
            EntryExists: the id is taken, or a revoked principal had it and `reuse` isn't given.
            ValidationFailed: `expires_at` is not in the future.
        """
        now = self._clock()
        principal = Principal(
            caller.tenant,
            new.id,
            new.kind,
            frozenset(new.permissions),
            new.expires_at,
            now,
            new.agent_type,
        )
        authorize(caller, authority.CREATE_PRINCIPAL, principal)
        assert_grantable(new.permissions)
        _assert_future(new.expires_at, now)
        action = authority.CREATE_PRINCIPAL
        return self._add(caller, action, principal, token, idempotency_key, reuse=new.reuse)

    def list_page(self, caller: Principal, wanted: WantedPage) -> BoundedPage[Principal]:
        """List a page of the principals of the caller's tenant, newest first.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
        """
        authorize(caller, authority.LIST_PRINCIPALS, None)
        groups = self._store.list_groups(caller.tenant, wanted)
        return read_page(wanted, chain.from_iterable(groups))

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def change_principal(
        self, caller: Principal, principal_id: str, change: PrincipalChange, token: RequestToken
    ) -> Principal:
        """Change a principal; its key stays.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            NotFound: the caller's tenant has no such principal.
            EntryExists: this is a retry, and the principal was changed again since.
            LastAdmin: the tenant would have no lasting administrator.
            ValidationFailed: no field is given, or `expires_at` is not in the future.
            Throttled: others keep changing the principal.
        """
        stored = self._existing(caller.tenant, principal_id)
        authorize(caller, authority.CHANGE_PRINCIPAL, stored.principal)
        if _is_replay(token, stored):
            return stored.principal
        given = {name: getattr(change, name) for name in change.model_fields_set}
        changed = apply_change(stored.principal, given)
        if "expires_at" in given:
            _assert_future(change.expires_at, self._clock())
        return self._change(caller, authority.CHANGE_PRINCIPAL, stored, changed, token)

    def _change(
        self,
        caller: Principal,
        action: Action[object],
        stored: StoredPrincipal,
        changed: Principal,
        token: RequestToken,
    ) -> Principal:
        before, after = diff_principals(stored.principal, changed)
        record = self._record(caller, action, changed, before, after)
        self._store.change(stored, changed, token, record)
        self._invalidate_cache()
        return changed

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def grant(
        self,
        caller: Principal,
        tenant: str,
        principal_id: str,
        granted: PrincipalGrant,
        token: RequestToken,
    ) -> Principal:
        """Set all permissions of a principal, `memory.inspect` included.

        Raises:
            AccessDenied: the caller isn't the operator.
            NotFound, EntryExists, LastAdmin, Throttled: as for `change_principal`.
        """
        stored = self._existing(tenant, principal_id)
        authorize(caller, authority.GRANT_PERMISSIONS, stored.principal)
        if _is_replay(token, stored):
            return stored.principal
        changed = stored.principal._replace(permissions=frozenset(granted.permissions))
        return self._change(caller, authority.GRANT_PERMISSIONS, stored, changed, token)

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def rotate_key(
        self, caller: Principal, principal_id: str, token: RequestToken, idempotency_key: str | None
    ) -> tuple[Principal, str]:
        """Replace a principal's key; the old one is invalid from then on.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            NotFound: the caller's tenant has no such principal.
            EntryExists: this is a retry, and the key was rotated again since.
            Throttled: others keep changing the principal.
        """
        stored = self._existing(caller.tenant, principal_id)
        authorize(caller, authority.ROTATE_KEY, stored.principal)
        if _is_replay(token, stored):
            return self._replay(
                stored.principal,
                idempotency_key,
                token,
                "the key was rotated after this request; use a new Idempotency-Key",
            )
        key = self._create_key(stored.principal, idempotency_key)
        record = self._record(caller, authority.ROTATE_KEY, stored.principal)
        self._store.replace_key(stored, key, token, record)
        self._invalidate_cache()
        return stored.principal, key.api_key

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def revoke(self, caller: Principal, principal_id: str, *further: Write) -> None:
        """Delete a principal; its key is invalid from then on.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            NotFound: the caller's tenant has no such principal.
            LastAdmin: the tenant would have no lasting administrator.
            Throttled: others keep changing the principal.
        """
        stored = self._existing(caller.tenant, principal_id)
        authorize(caller, authority.REVOKE_PRINCIPAL, stored.principal)
        before = describe_principal(stored.principal)
        record = self._record(caller, authority.REVOKE_PRINCIPAL, stored.principal, before)
        self._store.remove(stored, self._clock(), record, *further)
        self._invalidate_cache()

    def _record(
        self,
        caller: Principal,
        action: Action[Any],
        of: Principal,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> Write:
        target = f"principal:{of.id}"
        return self._audit.record(caller, action, target, before, after, tenant=of.tenant)

    def get_principal(self, tenant: str, principal_id: str) -> Principal:
        """Read a principal: one read.

        Raises:
            NotFound: the tenant has no such principal.
        """
        return self._existing(tenant, principal_id).principal

    def _build_admin(self, tenant: str, principal_id: str) -> Principal:
        return Principal(tenant, principal_id, "user", ALL_PERMISSIONS, None, self._clock())

    def _existing(self, tenant: str, principal_id: str) -> StoredPrincipal:
        stored = self._store.get(tenant, principal_id)
        if stored is None:
            raise NotFound("no principal has this id; GET /api/v1/principals lists them")
        return stored

    def _replay(
        self, asked: Principal, idempotency_key: str | None, token: RequestToken, conflict: str
    ) -> tuple[Principal, str]:
        stored = self._store.get(asked.tenant, asked.id)
        if (
            stored is None
            or idempotency_key is None
            or token.judge(stored.requests) is not Verdict.REPLAY
            or not stored.salt
        ):
            raise EntryExists(conflict)
        return stored.principal, self._derive_key(asked, idempotency_key, stored.salt)

    def _create_key(self, principal: Principal, idempotency_key: str | None) -> NewKey:
        """Create a random key; with an Idempotency-Key, a key that a retry derives again."""
        if idempotency_key is None:
            return NewKey(create_api_key())
        salt = secrets.token_bytes(_SALT_BYTES)
        return NewKey(self._derive_key(principal, idempotency_key, salt), salt)

    def _derive_key(self, principal: Principal, idempotency_key: str, salt: bytes) -> str:
        seed = salt + "\n".join((principal.tenant, idempotency_key, principal.id)).encode()
        mac = hmac.digest(self._derive_secret(_PURPOSE), seed, "sha256")
        return f"am_{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def _assert_future(expires: int | None, now: int) -> None:
    if expires is not None and expires <= now:
        raise ValidationFailed("expires_at", "must be in the future")


def _is_replay(token: RequestToken, stored: StoredPrincipal) -> bool:
    verdict = token.judge(stored.requests)
    if verdict is Verdict.SUPERSEDED:
        raise EntryExists("the principal was changed after this request; use a new Idempotency-Key")
    return verdict is Verdict.REPLAY
