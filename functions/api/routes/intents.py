"""Intents: their owners and access lists."""

from functools import partial

from typing_extensions import TypedDict

from functions.api.documents import PagePosition, Timestamp, Version, to_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.routing import WRITE_OR_ADMIN, RouteTable
from functions.identity.model import ADMIN, READ, Principal
from functions.tasks.authority import SET_ACL, SET_OWNER
from functions.tasks.model import GrantAccess, Intent
from functions.tasks.requests import Acl, NewOwner


class AclEntryDocument(TypedDict):
    """A principal's access to an intent."""

    principal: str
    access: GrantAccess


class AclDocument(TypedDict):
    """An intent's owner and access list."""

    intent_id: str
    owner: str | None
    """A coordinator or user; null while only agents have named the intent."""
    entries: list[AclEntryDocument]
    version: Version


class IntentDocument(TypedDict):
    """An intent."""

    intent_id: str
    owner: str | None
    """A coordinator or user; null while only agents have named the intent."""
    created_at: Timestamp
    version: Version


class IntentPageDocument(PagePosition):
    """A page of intents."""

    intents: list[IntentDocument]


def render_acl(intent: Intent) -> AclDocument:
    entries = [AclEntryDocument(principal=p, access=a) for p, a in sorted(intent.acl.items())]
    return to_document(intent, AclDocument, entries=entries)


ROUTES = RouteTable()

_INTENT = "/api/v1/intents/{intent_id+}"

_ACL = f"{_INTENT}/acl"


@ROUTES.add("GET /api/v1/intents", READ, {200: IntentPageDocument}, query=CURSOR_PAGE)
def list_intents(request: Request, caller: Principal) -> Response:
    """List intents.

    Lists intents that you own, take or took part in, or whose access list names you; with
    `memory.admin`, all. Newest first.
    """
    intents = request.services.intents
    read = partial(intents.list_page, caller)
    page, position = paginate(request, caller, read, lambda each: to_document(each, IntentDocument))
    return json_response(200, IntentPageDocument(intents=page, **position))


@ROUTES.add(f"GET {_ACL}", READ, {200: AclDocument}, response_headers=())
def get_acl(request: Request, caller: Principal) -> Response:
    """Get an intent's access list.

    For the intent's owner, assignees and coordinators of its tasks, principals on its access list,
    and with `memory.admin`.
    """
    intent = request.services.intents.get(caller, request.path_params["intent_id"])
    return json_response(200, render_acl(intent))


@ROUTES.add(
    f"PUT {_ACL}",
    WRITE_OR_ADMIN,
    {200: AclDocument},
    audited=(SET_ACL,),
    error_statuses=(),
    response_headers=(),
)
def set_acl(request: Request, caller: Principal, acl: Acl) -> Response:
    """Set an intent's access list.

    For the intent's owner, and with `memory.admin`. A coordinator or user who sets the list of an
    intent without an owner becomes its owner.
    """
    intent_id = request.path_param("intent_id")
    intent = request.services.intents.set_acl(caller, intent_id, acl)
    return json_response(200, render_acl(intent))


@ROUTES.add(
    f"PUT {_INTENT}/owner",
    ADMIN,
    {200: AclDocument},
    audited=(SET_OWNER,),
    error_statuses=(),
    response_headers=(),
)
def set_intent_owner(request: Request, caller: Principal, new: NewOwner) -> Response:
    """Set an intent's owner.

    The owner must be a coordinator or user of the tenant. The access list stays unchanged.
    """
    intent_id = request.path_param("intent_id")
    intent = request.services.intents.set_owner(caller, intent_id, new)
    return json_response(200, render_acl(intent))
