"""Tenants and their administrators."""

from functions.api.http import Request, Response, json_response
from functions.api.routes.principals import (
    NewPrincipalDocument,
    NewTenantDocument,
    PrincipalDocument,
    render_new_principal,
    render_principal,
)
from functions.api.routes.usage import TenantDocument, render_limits
from functions.api.routing import ROOT, RouteTable
from functions.identity.authority import CREATE_ADMIN, CREATE_TENANT, GRANT_PERMISSIONS
from functions.identity.model import Principal
from functions.identity.requests import NewAdmin, NewTenant, PrincipalGrant
from functions.platform.idempotency import RequestToken
from functions.usage.authority import CHANGE_TENANT
from functions.usage.requests import TenantChange

ROUTES = RouteTable()


@ROUTES.add(
    "POST /api/v1/tenants",
    ROOT,
    {201: NewTenantDocument},
    idempotent=True,
    audited=(CREATE_TENANT,),
)
def create_tenant(request: Request, caller: Principal, new: NewTenant) -> Response:
    """Create a tenant and its first principal."""
    token = request.claim_idempotency_key(caller) or RequestToken.create()
    admin, api_key = request.services.principals.create_tenant(
        caller, new.id, token, request.headers.get("idempotency-key")
    )
    return json_response(
        201, NewTenantDocument(id=new.id, admin=render_new_principal(admin, api_key))
    )


@ROUTES.add(
    "POST /api/v1/tenants/{id}/admins",
    ROOT,
    {201: NewPrincipalDocument},
    idempotent=True,
    audited=(CREATE_ADMIN,),
)
def create_admin(request: Request, caller: Principal, new: NewAdmin) -> Response:
    """Create an administrator in an existing tenant.

    Only this response contains the key.
    """
    token = request.claim_idempotency_key(caller) or RequestToken.create()
    admin, api_key = request.services.principals.create_admin(
        caller, request.path_params["id"], new.id, token, request.headers.get("idempotency-key")
    )
    return json_response(201, render_new_principal(admin, api_key))


@ROUTES.add(
    "PATCH /api/v1/tenants/{id}",
    ROOT,
    {200: TenantDocument},
    idempotent=True,
    audited=(CHANGE_TENANT,),
)
def change_tenant(request: Request, caller: Principal, change: TenantChange) -> Response:
    """Set limits of a tenant.

    A limit applies within a minute. Requests over it are rejected with 429 `QUOTA_EXCEEDED` and the
    limit's name. Deletions, and changes without growth, are never rejected. Omitted limits stay
    unchanged, and null removes one.
    """
    tenant = request.path_params["id"]
    request.claim_idempotency_key(caller)
    given = change.limits.model_dump(exclude_unset=True)
    changed = request.services.limits.change(caller, tenant, given)
    return json_response(200, TenantDocument(id=tenant, limits=render_limits(changed)))


@ROUTES.add(
    "PATCH /api/v1/tenants/{id}/principals/{principal+}",
    ROOT,
    {200: PrincipalDocument},
    idempotent=True,
    audited=(GRANT_PERMISSIONS,),
)
def grant_permissions(request: Request, caller: Principal, granted: PrincipalGrant) -> Response:
    """Set all permissions of a principal.

    Grants or revokes `memory.inspect`, which permits reading everything in the tenant, and no
    writes. Each use is recorded in the tenant's audit log.
    """
    params = request.path_params
    changed = request.services.principals.grant(
        caller, params["id"], params["principal"], granted, request.idempotency_token(caller)
    )
    return json_response(200, render_principal(changed))
