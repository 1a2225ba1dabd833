"""Deletion of tenants, agents and persons."""

from functions.api.http import Request, Response, json_response
from functions.api.parameters import BooleanParameter
from functions.api.responses.deletions import DeletionDocument, render_deletion
from functions.api.routing import ROOT, Route
from functions.deletion.authority import DELETE_AGENT, DELETE_PERSON, DELETE_TENANT
from functions.deletion.model import Subject, SubjectKind
from functions.deletion.requests import NewDeletion
from functions.identity.model import ADMIN, Principal
from functions.platform.errors import NotFound

_DRY_RUN = BooleanParameter("dry_run", "Count only what would be deleted.")
_DELETIONS = "/api/v1/deletions"
_KINDS: dict[str, SubjectKind] = {"agent": "agent", "person": "person"}


def delete_tenant(request: Request, caller: Principal) -> Response:
    subject = Subject(request.path_params["id"], "tenant")
    return _begin(request, caller, subject, is_preview=_DRY_RUN.read(request) is True)


def get_tenant_deletion(request: Request, caller: Principal) -> Response:
    return _get(request, caller, Subject(request.path_params["id"], "tenant"))


def start_deletion(request: Request, caller: Principal) -> Response:
    asked = request.parse_body(NewDeletion)
    subject = Subject(caller.tenant, asked.kind, asked.id)
    return _begin(request, caller, subject, is_preview=asked.dry_run)


def get_deletion(request: Request, caller: Principal) -> Response:
    kind = _KINDS.get(request.path_params["kind"])
    if kind is None:
        raise NotFound("deletions are of an agent or a person")
    return _get(request, caller, Subject(caller.tenant, kind, request.path_params["id"]))


def _begin(request: Request, caller: Principal, subject: Subject, *, is_preview: bool) -> Response:
    deletions = request.services.deletions
    begun = deletions.begin(caller, subject, is_preview=is_preview)
    return json_response(202, render_deletion(begun))


def _get(request: Request, caller: Principal, subject: Subject) -> Response:
    deletions = request.services.deletions
    found = deletions.get(caller, subject, is_preview=_DRY_RUN.read(request) is True)
    return json_response(200, render_deletion(found))


ROUTES = [
    Route(
        "DELETE /api/v1/tenants/{id}",
        delete_tenant,
        ROOT,
        "Delete a tenant for good",
        {202: DeletionDocument},
        query=(_DRY_RUN,),
        error_statuses=(404,),
        description="Its keys stop at once; the scheduled function deletes the rest, and no tenant "
        "is ever made again under its id. Repeat the call, or GET the deletion, to see how far it "
        "is.",
        audited=(DELETE_TENANT,),
    ),
    Route(
        "GET /api/v1/tenants/{id}/deletion",
        get_tenant_deletion,
        ROOT,
        "Get how far a tenant's deletion is",
        {200: DeletionDocument},
        query=(_DRY_RUN,),
        error_statuses=(404,),
    ),
    Route(
        f"POST {_DELETIONS}",
        start_deletion,
        ADMIN,
        "Delete what an agent or a person has, everywhere",
        {202: DeletionDocument},
        request_model=NewDeletion,
        error_statuses=(409,),
        description="The principal's key stops at once, if there is one; the scheduled function "
        "deletes the rest. Where the id only takes part, it is taken out. A call while the "
        "deletion runs answers how far it is.",
        audited=(DELETE_AGENT, DELETE_PERSON),
    ),
    Route(
        f"GET {_DELETIONS}/{{kind}}/{{id+}}",
        get_deletion,
        ADMIN,
        "Get how far a deletion is",
        {200: DeletionDocument},
        query=(_DRY_RUN,),
        error_statuses=(404,),
    ),
]
