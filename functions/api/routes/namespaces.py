"""Namespaces of semantic memory."""

from functools import partial
from typing import NotRequired

from typing_extensions import TypedDict

from functions.api.documents import Count, PagePosition, Timestamp, Version, to_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.routing import ANY, RouteTable
from functions.identity.model import READ, Principal
from functions.namespaces.authority import CHANGE_PERMISSIONS
from functions.namespaces.model import PREFIX_MARK, Access, Namespace
from functions.namespaces.requests import NamespaceChange
from functions.platform.kept_history import get_days
from functions.platform.limits import DEFAULT_HISTORY_DAYS, MAX_NAME_CHARACTERS


class PrincipalAccessDocument(TypedDict):
    """An agent's access to a namespace."""

    agent: str
    access: Access


class NamespacePermissionsDocument(TypedDict):
    """The permissions of a namespace."""

    default: Access
    """The access of principals that aren't listed; of a prefix rule: where none is set."""
    allow: list[PrincipalAccessDocument]


class HistoryDocument(TypedDict):
    """The time for which earlier values of entries are kept."""

    days: Count


class NamespaceDocument(TypedDict):
    """A namespace's permissions."""

    namespace: str
    permissions: NamespacePermissionsDocument
    search_fields: NotRequired[list[str]]
    """The fields of values that searches may compare; absent if there are none."""
    history: NotRequired[HistoryDocument]
    """The time for which earlier values of its entries are kept; absent in a prefix rule."""
    version: Version
    created_at: Timestamp
    updated_at: Timestamp


class NamespacePageDocument(PagePosition):
    """A page of namespaces."""

    namespaces: list[NamespaceDocument]


def render_namespace(namespace: Namespace) -> NamespaceDocument:
    """Render a namespace's permissions (RFC-0015 §2.3), with the default that applies."""
    permissions = render_permissions(namespace)
    history: HistoryDocument = {"days": get_days(namespace.history, DEFAULT_HISTORY_DAYS)}
    computed = {"permissions": permissions, "history": history}
    document = to_document(namespace, NamespaceDocument, **computed)
    if namespace.namespace.endswith(PREFIX_MARK):
        del document["history"]
    if not namespace.search_fields:
        del document["search_fields"]
    return document


def render_permissions(namespace: Namespace) -> NamespacePermissionsDocument:
    """Render the permissions of a namespace or a space of objects."""
    return {
        "default": namespace.default or "read",
        "allow": [
            {"agent": agent, "access": access} for agent, access in sorted(namespace.allow.items())
        ],
    }


ROUTES = RouteTable()

_NAMESPACES = "/api/v1/memory/namespaces"


@ROUTES.add(f"GET {_NAMESPACES}", READ, {200: NamespacePageDocument}, query=CURSOR_PAGE)
def list_namespaces(request: Request, caller: Principal) -> Response:
    """List the namespaces that you have access to."""
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
