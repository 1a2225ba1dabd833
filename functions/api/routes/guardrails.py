"""Guardrails of coordinators."""

import orjson
from typing_extensions import TypedDict

from functions.api.documents import Count, Timestamp, to_document
from functions.api.http import Request, Response, json_response
from functions.api.routing import ANY, RouteTable
from functions.identity.model import ADMIN, Principal
from functions.platform.json_text import dumps
from functions.tasks.authority import CHANGE_GUARDRAILS
from functions.tasks.model import CoordinatorGuardrails
from functions.tasks.requests import GuardrailsChange


class GuardrailsDocument(TypedDict):
    """A coordinator's guardrails; null if not set. Other members are returned unchanged."""

    max_working_memory_per_task: Count | None
    """The maximum number of working entries of a task. A task's policy can't raise it."""
    max_episodic_memory_per_agent: Count | None
    """The maximum number of an agent's entries, even if its settings allow more."""
    allowed_semantic_namespaces: list[str] | None
    """The coordinator and its assignees can access semantic memory only in these. A name that ends
    with `*` is a prefix."""
    denied_semantic_namespaces: list[str] | None
    """They can't access semantic memory in these, even if it is allowed."""
    memory_archive_required: bool | None
    """Memory is archived when a task ends, even if its policy does not ask for it."""


class CoordinatorGuardrailsDocument(TypedDict):
    """A coordinator's guardrails, with their version."""

    coordinator_id: str
    guardrails: GuardrailsDocument
    version: Count
    updated_at: Timestamp | None


def render_guardrails(found: CoordinatorGuardrails) -> CoordinatorGuardrailsDocument:
    """Render a coordinator's guardrails (RFC-0015 §6.6)."""
    members = orjson.Fragment(dumps(found.members))
    return to_document(found, CoordinatorGuardrailsDocument, guardrails=members)


ROUTES = RouteTable()

_GUARDRAILS = "/api/v1/coordinators/{coordinator_id+}/guardrails"


@ROUTES.add(f"GET {_GUARDRAILS}", ANY, {200: CoordinatorGuardrailsDocument})
def get_guardrails(request: Request, caller: Principal) -> Response:
    """Get a coordinator's guardrails.

    For the coordinator itself, and with `memory.admin`.
    """
    found = request.services.guardrails.get(caller, request.path_param("coordinator_id"))
    return json_response(200, render_guardrails(found), found.version)


@ROUTES.add(
    f"PATCH {_GUARDRAILS}",
    ADMIN,
    {200: CoordinatorGuardrailsDocument},
    if_match="optional",
    idempotent=True,
    audited=(CHANGE_GUARDRAILS,),
)
def change_guardrails(request: Request, caller: Principal, asked: GuardrailsChange) -> Response:
    """Set a coordinator's guardrails.

    Once the request is answered, the guardrails limit the coordinator, its open tasks, and their
    assignees. They restrict reads and writes, and remove nothing. Other guardrails of RFC-0013 are
    stored unchanged.
    """
    coordinator, token = request.path_param("coordinator_id"), request.idempotency_token(caller)
    found = request.services.guardrails.change(caller, coordinator, asked, request.if_match, token)
    return json_response(200, render_guardrails(found), found.version)
