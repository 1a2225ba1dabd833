"""Namespaces of semantic memory (contract §4)."""

from functions.api.documents import namespace_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import PAGE, listed
from functions.api.routing import Route
from functions.identity.model import ADMIN, READ, Principal
from functions.namespaces.model import Namespace
from functions.namespaces.requests import NamespaceChange
from functions.platform.limits import MAX_NAME_CHARACTERS

NAMESPACES = "/api/v1/memory/namespaces"


def list_namespaces(request: Request, caller: Principal) -> Response:
    documents = list(map(namespace_document, request.services.namespaces.visible(caller)))
    return json_response(200, listed(request, "namespaces", documents))


def get_namespace(request: Request, caller: Principal) -> Response:
    return _response(request.services.namespaces.get(caller, request.path_params["namespace"]))


def configure_namespace(request: Request, caller: Principal) -> Response:
    change = request.parse_body(NamespaceChange)
    name, version = (
        request.path_param("namespace", MAX_NAME_CHARACTERS),
        request.if_match,
    )
    token = request.idempotency_token(caller)
    return _response(request.services.namespaces.configure(caller, name, change, version, token))


def _response(namespace: Namespace) -> Response:
    return json_response(200, namespace_document(namespace), etag=f'"{namespace.version}"')


ROUTES = [
    Route(
        "GET",
        NAMESPACES,
        list_namespaces,
        READ,
        "List the namespaces that the caller has access to",
        {200: "NamespacePage"},
        query=PAGE,
    ),
    Route(
        "GET",
        f"{NAMESPACES}/{{namespace+}}",
        get_namespace,
        READ,
        "Get a namespace's permissions",
        {200: "Namespace"},
        error_statuses=(404,),
    ),
    Route(
        "PATCH",
        f"{NAMESPACES}/{{namespace+}}",
        configure_namespace,
        ADMIN,
        "Set a namespace's permissions",
        {200: "Namespace"},
        request_model=NamespaceChange,
        error_statuses=(409, 413),
        if_match="optional",
        idempotent=True,
        description="Makes the namespace if it is new.",
    ),
]
