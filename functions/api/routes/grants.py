"""Grants on tasks, and access lists of intents (contract §5)."""

from functions.api.http import Request, Response, json_response
from functions.api.responses.tasks import AclDocument, GrantDocument, render_acl, render_grant
from functions.api.routing import Route
from functions.identity.model import READ, WRITE, Principal
from functions.tasks.requests import Acl, NewGrant

_GRANT = "/api/v1/tasks/{task_id+}/grants/{principal+}"
_ACL = "/api/v1/intents/{intent_id+}/acl"


def grant_access(request: Request, caller: Principal) -> Response:
    task_id, principal = (
        request.path_params["task_id"],
        request.path_param("principal"),
    )
    granted = request.services.grants.grant(
        caller, task_id, principal, request.parse_body(NewGrant)
    )
    return json_response(200, render_grant(granted))


def revoke_grant(request: Request, caller: Principal) -> Response:
    request.services.grants.revoke(
        caller, request.path_params["task_id"], request.path_params["principal"]
    )
    return Response(204)


def get_acl(request: Request, caller: Principal) -> Response:
    intent = request.services.intents.get(caller, request.path_params["intent_id"])
    return json_response(200, render_acl(intent))


def set_acl(request: Request, caller: Principal) -> Response:
    acl = request.parse_body(Acl)
    intent = request.services.intents.set_acl(caller, request.path_params["intent_id"], acl)
    return json_response(200, render_acl(intent))


ROUTES = [
    Route(
        "DELETE",
        _GRANT,
        revoke_grant,
        WRITE,
        "Take a grant back",
        {204: None},
        error_statuses=(404, 409),
        description="By the task's coordinator or assignee.",
    ),
    Route(
        "GET",
        _ACL,
        get_acl,
        READ,
        "Get an intent's access list",
        {200: AclDocument},
        error_statuses=(404,),
    ),
    Route(
        "PUT",
        _GRANT,
        grant_access,
        WRITE,
        "Give a principal access to a task's working memory",
        {200: GrantDocument},
        request_model=NewGrant,
        error_statuses=(404, 409, 413, 429),
        description="By the task's coordinator or assignee.",
    ),
    Route(
        "PUT",
        _ACL,
        set_acl,
        WRITE,
        "Set an intent's access list",
        {200: AclDocument},
        request_model=Acl,
        error_statuses=(404, 413),
        description="By the intent's owner, or with `memory.admin`.",
    ),
]
