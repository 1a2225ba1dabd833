"""Use cases on namespaces: list, read, change permissions (RFC-0015 §2.3, contract §4)."""

from collections.abc import Iterable

from functions.identity.model import ADMIN, Principal
from functions.namespaces import rules
from functions.namespaces.model import Namespace
from functions.namespaces.requests import NamespaceChange
from functions.namespaces.store import NamespaceStore
from functions.platform.clock import Clock
from functions.platform.errors import AccessDenied, NotFound
from functions.platform.idempotency import RequestToken
from functions.platform.retry import Backoff


class Namespaces:
    """The namespaces of a caller's tenant."""

    def __init__(self, store: NamespaceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def find(self, caller: Principal, name: str) -> Namespace | None:
        """Read a namespace with the access that guardrails leave the caller (RFC-0015 §6.6).

        None if nobody has configured it, and no guardrail denies it to the caller.
        """
        return self._store.get_restricted(caller, name)

    def list_readable(self, caller: Principal) -> list[Namespace]:
        """List the namespaces whose memory the caller may read, newest first."""
        found = self._store.list_restricted(caller)
        return _newest_first(each for each in found if rules.has_access(caller, each, "read"))

    def list_visible(self, caller: Principal) -> list[Namespace]:
        """List the readable namespaces; all of them for who manages permissions."""
        if ADMIN in caller.permissions:
            return _newest_first(self._store.list_all(caller.tenant))
        return self.list_readable(caller)

    def get(self, caller: Principal, name: str) -> Namespace:
        """Read one namespace's permissions.

        Raises:
            NotFound: nobody has configured it.
            AccessDenied: the caller neither reads its memory nor manages permissions.
        """
        namespace = self._store.get(caller.tenant, name)
        if namespace is None:
            raise NotFound("nobody has configured this namespace, or written to it")
        is_admin = ADMIN in caller.permissions
        if not is_admin and not rules.has_access(caller, self.find(caller, name), "read"):
            raise AccessDenied("you have no access to this namespace")
        return namespace

    def configure_if_new(self, caller: Principal, name: str) -> None:
        """Make the caller the curator of a namespace that nobody has configured."""
        new = rules.build_first_configuration(name, caller.id, self._clock())
        self._store.replace(caller.tenant, new)

    def configure(
        self,
        caller: Principal,
        name: str,
        change: NamespaceChange,
        version: int | None,
        token: RequestToken,
    ) -> Namespace:
        """Set a namespace's permissions, and make it if it is new.

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
                raise rules.version_mismatch(present)
            rules.assert_version(present, version)
            new = rules.change_permissions(name, present, change, self._clock(), token)
            if self._store.replace(caller.tenant, new):
                return new
            backoff.wait()


def _newest_first(namespaces: Iterable[Namespace]) -> list[Namespace]:
    return sorted(namespaces, key=lambda each: (each.created, each.name), reverse=True)
