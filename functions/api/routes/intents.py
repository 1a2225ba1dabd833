"""Intents: their owners and access lists."""

from functools import partial

from functions.api.http import Request, Response, json_response
from functions.api.paging import mark_hidden, paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.responses.tasks import AclDocument, IntentPageDocument, render_acl, render_intent
from functions.api.routing import WRITE_OR_ADMIN, Route
from functions.identity.model import ADMIN, READ, Principal
from functions.tasks.intent_authority import SET_ACL, SET_OWNER
from functions.tasks.requests import Acl, NewOwner

_INTENT = "/api/v1/intents/{intent_id+}"
_ACL = f"{_INTENT}/acl"


def list_intents(request: Request, caller: Principal) -> Response:
    intents = request.services.intents
    page, position = paginate(request, caller, partial(intents.list_page, caller), render_intent)
    position = mark_hidden(position, page, lambda: intents.has_any(caller))
    return json_response(200, IntentPageDocument(intents=page, **position))


def get_acl(request: Request, caller: Principal) -> Response:
    intent = request.services.intents.get(caller, request.path_params["intent_id"])
    return json_response(200, render_acl(intent))


def set_acl(request: Request, caller: Principal) -> Response:
    intent_id, acl = request.path_param("intent_id"), request.parse_body(Acl)
    intent = request.services.intents.set_acl(caller, intent_id, acl)
    return json_response(200, render_acl(intent))


def set_intent_owner(request: Request, caller: Principal) -> Response:
    intent_id, new = request.path_param("intent_id"), request.parse_body(NewOwner)
    intent = request.services.intents.set_owner(caller, intent_id, new)
    return json_response(200, render_acl(intent))


ROUTES = [
    Route(
        "GET /api/v1/intents",
        list_intents,
        READ,
        "List intents",
        {200: IntentPageDocument},
        query=CURSOR_PAGE,
        description="Those that the caller owns, takes or took part in, or is on the access list "
        "of; all of them with `memory.admin`. Newest first.",
    ),
    Route(
        f"GET {_ACL}",
        get_acl,
        READ,
        "Get an intent's access list",
        {200: AclDocument},
        error_statuses=(404,),
        description="By the intent's owner, who takes or took part in it, who is on its access "
        "list, or with `memory.admin`.",
    ),
    Route(
        f"PUT {_ACL}",
        set_acl,
        WRITE_OR_ADMIN,
        "Set an intent's access list",
        {200: AclDocument},
        request_model=Acl,
        description="By the intent's owner, or with `memory.admin`. A coordinator or user who "
        "sets the list of an intent that nobody owns becomes its owner.",
        audited=(SET_ACL,),
    ),
    Route(
        f"PUT {_INTENT}/owner",
        set_intent_owner,
        ADMIN,
        "Set an intent's owner",
        {200: AclDocument},
        request_model=NewOwner,
        description="A coordinator or user of the tenant. The access list stays as it is.",
        audited=(SET_OWNER,),
    ),
]
