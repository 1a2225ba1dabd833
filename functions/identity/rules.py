"""Define what a change makes of a principal, and how audit records describe one; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from functions.identity.model import INSPECT
from functions.platform.clock import to_optional_rfc3339
from functions.platform.errors import AccessDenied, ValidationFailed

if TYPE_CHECKING:
    from functions.identity.model import Principal
    from functions.identity.requests import PrincipalChange


def apply_change(principal: Principal, change: PrincipalChange) -> Principal:
    """Return the principal after a change."""
    given: dict[str, Any] = {name: getattr(change, name) for name in change.model_fields_set}
    if "permissions" in given:
        assert_grantable(change.permissions, principal.permissions)
        kept = principal.permissions & {INSPECT}
        given["permissions"] = frozenset(change.permissions) | kept
    if not given:
        raise ValidationFailed("body", "must have a field to change")
    return principal._replace(**given)


def assert_grantable(asked: Iterable[str], held: frozenset[str] = frozenset()) -> None:
    """Check that an administrator of the tenant may give these permissions."""
    if INSPECT in asked and INSPECT not in held:
        raise AccessDenied(
            "only the root key grants memory.inspect, by"
            " PATCH /api/v1/tenants/{id}/principals/{principal}"
        )


def describe_principal(principal: Principal) -> dict[str, Any]:
    """Describe a principal for an audit record, without what isn't set."""
    fields = {
        "kind": principal.kind,
        "permissions": sorted(principal.permissions),
        "agent_type": principal.agent_type,
        "expires_at": to_optional_rfc3339(principal.expires_at),
    }
    return {name: value for name, value in fields.items() if value is not None}


def diff_principals(old: Principal, new: Principal) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a change took away or replaced, and what is there instead."""
    before, after = describe_principal(old), describe_principal(new)
    differing = {each for each in before | after if before.get(each) != after.get(each)}
    return (
        {name: before.get(name) for name in sorted(differing)},
        {name: after.get(name) for name in sorted(differing)},
    )
