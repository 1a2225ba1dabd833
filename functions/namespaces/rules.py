"""Who may do what in a namespace (RFC-0015 §2.3, contract §4)."""

from functions.identity.model import Principal
from functions.namespaces.model import Access, Namespace

_LEVELS: dict[str, int] = {"none": 0, "read": 1, "write": 2, "admin": 3}


def access(caller: Principal, namespace: Namespace | None) -> Access:
    """The caller's access; a namespace that nobody configured is `None` here."""
    if namespace is None:
        return "write" if caller.may_coordinate else "read"
    return namespace.allow.get(caller.id, namespace.default)


def allows(caller: Principal, namespace: Namespace | None, needed: Access) -> bool:
    """Whether the caller's access reaches `needed`; the levels are cumulative."""
    return _LEVELS[access(caller, namespace)] >= _LEVELS[needed]
