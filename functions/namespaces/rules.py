"""Who may do what in a namespace, and what a change makes of it (RFC-0015 §2.3, contract §4)."""

from functions.identity.model import Principal
from functions.namespaces.model import Access, Namespace
from functions.namespaces.requests import NamespaceChange
from functions.platform.errors import VersionMismatch
from functions.platform.idempotency import RequestToken, list_previous_tokens

_LEVELS: dict[Access, int] = {"none": 0, "read": 1, "write": 2, "admin": 3}


def get_access(caller: Principal, namespace: Namespace | None) -> Access:
    """Return the caller's access; None is a namespace that nobody has configured."""
    if namespace is None:
        return "write" if caller.may_coordinate else "read"
    return namespace.allow.get(caller.id, namespace.default)


def has_access(caller: Principal, namespace: Namespace | None, needed: Access) -> bool:
    """Whether the caller's access reaches `needed`; the levels are cumulative."""
    return _LEVELS[get_access(caller, namespace)] >= _LEVELS[needed]


def build_first_configuration(name: str, curator: str, now: int) -> Namespace:
    """Build a namespace that all may read, and whose first writer curates it (contract §4)."""
    return Namespace(name, "read", {curator: "write"}, 1, now, now)


def change_permissions(
    name: str, present: Namespace | None, change: NamespaceChange, now: int, token: RequestToken
) -> Namespace:
    """Return a namespace with other permissions; None is one that nobody has configured."""
    previous: tuple[bytes, ...] = ()
    if present is not None:
        previous = list_previous_tokens(present.request, present.previous_tokens)
    return Namespace(
        name=name,
        default=change.permissions.default,
        allow={each.agent: each.access for each in change.permissions.allow},
        version=present.version + 1 if present else 1,
        created=present.created if present else now,
        updated=now,
        request=token.stored,
        previous_tokens=previous,
    )


def assert_version(present: Namespace | None, version: int | None) -> None:
    """Check that the caller has read the present version; None checks nothing.

    Raises:
        VersionMismatch: the namespace is at another version; 0 is one that nobody has configured.
    """
    if version not in (None, present.version if present else 0):
        raise version_mismatch(present)


def version_mismatch(present: Namespace | None) -> VersionMismatch:
    """Build the error of a change that another one preceded."""
    version = present.version if present else 0
    return VersionMismatch(
        f"the namespace is at version {version}; read it and try again",
        current=present,
        version=version,
    )
