"""Principals, their permissions, and changes of them."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from functions.platform.clock import to_optional_rfc3339
from functions.platform.errors import AccessDenied, ValidationFailed
from functions.platform.keys import build_list_position

Kind = Literal["agent", "coordinator", "user"]
ActorKind = Literal["agent", "coordinator", "user", "operator", "service"]
"""The kinds of actors: a principal's kind, the operator with the root key, the service."""
Permission = Literal["memory.read", "memory.write", "memory.admin", "memory.inspect"]

READ: Permission = "memory.read"
WRITE: Permission = "memory.write"
ADMIN: Permission = "memory.admin"
INSPECT: Permission = "memory.inspect"
"""Permits reading everything in the tenant; only the operator grants it."""
ALL_PERMISSIONS = frozenset({READ, WRITE, ADMIN})
"""The permissions of a tenant's first principal."""


class Actor(NamedTuple):
    """The actor that events and audit records name."""

    id: str
    kind: ActorKind


ROOT_TENANT = "~root"
"""The tenant of the operator's principal; no tenant can have this name."""
SERVICE = Actor("agent-memory", "service")
"""The actor without a request: of expiry, and of evictions after a lowered capacity."""
OPERATOR = Actor("root", "operator")
"""The holder of the root key."""


class Principal(NamedTuple):
    """One caller of one tenant.

    Attributes:
        agent_type: the type of the agent; agents of a type share its memories.
    """

    tenant: str
    id: str
    kind: Kind
    permissions: frozenset[str]
    expires_at: int | None = None  # epoch ms
    created_at: int = 0  # epoch ms
    agent_type: str | None = None

    @property
    def list_position(self) -> str:
        """Return the principal's position in lists, newest first."""
        return build_list_position(self.created_at, self.id)

    @property
    def actor(self) -> Actor:
        """The principal as events and audit records name it."""
        return Actor(self.id, self.kind)

    @property
    def is_lasting_admin(self) -> bool:
        """Tell whether it administers its tenant without an expiry."""
        return ADMIN in self.permissions and self.expires_at is None

    @property
    def may_coordinate(self) -> bool:
        return self.kind in ("coordinator", "user")


def apply_change(principal: Principal, given: Mapping[str, Any]) -> Principal:
    """Return the principal after a change of the given fields."""
    if not given:
        raise ValidationFailed("body", "must have a field to change")
    if "permissions" not in given:
        return principal._replace(**given)
    assert_grantable(given["permissions"], principal.permissions)
    kept = principal.permissions & {INSPECT}
    return principal._replace(**{**given, "permissions": kept | set(given["permissions"])})


def assert_grantable(asked: Iterable[str], held: frozenset[str] = frozenset()) -> None:
    """Check that an administrator of the tenant may give these permissions."""
    if INSPECT in asked and INSPECT not in held:
        raise AccessDenied(
            "only the root key may grant memory.inspect, by"
            " PATCH /api/v1/tenants/{id}/principals/{principal}"
        )


def describe_principal(principal: Principal) -> dict[str, Any]:
    """Describe a principal for an audit record, without fields that aren't set."""
    fields = {
        "kind": principal.kind,
        "permissions": sorted(principal.permissions),
        "agent_type": principal.agent_type,
        "expires_at": to_optional_rfc3339(principal.expires_at),
    }
    return {name: value for name, value in fields.items() if value is not None}


def diff_principals(old: Principal, new: Principal) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the changed fields of a principal, before and after."""
    before, after = describe_principal(old), describe_principal(new)
    differing = {each for each in before | after if before.get(each) != after.get(each)}
    return (
        {name: before.get(name) for name in sorted(differing)},
        {name: after.get(name) for name in sorted(differing)},
    )
