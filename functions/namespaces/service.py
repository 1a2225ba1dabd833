"""Use cases on namespaces: list, read, change permissions (RFC-0015 §2.3, contract §4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from functions.identity.model import ADMIN, Principal
from functions.namespaces.model import Access, Namespace
from functions.namespaces.rules import allows
from functions.namespaces.store import NamespaceStore
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, NotFound, VersionMismatch
from functions.platform.idempotency import RequestToken, list_previous_tokens
from functions.platform.retry import Backoff

if TYPE_CHECKING:
    from functions.namespaces.requests import NamespaceChange


class Namespaces:
    """The namespaces of a caller's tenant."""

    def __init__(self, store: NamespaceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def find(self, caller: Principal, name: str) -> Namespace | None:
        """A namespace's permissions as guardrails leave them to the caller (RFC-0015 §6.6).

        None if nobody configured it, and nothing bars the caller from it.
        """
        return self._store.get_restricted(caller, name)

    def readable(self, caller: Principal) -> list[Namespace]:
        """The namespaces whose memory the caller may read, newest first."""
        return _newest_first(
            each for each in self._store.list_restricted(caller) if allows(caller, each, "read")
        )

    def visible(self, caller: Principal) -> list[Namespace]:
        """The readable ones; all of them for who manages permissions."""
        if ADMIN in caller.permissions:
            return _newest_first(self._store.list_all(caller.tenant))
        return self.readable(caller)

    def get(self, caller: Principal, name: str) -> Namespace:
        """One namespace's permissions.

        Raises:
            NotFound: nobody configured it.
            AccessDenied: the caller neither reads its memory nor manages permissions.
        """
        namespace = self._store.get(caller.tenant, name)
        if namespace is None:
            raise NotFound("nobody has configured this namespace, or written to it")
        if ADMIN not in caller.permissions and not allows(caller, self.find(caller, name), "read"):
            raise AccessDenied("you have no access to this namespace")
        return namespace

    def introduce(self, caller: Principal, name: str) -> None:
        """Makes the caller the curator of a namespace that all may read, if it is new."""
        now = self._clock()
        self._store.replace(
            caller.tenant, Namespace(name, "read", {caller.id: "write"}, 1, now, now)
        )

    def configure(
        self,
        caller: Principal,
        name: str,
        change: NamespaceChange,
        version: int | None,
        token: RequestToken,
    ) -> Namespace:
        """Sets a namespace's permissions, making it if it is new.

        Raises:
            VersionMismatch: `version` is given and isn't the present one, or a retry comes after
                another change.
        """
        backoff = Backoff("others are changing this namespace")
        while True:
            present = self._store.get(caller.tenant, name)
            if present is not None and token.matches(present.request):
                return present
            if present is not None and token.is_superseded(present.previous_tokens):
                raise _mismatch(present)
            if version is not None and version != (present.version if present else 0):
                raise _mismatch(present)
            done, present = self._store.replace(
                caller.tenant, self._changed(name, present, change, token)
            )
            if done and present is not None:
                return present
            backoff.wait()

    def _changed(
        self, name: str, present: Namespace | None, change: NamespaceChange, token: RequestToken
    ) -> Namespace:
        now = self._clock()
        allow: dict[str, Access] = {each.agent: each.access for each in change.permissions.allow}
        return Namespace(
            name=name,
            default=change.permissions.default,
            allow=allow,
            version=present.version + 1 if present else 1,
            created=present.created if present else now,
            updated=now,
            request=token.stored,
            previous_tokens=list_previous_tokens(present.request, present.previous_tokens)
            if present
            else (),
        )


def _mismatch(present: Namespace | None) -> VersionMismatch:
    version = present.version if present else 0
    return VersionMismatch(
        f"the namespace is at version {version}; read it and try again",
        current=present,
        version=version,
    )


def _newest_first(namespaces: Iterable[Namespace]) -> list[Namespace]:
    return sorted(namespaces, key=lambda each: (each.created, each.name), reverse=True)
