"""Tenants and their administrators."""

from functions.api.http import Request, Response, json_response
from functions.api.responses.identity import (
    NewPrincipalDocument,
    NewTenantDocument,
    PrincipalDocument,
    render_new_principal,
    render_principal,
)
from functions.api.responses.usage import TenantDocument, render_limits
from functions.api.routing import ROOT, Route
from functions.identity.authority import CREATE_ADMIN, CREATE_TENANT, GRANT_PERMISSIONS
from functions.identity.model import Principal
from functions.identity.requests import NewAdmin, NewTenant, PrincipalGrant
from functions.platform.idempotency import RequestToken
from functions.usage.authority import CHANGE_TENANT
from functions.usage.requests import TenantChange


def create_tenant(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewTenant)
    token = request.claim_idempotency_key(caller) or RequestToken.create()
    admin, api_key = request.services.identity.create_tenant(
        caller, new.id, token, request.idempotency_key
    )
    return json_response(
        201, NewTenantDocument(id=new.id, admin=render_new_principal(admin, api_key))
    )


def create_admin(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewAdmin)
    token = request.claim_idempotency_key(caller) or RequestToken.create()
    admin, api_key = request.services.identity.create_admin(
        caller, request.path_params["id"], new.id, token, request.idempotency_key
    )
    return json_response(201, render_new_principal(admin, api_key))


def grant_permissions(request: Request, caller: Principal) -> Response:
    granted, params = request.parse_body(PrincipalGrant), request.path_params
    changed = request.services.identity.grant(
        caller, params["id"], params["principal"], granted, request.idempotency_token(caller)
    )
    return json_response(200, render_principal(changed))


def change_tenant(request: Request, caller: Principal) -> Response:
    tenant, change = request.path_params["id"], request.parse_body(TenantChange)
    given = change.limits.model_dump(exclude_unset=True)
    changed = request.services.limits.change(caller, tenant, given)
    return json_response(200, TenantDocument(id=tenant, limits=render_limits(changed)))


ROUTES = [
    Route(
        "POST /api/v1/tenants",
        create_tenant,
        ROOT,
        "Create a tenant and its first principal",
        {201: NewTenantDocument},
        request_model=NewTenant,
        error_statuses=(409,),
        idempotent=True,
        audited=(CREATE_TENANT,),
    ),
    Route(
        "POST /api/v1/tenants/{id}/admins",
        create_admin,
        ROOT,
        "Create an administrator in an existing tenant",
        {201: NewPrincipalDocument},
        request_model=NewAdmin,
        error_statuses=(404, 409),
        idempotent=True,
        description="The answer shows the key, this once.",
        audited=(CREATE_ADMIN,),
    ),
    Route(
        "PATCH /api/v1/tenants/{id}",
        change_tenant,
        ROOT,
        "Limit what a tenant uses",
        {200: TenantDocument},
        request_model=TenantChange,
        error_statuses=(404,),
        description="A limit holds within a minute. Beyond it, a request is 429 `QUOTA_EXCEEDED` "
        "with the limit's name. Deletions, and changes that don't grow, are never refused. Limits "
        "that aren't given stay, and null removes one.",
        audited=(CHANGE_TENANT,),
    ),
    Route(
        "PATCH /api/v1/tenants/{id}/principals/{principal+}",
        grant_permissions,
        ROOT,
        "Set all permissions of a principal",
        {200: PrincipalDocument},
        request_model=PrincipalGrant,
        error_statuses=(404, 409),
        idempotent=True,
        description="Grants `memory.inspect`, or takes it away: it reads everything in the tenant, "
        "and writes nothing. Each use is in the tenant's audit log.",
        audited=(GRANT_PERMISSIONS,),
    ),
]
