"""Deletion of tenants, agents and persons."""

from typing import Literal

from typing_extensions import TypedDict

from functions.api.documents import Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.parameters import BooleanParameter
from functions.api.routes.events import ActorDocument, render_actor
from functions.api.routing import ROOT, RouteTable
from functions.deletions.authority import DELETE_AGENT, DELETE_PERSON, DELETE_TENANT
from functions.deletions.model import Deletion, Subject, SubjectKind
from functions.deletions.requests import NewDeletion
from functions.identity.model import ADMIN, Principal
from functions.platform.errors import NotFound


class DeletionDocument(TypedDict):
    """A deletion and its progress."""

    kind: SubjectKind
    id: str
    """The id of the tenant, the agent or the person."""
    dry_run: bool
    status: Literal["running", "done"]
    requested_at: Timestamp
    requested_by: ActorDocument
    finished_at: Timestamp | None
    """The time when everything was deleted, including late writes of functions."""
    counts: dict[str, int]
    """The number of items of each type, and of files, that were deleted or redacted so far."""


def render_deletion(deletion: Deletion) -> DeletionDocument:
    return to_document(
        deletion,
        DeletionDocument,
        requested_by=render_actor(deletion.requested_by),
        counts=dict(sorted(deletion.counts.items())),
    )


ROUTES = RouteTable()

_DRY_RUN = BooleanParameter("dry_run", "Only count the items that would be deleted.")

_DELETIONS = "/api/v1/deletions"

_KINDS: dict[str, SubjectKind] = {"agent": "agent", "person": "person"}


@ROUTES.add(
    "DELETE /api/v1/tenants/{id}",
    ROOT,
    {202: DeletionDocument},
    query=(_DRY_RUN,),
    audited=(DELETE_TENANT,),
)
def delete_tenant(request: Request, caller: Principal) -> Response:
    """Delete a tenant permanently.

    Its keys are revoked immediately, and the scheduled function deletes the rest. The id can't be
    used again. To see the progress, repeat the request, or GET the deletion.
    """
    subject = Subject(request.path_params["id"], "tenant")
    return _begin(request, caller, subject, is_preview=_DRY_RUN.read(request) is True)


@ROUTES.add("GET /api/v1/tenants/{id}/deletion", ROOT, {200: DeletionDocument}, query=(_DRY_RUN,))
def get_tenant_deletion(request: Request, caller: Principal) -> Response:
    """Get the progress of a tenant's deletion."""
    return _get(request, caller, Subject(request.path_params["id"], "tenant"))


@ROUTES.add(
    f"POST {_DELETIONS}",
    ADMIN,
    {202: DeletionDocument},
    error_statuses=(409,),
    audited=(DELETE_AGENT, DELETE_PERSON),
)
def start_deletion(request: Request, caller: Principal, asked: NewDeletion) -> Response:
    """Delete the data of an agent or a person everywhere.

    The principal's key, if any, is revoked immediately; the scheduled function deletes the rest.
    The id is removed from others' data. While the deletion runs, the request returns its progress.
    """
    subject = Subject(caller.tenant, asked.kind, asked.id)
    return _begin(request, caller, subject, is_preview=asked.dry_run)


@ROUTES.add(f"GET {_DELETIONS}/{{kind}}/{{id+}}", ADMIN, {200: DeletionDocument}, query=(_DRY_RUN,))
def get_deletion(request: Request, caller: Principal) -> Response:
    """Get the progress of a deletion."""
    kind = _KINDS.get(request.path_params["kind"])
    if kind is None:
        raise NotFound("the kind of a deletion must be agent or person")
    return _get(request, caller, Subject(caller.tenant, kind, request.path_params["id"]))


def _begin(request: Request, caller: Principal, subject: Subject, *, is_preview: bool) -> Response:
    deletions = request.services.deletions
    begun = deletions.begin(caller, subject, is_preview=is_preview)
    return json_response(202, render_deletion(begun))


def _get(request: Request, caller: Principal, subject: Subject) -> Response:
    deletions = request.services.deletions
    found = deletions.get(caller, subject, is_preview=_DRY_RUN.read(request) is True)
    return json_response(200, render_deletion(found))
