"""Workflow files: namespaces, agents' settings and tasks."""

from typing_extensions import TypedDict

from functions.api.documents import Version, to_document
from functions.api.http import Request, Response, json_response
from functions.api.responses.tasks import MemoryPolicyDocument
from functions.api.routing import RouteTable
from functions.identity.model import ADMIN, Principal
from functions.namespaces.model import Access
from functions.tasks.authority import REGISTER_TASK
from functions.workflows.authority import APPLY_WORKFLOW
from functions.workflows.parser import parse_workflow
from functions.workflows.requests import Workflow
from functions.workflows.rules import Application


class AppliedEpisodicDocument(TypedDict):
    """The settings of episodic memory that a workflow set; null was left unchanged."""

    capacity: Version | None
    pinned_namespaces: list[str] | None


class AppliedAgentDocument(TypedDict):
    """An agent of a workflow."""

    agent_id: str
    episodic: AppliedEpisodicDocument


class AppliedTaskDocument(TypedDict):
    """A task of a workflow's plan."""

    id: str
    name: str
    assigned_agent: str | None
    depends_on: list[str]
    memory_policy: MemoryPolicyDocument


class AppliedNamespaceDocument(TypedDict):
    """A namespace that a workflow declares."""

    namespace: str
    access: Access
    """The caller's access. If others have configured the namespace, it may be less than `write`."""


class AppliedWorkflowDocument(TypedDict):
    """The result of applying a workflow."""

    name: str
    version: str | None
    intent_id: str
    semantic_namespaces: list[str]
    namespaces: list[AppliedNamespaceDocument]
    agents: list[AppliedAgentDocument]
    tasks: list[AppliedTaskDocument]
    ignored: list[str]


_NOTHING_SET = dict.fromkeys(AppliedEpisodicDocument.__annotations__)


def render_applied_workflow(
    applied: Application, access: dict[str, Access]
) -> AppliedWorkflowDocument:
    """Render an applied workflow (RFC-0015 §7), with the caller's access to its namespaces."""
    return to_document(
        applied,
        AppliedWorkflowDocument,
        namespaces=[{"namespace": name, "access": each} for name, each in access.items()],
        agents=[
            {"agent_id": agent, "episodic": _NOTHING_SET | each.model_dump(exclude_unset=True)}
            for agent, each in applied.agents.items()
        ],
        tasks=[
            to_document(each, AppliedTaskDocument, memory_policy=each.memory_policy._asdict())
            for each in applied.tasks
        ],
    )


ROUTES = RouteTable()


@ROUTES.add(
    "POST /api/v1/workflows",
    ADMIN,
    {200: AppliedWorkflowDocument},
    request_model=Workflow,
    media_types=("application/json", "application/yaml"),
    idempotent=True,
    audited=(APPLY_WORKFLOW, REGISTER_TASK),
    response_headers=(),
)
def apply_workflow(request: Request, caller: Principal) -> Response:
    """Apply a workflow's memory, agents and plan.

    For users and coordinators; the caller becomes the coordinator of the tasks. Applying a file
    again changes nothing and returns the same response. A changed file changes existing settings
    and tasks, except ended tasks. Another `version` creates other tasks. Errors name the line.
    """
    workflow = parse_workflow(request.body, request.headers.get("content-type", "").lower())
    applied = request.services.workflows.apply(caller, workflow, request.idempotency_token(caller))
    namespaces = request.services.namespaces
    access = {name: namespaces.get_access(caller, name) for name in applied.semantic_namespaces}
    return json_response(200, render_applied_workflow(applied, access))
