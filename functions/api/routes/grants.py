"""Grants on tasks."""

from functools import partial

from typing_extensions import TypedDict

from functions.api.documents import PagePosition, Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.paging import paginate
from functions.api.parameters import CURSOR_PAGE
from functions.api.routing import RouteTable
from functions.identity.model import READ, WRITE, Principal
from functions.platform.clock import to_optional_rfc3339
from functions.tasks.authority import GRANT, REVOKE_GRANT
from functions.tasks.model import FOREVER, Grant, GrantAccess
from functions.tasks.requests import NewGrant


class GrantDocument(TypedDict):
    """A principal's access to a task's working memory."""

    principal: str
    access: GrantAccess
    expires_at: Timestamp | None
    granted_by: str
    """The coordinator or assignee that granted it."""
    created_at: Timestamp


class GrantPageDocument(PagePosition):
    """A page of grants."""

    grants: list[GrantDocument]


def render_grant(grant: Grant) -> GrantDocument:
    expires_at = None if grant.expires_at == FOREVER else grant.expires_at
    return to_document(grant, GrantDocument, expires_at=to_optional_rfc3339(expires_at))


ROUTES = RouteTable()

_GRANTS = "/api/v1/tasks/{task_id+}/grants"

_GRANT = f"{_GRANTS}/{{principal+}}"


@ROUTES.add(
    f"DELETE {_GRANT}", WRITE, {204: None}, error_statuses=(404, 409), audited=(REVOKE_GRANT,)
)
def revoke_grant(request: Request, caller: Principal) -> Response:
    """Revoke a grant.

    For the task's coordinator and assignee.
    """
    request.services.grants.revoke(
        caller, request.path_params["task_id"], request.path_params["principal"]
    )
    return Response(204)


@ROUTES.add(f"GET {_GRANTS}", READ, {200: GrantPageDocument}, query=CURSOR_PAGE)
def list_grants(request: Request, caller: Principal) -> Response:
    """List the grants on a task.

    For the task's coordinator and assignee, and with `memory.admin`. A grantee sees its own grant.
    Newest first, without expired grants.
    """
    grants, task_id = request.services.grants, request.path_params["task_id"]
    read = partial(grants.list_page, caller, task_id)
    page, position = paginate(request, caller, read, render_grant)
    return json_response(200, GrantPageDocument(grants=page, **position))


@ROUTES.add(
    f"PUT {_GRANT}", WRITE, {200: GrantDocument}, error_statuses=(404, 409), audited=(GRANT,)
)
def grant_access(request: Request, caller: Principal, new: NewGrant) -> Response:
    """Give a principal access to a task's working memory.

    For the task's coordinator and assignee.
    """
    task_id, principal = request.path_params["task_id"], request.path_param("principal")
    granted = request.services.grants.grant(caller, task_id, principal, new)
    return json_response(200, render_grant(granted))
