"""Principals and their keys."""

from functools import partial
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import PagePosition, Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.routing import ANY, RouteTable
from functions.identity.authority import (
    CHANGE_PRINCIPAL,
    CREATE_PRINCIPAL,
    REVOKE_PRINCIPAL,
    ROTATE_KEY,
)
from functions.identity.model import ADMIN, Kind, Permission, Principal
from functions.identity.requests import NewPrincipal, PrincipalChange
from functions.platform.idempotency import RequestToken


class PrincipalDocument(TypedDict):
    """A principal, without its key."""

    tenant: str
    id: str
    kind: Kind
    permissions: list[Permission]
    agent_type: str | None
    """The type of the agent."""
    created_at: Timestamp
    expires_at: Timestamp | None


class NewPrincipalDocument(PrincipalDocument):
    """A principal with its new key."""

    api_key: Annotated[str, Field(pattern="^am_")]
    """Returned only once."""


class NewTenantDocument(TypedDict):
    """A tenant and its first principal."""

    id: str
    admin: NewPrincipalDocument


class PrincipalPageDocument(PagePosition):
    """A page of principals."""

    principals: list[PrincipalDocument]


def render_principal(principal: Principal) -> PrincipalDocument:
    """Render a principal, without its key."""
    return to_document(principal, PrincipalDocument)


def render_new_principal(principal: Principal, api_key: str) -> NewPrincipalDocument:
    return {**render_principal(principal), "api_key": api_key}


ROUTES = RouteTable()

_PRINCIPALS = "/api/v1/principals"

_PRINCIPAL = f"{_PRINCIPALS}/{{id+}}"


@ROUTES.add(
    f"POST {_PRINCIPALS}",
    ADMIN,
    {201: NewPrincipalDocument},
    idempotent=True,
    audited=(CREATE_PRINCIPAL,),
)
def create_principal(request: Request, caller: Principal, new: NewPrincipal) -> Response:
    """Create a principal.

    Only this response contains the key. If a revoked principal had this id, set `reuse` to give the
    new principal its memory, tasks and access; otherwise the request is rejected with 409.
    """
    token = request.claim_idempotency_key(caller) or RequestToken.create()
    principal, api_key = request.services.principals.create_principal(
        caller, new, token, request.headers.get("idempotency-key")
    )
    return json_response(201, render_new_principal(principal, api_key))


@ROUTES.add(f"GET {_PRINCIPALS}", ADMIN, {200: PrincipalPageDocument}, query=CURSOR_PAGE)
def list_principals(request: Request, caller: Principal) -> Response:
    """List the principals."""
    principals = request.services.principals
    read = partial(principals.list_page, caller)
    page, position = paginate(request, caller, read, render_principal)
    return json_response(200, PrincipalPageDocument(principals=page, **position))


@ROUTES.add("GET /api/v1/me", ANY, {200: PrincipalDocument})
def get_own_principal(_request: Request, caller: Principal) -> Response:
    """Get the principal of the key."""
    return json_response(200, render_principal(caller))


@ROUTES.add(
    f"PATCH {_PRINCIPAL}",
    ADMIN,
    {200: PrincipalDocument},
    idempotent=True,
    audited=(CHANGE_PRINCIPAL,),
)
def change_principal(request: Request, caller: Principal, change: PrincipalChange) -> Response:
    """Change a principal; its key stays."""
    changed = request.services.principals.change_principal(
        caller, request.path_params["id"], change, request.idempotency_token(caller)
    )
    return json_response(200, render_principal(changed))


@ROUTES.add(
    f"POST {_PRINCIPAL}/rotate",
    ADMIN,
    {200: NewPrincipalDocument},
    error_statuses=(404, 409, 413),
    idempotent=True,
    audited=(ROTATE_KEY,),
)
def rotate_key(request: Request, caller: Principal) -> Response:
    """Create a new key for a principal, and revoke the old key."""
    principal, api_key = request.services.principals.rotate_key(
        caller,
        request.path_params["id"],
        request.idempotency_token(caller),
        request.headers.get("idempotency-key"),
    )
    return json_response(200, render_new_principal(principal, api_key))


@ROUTES.add(
    f"DELETE {_PRINCIPAL}",
    ADMIN,
    {204: None},
    error_statuses=(404, 409),
    audited=(REVOKE_PRINCIPAL,),
)
def revoke_principal(request: Request, caller: Principal) -> Response:
    """Revoke a principal's key and remove it."""
    request.services.principals.revoke(caller, request.path_params["id"])
    return Response(204)
