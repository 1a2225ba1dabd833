"""Grants on tasks (contract §5)."""

from functions.api.http import Request, Response, json_response
from functions.api.responses.tasks import GrantDocument, render_grant
from functions.api.routing import Route
from functions.identity.model import WRITE, Principal
from functions.tasks.requests import NewGrant

_GRANT = "/api/v1/tasks/{task_id+}/grants/{principal+}"


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
]
