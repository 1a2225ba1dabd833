"""Authentication of requests: by API key, by the operator's root key, or by a verified JWT."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from functions.api.http import Request
from functions.api.routing import ADMIN_OR_ROOT, ANY, PUBLIC, ROOT, Route
from functions.identity.authentication import Authentication
from functions.identity.model import INSPECT, OPERATOR, READ, ROOT_TENANT, Principal
from functions.platform.errors import AccessDenied, Unauthenticated
from functions.platform.settings import Settings

_ROOT_ONLY = "only the root key makes tenants"
_ANONYMOUS = Principal("", "", "user", frozenset())
_OPERATOR = Principal(ROOT_TENANT, OPERATOR.id, "user", frozenset())


class JwtClaims(NamedTuple):
    """The names of the claims that hold the tenant and the principal's id.

    A token says who somebody is. What that principal may do, and whether it still exists, is read
    from the table: no claim gives a kind or a permission (design §5).
    """

    tenant: str
    principal: str

    def principal_from(self, event: dict[str, Any]) -> tuple[str, str] | None:
        """Return the tenant and the principal's id in the request's JWT; None without a JWT.

        The gateway's JWT authorizer has verified the token; only it writes this part of the event.
        """
        token = event["requestContext"].get("authorizer", {}).get("jwt")
        if token is None:
            return None
        tenant, principal = (token["claims"].get(name) for name in (self.tenant, self.principal))
        for claim in (tenant, principal):
            if not isinstance(claim, str) or not claim:
                names = f"{self.tenant} and {self.principal}"
                raise Unauthenticated(f"the token needs the claims {names}, each a text")
        return tenant, principal


class Authenticator:
    """Finds out which principal sent a request, and whether it has the required permissions."""

    def __init__(self, authentication: Authentication, settings: Settings) -> None:
        self._authentication = authentication
        tenant, principal = settings.jwt_tenant_claim, settings.jwt_principal_claim
        self._claims = JwtClaims(tenant, principal) if tenant and principal else None

    def authenticate(self, request: Request, route: Route) -> Principal:
        """Return the principal of a request.

        Args:
            request: whose headers name a key, or whose event has the gateway's token.
            route: says which permissions it needs.
        """
        if route.required_permission == PUBLIC:
            return _ANONYMOUS
        named = None if self._claims is None else self._claims.principal_from(request.event)
        if route.required_permission in (ROOT, ADMIN_OR_ROOT):
            operator = self._find_operator(request, route, is_named=named is not None)
            if operator is not None:
                return operator
        if named is None:
            caller = self._authentication.authenticate_api_key(_api_key(request.headers))
        else:
            caller = self._authentication.authenticate_jwt(*named)
        _assert_agent_id(request.headers.get("x-agent-id"), caller)
        held = caller.permissions
        if INSPECT in held and route.lets_read(caller):
            held |= {READ}
        for permission in (route.required_permission, route.further_permission or ANY):
            if permission != ANY and held.isdisjoint(permission.split(" or ")):
                raise AccessDenied(f"this needs the permission {permission}")
        return caller

    def _find_operator(self, request: Request, route: Route, *, is_named: bool) -> Principal | None:
        """Return the operator; None if a principal may send the request, and does.

        Args:
            is_named: whether a token names a principal.
        """
        if route.required_permission == ROOT:
            if is_named:
                raise AccessDenied(_ROOT_ONLY)
            return self._authenticate_operator(_api_key(request.headers))
        is_root = not is_named and self._authentication.is_root(_api_key(request.headers))
        return _OPERATOR if is_root else None

    def _authenticate_operator(self, api_key: str) -> Principal:
        if not self._authentication.is_root(api_key):
            self._authentication.authenticate_api_key(api_key)
            raise AccessDenied(_ROOT_ONLY)
        return _OPERATOR


def _api_key(headers: Mapping[str, str]) -> str:
    key = headers.get("x-api-key", "").strip()
    if not key:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else ""
    if not key:
        raise Unauthenticated("send X-API-Key: KEY, or Authorization: Bearer KEY")
    return key


def _assert_agent_id(header: str | None, caller: Principal) -> None:
    """Header values are bytes: an id beyond ASCII comes as UTF-8 that was decoded as Latin-1."""
    if header is None or header == caller.id:
        return
    if header != caller.id.encode().decode("latin-1"):
        raise AccessDenied("X-Agent-ID isn't the principal of this key")
