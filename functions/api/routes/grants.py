"""Grants on tasks."""

from functools import partial

from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.responses.tasks import GrantDocument, GrantPageDocument, render_grant
from functions.api.routing import Route
from functions.identity.model import READ, WRITE, Principal
from functions.tasks.authority import GRANT, REVOKE_GRANT
from functions.tasks.requests import NewGrant

_GRANTS = "/api/v1/tasks/{task_id+}/grants"
_GRANT = f"{_GRANTS}/{{principal+}}"


def list_grants(request: Request, caller: Principal) -> Response:
    grants, task_id = request.services.grants, request.path_params["task_id"]
    read = partial(grants.list_page, caller, task_id)
    page, position = paginate(request, caller, read, render_grant)
    return json_response(200, GrantPageDocument(grants=page, **position))


def grant_access(request: Request, caller: Principal) -> Response:
    task_id, principal = request.path_params["task_id"], request.path_param("principal")
    granted = request.services.grants.grant(
        caller, task_id, principal, request.parse_body(NewGrant)
    )
    return json_response(200, render_grant(granted))


def revoke_grant(request: Request, caller: Principal) -> Response:
    request.services.grants.revoke(
        caller, request.path_params["task_id"], request.path_params["principal"]
    )
    return Response(204)


ROUTES = [
    Route(
        f"DELETE {_GRANT}",
        revoke_grant,
        WRITE,
        "Take a grant back",
        {204: None},
        error_statuses=(404, 409),
        description="By the task's coordinator or assignee.",
        audited=(REVOKE_GRANT,),
    ),
    Route(
        f"GET {_GRANTS}",
        list_grants,
        READ,
        "List the grants on a task",
        {200: GrantPageDocument},
        query=CURSOR_PAGE,
        error_statuses=(404,),
        description="For the task's coordinator and assignee, and with `memory.admin`; who holds a "
        "grant sees its own. Newest first, without those that have ended.",
    ),
    Route(
        f"PUT {_GRANT}",
        grant_access,
        WRITE,
        "Give a principal access to a task's working memory",
        {200: GrantDocument},
        request_model=NewGrant,
        error_statuses=(404, 409),
        description="By the task's coordinator or assignee.",
        audited=(GRANT,),
    ),
]
