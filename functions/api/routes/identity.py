"""Tenants, principals and keys (contract §2)."""

from functions.api.call import Answer, Call, json_answer
from functions.api.documents import principal_document
from functions.api.paging import PAGE, listed
from functions.api.parsing import parsed
from functions.api.route import ANY, ROOT, Route
from functions.identity.model import ADMIN, Principal
from functions.identity.requests import NewPrincipal, NewTenant

PRINCIPALS = "/api/v1/principals"
_PRINCIPAL = f"{PRINCIPALS}/{{id+}}"


def create_tenant(call: Call, caller: Principal) -> Answer:
    new = parsed(call, NewTenant)
    admin, api_key = call.services.identity.create_tenant(
        new.id, call.token(caller), call.idempotency_key
    )
    return json_answer(201, {"id": new.id, "admin": _with_key(admin, api_key)})


def create(call: Call, caller: Principal) -> Answer:
    new = parsed(call, NewPrincipal)
    principal, api_key = call.services.identity.create_principal(
        caller, new, call.token(caller), call.idempotency_key
    )
    return json_answer(201, _with_key(principal, api_key))


def all_of_tenant(call: Call, caller: Principal) -> Answer:
    documents = list(map(principal_document, call.services.identity.principals(caller)))
    return json_answer(200, listed(call, "principals", documents))


def me(_call: Call, caller: Principal) -> Answer:
    return json_answer(200, principal_document(caller))


def revoke(call: Call, caller: Principal) -> Answer:
    call.services.identity.revoke(caller, call.names["id"])
    return Answer(204)


def rotate(call: Call, caller: Principal) -> Answer:
    principal, api_key = call.services.identity.rotate(
        caller, call.names["id"], call.token(caller), call.idempotency_key
    )
    return json_answer(200, _with_key(principal, api_key))


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
        body=NewTenant,
        also=(409, 413),
        once=True,
    ),
    Route(
        "POST",
        PRINCIPALS,
        create,
        ADMIN,
        "Create a principal",
        {201: "NewPrincipal"},
        body=NewPrincipal,
        also=(409, 413),
        once=True,
    ),
    Route(
        "GET",
        PRINCIPALS,
        all_of_tenant,
        ADMIN,
        "List the principals",
        {200: "PrincipalPage"},
        query=PAGE,
    ),
    Route("GET", "/api/v1/me", me, ANY, "Get the principal of the key", {200: "Principal"}),
    Route(
        "POST",
        f"{_PRINCIPAL}/rotate",
        rotate,
        ADMIN,
        "Give a principal a new key; the old one stops",
        {200: "NewPrincipal"},
        also=(404, 409, 413),
        once=True,
    ),
    Route(
        "DELETE",
        _PRINCIPAL,
        revoke,
        ADMIN,
        "Revoke a principal's key and remove it",
        {204: None},
        also=(404,),
    ),
]
