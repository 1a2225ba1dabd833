"""Principals and their keys."""

from functools import partial

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.responses.identity import (
    NewPrincipalDocument,
    PrincipalDocument,
    PrincipalPageDocument,
    render_new_principal,
    render_principal,
)
from functions.api.routing import ANY, Route
from functions.identity.authority import (
    CHANGE_PRINCIPAL,
    CREATE_PRINCIPAL,
    REVOKE_PRINCIPAL,
    ROTATE_KEY,
)
from functions.identity.model import ADMIN, Principal
from functions.identity.requests import NewPrincipal, PrincipalChange
from functions.platform.idempotency import RequestToken

_PRINCIPALS = "/api/v1/principals"
_PRINCIPAL = f"{_PRINCIPALS}/{{id+}}"


def create_principal(request: Request, caller: Principal) -> Response:
    new = request.parse_body(NewPrincipal)
    token = request.claim_idempotency_key(caller) or RequestToken.create()
    principal, api_key = request.services.identity.create_principal(
        caller, new, token, request.idempotency_key
    )
    return json_response(201, render_new_principal(principal, api_key))


def list_principals(request: Request, caller: Principal) -> Response:
    identity = request.services.identity
    read = partial(identity.list_page, caller)
    page, position = paginate(request, caller, read, render_principal)
    return json_response(200, PrincipalPageDocument(principals=page, **position))


def get_own_principal(_request: Request, caller: Principal) -> Response:
    return json_response(200, render_principal(caller))


def change_principal(request: Request, caller: Principal) -> Response:
    change = request.parse_body(PrincipalChange)
    changed = request.services.identity.change_principal(
        caller, request.path_params["id"], change, request.idempotency_token(caller)
    )
    return json_response(200, render_principal(changed))


def revoke_principal(request: Request, caller: Principal) -> Response:
    request.services.identity.revoke(caller, request.path_params["id"])
    return Response(204)


def rotate_key(request: Request, caller: Principal) -> Response:
    principal, api_key = request.services.identity.rotate_key(
        caller,
        request.path_params["id"],
        request.idempotency_token(caller),
        request.idempotency_key,
    )
    return json_response(200, render_new_principal(principal, api_key))


ROUTES = [
    Route(
        f"POST {_PRINCIPALS}",
        create_principal,
        ADMIN,
        "Create a principal",
        {201: NewPrincipalDocument},
        request_model=NewPrincipal,
        error_statuses=(409,),
        idempotent=True,
        description="The answer shows the key, this once. An id that a revoked principal had is "
        "409 without `reuse`: the new one would have its memory, tasks and access.",
        audited=(CREATE_PRINCIPAL,),
    ),
    Route(
        f"GET {_PRINCIPALS}",
        list_principals,
        ADMIN,
        "List the principals",
        {200: PrincipalPageDocument},
        query=CURSOR_PAGE,
    ),
    Route(
        "GET /api/v1/me",
        get_own_principal,
        ANY,
        "Get the principal of the key",
        {200: PrincipalDocument},
    ),
    Route(
        f"PATCH {_PRINCIPAL}",
        change_principal,
        ADMIN,
        "Change what a principal may; its key stays",
        {200: PrincipalDocument},
        request_model=PrincipalChange,
        error_statuses=(404, 409),
        idempotent=True,
        audited=(CHANGE_PRINCIPAL,),
    ),
    Route(
        f"POST {_PRINCIPAL}/rotate",
        rotate_key,
        ADMIN,
        "Give a principal a new key; the old one stops",
        {200: NewPrincipalDocument},
        error_statuses=(404, 409, 413),
        idempotent=True,
        audited=(ROTATE_KEY,),
    ),
    Route(
        f"DELETE {_PRINCIPAL}",
        revoke_principal,
        ADMIN,
        "Revoke a principal's key and remove it",
        {204: None},
        error_statuses=(404, 409),
        audited=(REVOKE_PRINCIPAL,),
    ),
]
