"""Namespaces of semantic memory."""

from functools import partial

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.responses.namespaces import (
    NamespaceDocument,
    NamespacePageDocument,
    render_namespace,
)
from functions.api.routing import ANY, RouteTable
from functions.identity.model import READ, Principal
from functions.namespaces.authority import CHANGE_PERMISSIONS
from functions.namespaces.requests import NamespaceChange
from functions.platform.limits import MAX_NAME_CHARACTERS

ROUTES = RouteTable()
_NAMESPACES = "/api/v1/memory/namespaces"


@ROUTES.add(f"GET {_NAMESPACES}", READ, {200: NamespacePageDocument}, query=CURSOR_PAGE)
def list_namespaces(request: Request, caller: Principal) -> Response:
    """List the namespaces that the caller has access to."""
    namespaces = request.services.namespaces
    page, position = paginate(
        request, caller, partial(namespaces.list_page, caller), render_namespace
    )
    return json_response(200, NamespacePageDocument(namespaces=page, **position))


@ROUTES.add(f"GET {_NAMESPACES}/{{namespace+}}", READ, {200: NamespaceDocument})
def get_namespace(request: Request, caller: Principal) -> Response:
    """Get a namespace's permissions."""
    namespace = request.services.namespaces.get(caller, request.path_params["namespace"])
    return json_response(200, render_namespace(namespace), namespace.version)


@ROUTES.add(
    f"PATCH {_NAMESPACES}/{{namespace+}}",
    ANY,
    {200: NamespaceDocument},
    error_statuses=(409,),
    if_match="optional",
    idempotent=True,
    audited=(CHANGE_PERMISSIONS,),
)
def configure_namespace(request: Request, caller: Principal, change: NamespaceChange) -> Response:
    """Change the permissions of a namespace, or of all names with a prefix.

    With `memory.admin`, or `memory.write` and `admin` access to the namespace. Omitted fields stay
    unchanged. Creates the namespace if it is new. A name that ends with `*` is a rule for all
    names with that prefix. A namespace's own permissions take precedence, then the longest
    matching prefix.
    """
    name, version = request.path_param("namespace", MAX_NAME_CHARACTERS), request.if_match
    token = request.idempotency_token(caller)
    namespace = request.services.namespaces.configure(caller, name, change, version, token)
    return json_response(200, render_namespace(namespace), namespace.version)
