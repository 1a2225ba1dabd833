"""Tenants, principals and keys (contract §2)."""

from functions.api.documents import principal_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import PAGE, listed
from functions.api.routing import ANY, ROOT, Route
from functions.identity.model import ADMIN, Principal
from functions.identity.requests import NewPrincipal, NewTenant

PRINCIPALS = "/api/v1/principals"
_PRINCIPAL = f"{PRINCIPALS}/{{id+}}"


def create_tenant(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewTenant)
    admin, api_key = request.services.identity.create_tenant(
        new.id, request.idempotency_token(caller), request.idempotency_key
    )
    return json_response(201, {"id": new.id, "admin": _with_key(admin, api_key)})


def create_principal(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewPrincipal)
    principal, api_key = request.services.identity.create_principal(
        caller, new, request.idempotency_token(caller), request.idempotency_key
    )
    return json_response(201, _with_key(principal, api_key))


def list_principals(request: Request, caller: Principal) -> Response:
    documents = list(map(principal_document, request.services.identity.principals(caller)))
    return json_response(200, listed(request, "principals", documents))


def get_own_principal(_request: Request, caller: Principal) -> Response:
    return json_response(200, principal_document(caller))


def revoke_principal(request: Request, caller: Principal) -> Response:
    request.services.identity.revoke(caller, request.path_params["id"])
    return Response(204)


def rotate_key(request: Request, caller: Principal) -> Response:
    principal, api_key = request.services.identity.rotate(
        caller,
        request.path_params["id"],
        request.idempotency_token(caller),
        request.idempotency_key,
    )
    return json_response(200, _with_key(principal, api_key))


def _with_key(principal: Principal, api_key: str) -> dict[str, object]:
    return principal_document(principal) | {"api_key": api_key}


ROUTES = [
    Route(
        "POST",
        "/api/v1/tenants",
        create_tenant,
        ROOT,
        "Create a tenant and its first principal",
        {201: "NewTenant"},
        request_model=NewTenant,
        error_statuses=(409, 413),
        idempotent=True,
    ),
    Route(
        "POST",
        PRINCIPALS,
        create_principal,
        ADMIN,
        "Create a principal",
        {201: "NewPrincipal"},
        request_model=NewPrincipal,
        error_statuses=(409, 413),
        idempotent=True,
        description="The answer shows the key, this once.",
    ),
    Route(
        "GET",
        PRINCIPALS,
        list_principals,
        ADMIN,
        "List the principals",
        {200: "PrincipalPage"},
        query=PAGE,
    ),
    Route(
        "GET",
        "/api/v1/me",
        get_own_principal,
        ANY,
        "Get the principal of the key",
        {200: "Principal"},
    ),
    Route(
        "POST",
        f"{_PRINCIPAL}/rotate",
        rotate_key,
        ADMIN,
        "Give a principal a new key; the old one stops",
        {200: "NewPrincipal"},
        error_statuses=(404, 409, 413),
        idempotent=True,
    ),
    Route(
        "DELETE",
        _PRINCIPAL,
        revoke_principal,
        ADMIN,
        "Revoke a principal's key and remove it",
        {204: None},
        error_statuses=(404,),
    ),
]
