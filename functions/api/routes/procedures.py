"""Procedures (ADR-043 Tier 4)."""

from functools import partial
from typing import Annotated, NotRequired
from urllib.parse import quote

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    Count,
    JsonValue,
    PagePosition,
    Probability,
    Timestamp,
    UncountedPosition,
    Version,
    to_document,
)
from functions.api.http import Request, Response, json_response, stored_response
from functions.api.paging import paginate, paginate_uncounted
from functions.api.parameters import CURSOR_PAGE, UNCOUNTED_PAGE
from functions.api.routing import RouteTable
from functions.identity.model import READ, WRITE, Principal
from functions.procedures.authority import DELETE_WORKFLOW, WRITE_WORKFLOW
from functions.procedures.model import Procedure, WorkflowStats
from functions.procedures.requests import NewWorkflow, Outcome, Selection

BetaParameter = Annotated[float, Field(ge=1)]


class WorkflowDocument(TypedDict):
    """A workflow with its learned statistics."""

    agent_type: str
    """A label that groups runs, such as `sdr`. It does not limit access."""
    task_type: str
    workflow_id: str
    spec: NotRequired[Annotated[JsonValue, VALUE]]
    half_life: str | None
    alpha: BetaParameter
    beta: BetaParameter
    mean: Probability
    outcomes: Count
    version: Version
    """Counts the changes; send it as If-Match."""
    created_at: Timestamp
    updated_at: Timestamp


class SelectedWorkflowDocument(WorkflowDocument):
    """The workflow that was selected."""

    sampled: Probability
    """The sample from its Beta(alpha, beta)."""


class WorkflowPageDocument(PagePosition):
    """A page of workflows."""

    procedures: list[WorkflowDocument]


class TaskTypeDocument(TypedDict):
    """A type of task with the number of its workflows."""

    task_type: str
    workflows: Count


class TaskTypePageDocument(UncountedPosition):
    """A page of types of task, by their names."""

    task_types: list[TaskTypeDocument]


def render_workflow(stats: WorkflowStats) -> WorkflowDocument:
    """Render a workflow with its Beta(alpha, beta)."""
    workflow, alpha, beta = stats.workflow, stats.alpha, stats.beta
    return to_document(
        workflow,
        WorkflowDocument,
        **workflow.procedure._asdict(),
        alpha=alpha,
        beta=beta,
        mean=alpha / (alpha + beta),
        outcomes=workflow.stats.outcomes,
    )


ROUTES = RouteTable()

_PROCEDURE = "/api/v1/procedures/{agent_type}/{task_type}"

_WORKFLOW = f"{_PROCEDURE}/{{workflow_id}}"


@ROUTES.add(
    f"POST {_PROCEDURE}/select",
    READ,
    {200: SelectedWorkflowDocument},
    error_statuses=(404,),
    is_query=True,
)
def select_workflow(request: Request, caller: Principal, wanted: Selection) -> Response:
    """Select the workflow to try next, by Thompson sampling.

    Draws a sample from each workflow's Beta(alpha, beta) and returns the workflow with the
    highest one. The body is optional; `seed` makes the samples repeatable.
    """
    found = request.services.procedures.select(caller, _procedure(request), wanted.seed)
    document: SelectedWorkflowDocument = {**render_workflow(found), "sampled": found.sampled or 0.0}
    return json_response(200, document, found.workflow.version)


@ROUTES.add(f"POST {_WORKFLOW}/outcome", WRITE, {200: WorkflowDocument}, idempotent=True)
def report_outcome(request: Request, caller: Principal, asked: Outcome) -> Response:
    """Report the result of a workflow.

    Adds `score` to alpha and `1 - score` to beta. Concurrent reports all count. With an
    Idempotency-Key, repeats within {IDEMPOTENCY_SECONDS} count once.
    """
    score = asked.score
    found = request.services.procedures.record_outcome(
        caller,
        _procedure(request),
        request.path_param("workflow_id"),
        score,
        request.optional_idempotency_token(caller),
    )
    return json_response(200, render_workflow(found), found.workflow.version)


@ROUTES.add(
    f"PUT {_WORKFLOW}",
    WRITE,
    {200: WorkflowDocument, 201: WorkflowDocument},
    if_match="optional",
    audited=(WRITE_WORKFLOW,),
)
def put_workflow(request: Request, caller: Principal, new: NewWorkflow) -> Response:
    """Set a workflow's spec.

    Keeps the learned statistics unless `reset` is true. With a `half_life`, an outcome counts
    half as much as one that is a half-life newer. Repeating the request changes nothing.
    """
    procedure = _procedure(request)
    workflow_id = request.path_param("workflow_id")
    agent_types = request.services.agent_types
    agent_types.record_use(caller.tenant, procedure.agent_type, has_workflows=True)
    stored, is_new = request.services.procedures.put(
        caller, procedure, workflow_id, new, request.if_match
    )
    path = "/".join(quote(name, safe="") for name in (*procedure, workflow_id))
    location = f"/api/v1/procedures/{path}"
    document, version = render_workflow(stored), stored.workflow.version
    return stored_response(document, version, location, is_new=is_new)


@ROUTES.add(f"GET {_WORKFLOW}", READ, {200: WorkflowDocument})
def get_workflow(request: Request, caller: Principal) -> Response:
    """Get a workflow."""
    workflow_id = request.path_param("workflow_id")
    found = request.services.procedures.get(caller, _procedure(request), workflow_id)
    return json_response(200, render_workflow(found), found.workflow.version)


@ROUTES.add(
    f"DELETE {_WORKFLOW}", WRITE, {204: None}, if_match="optional", audited=(DELETE_WORKFLOW,)
)
def delete_workflow(request: Request, caller: Principal) -> Response:
    """Delete a workflow and its statistics."""
    workflow_id = request.path_param("workflow_id")
    request.services.procedures.delete(caller, _procedure(request), workflow_id, request.if_match)
    return Response(204)


@ROUTES.add(f"GET {_PROCEDURE}", READ, {200: WorkflowPageDocument}, query=CURSOR_PAGE)
def list_workflows(request: Request, caller: Principal) -> Response:
    """List the workflows of a type of task."""
    procedure, procedures = _procedure(request), request.services.procedures
    read = partial(procedures.list_page, caller, procedure)
    page, position = paginate(request, caller, read, render_workflow)
    return json_response(200, WorkflowPageDocument(procedures=page, **position))


@ROUTES.add(
    "GET /api/v1/procedures/{agent_type}", READ, {200: TaskTypePageDocument}, query=UNCOUNTED_PAGE
)
def list_task_types(request: Request, caller: Principal) -> Response:
    """List the task types for which an agent type has workflows, by name."""
    agent_type = request.path_param("agent_type")
    page, position = paginate_uncounted(
        request,
        caller,
        partial(request.services.procedures.list_task_types, caller, agent_type),
        lambda each: to_document(each, TaskTypeDocument),
        lambda each: each.task_type,
    )
    return json_response(200, TaskTypePageDocument(task_types=page, **position))


def _procedure(request: Request) -> Procedure:
    return Procedure(request.path_param("agent_type"), request.path_param("task_type"))
