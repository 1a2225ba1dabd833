"""Tokens that the gateway has verified: an HTTP API's own JWT authorizer (design §5).

A token says who somebody is. What that principal may do, and whether it still exists, is this
service's own to say: no claim gives a kind or a permission.
"""

from dataclasses import dataclass
from typing import Any

from functions.platform.errors import Unauthenticated
from functions.platform.settings import Settings


@dataclass(frozen=True, slots=True)
class Claims:
    """Which claims of a token hold the tenant and the principal's id."""

    tenant: str
    principal: str

    def named(self, event: dict[str, Any]) -> tuple[str, str] | None:
        """The tenant and the id that the request's token names; None if it came without one.

        Only the gateway writes this part of the event; nothing that a caller sends gets there.

        Raises:
            Unauthenticated: the token lacks one of the claims.
        """
        token = event["requestContext"].get("authorizer", {}).get("jwt")
        if token is None:
            return None
        tenant, principal = (token["claims"].get(name) for name in (self.tenant, self.principal))
        if not tenant or not principal:
            raise Unauthenticated(f"the token needs the claims {self.tenant} and {self.principal}")
        return tenant, principal


def claims_of(settings: Settings) -> Claims | None:
    """The claims that the settings name; None where tokens are no way in."""
    if settings.jwt_tenant_claim is None or settings.jwt_principal_claim is None:
        return None
    return Claims(settings.jwt_tenant_claim, settings.jwt_principal_claim)
