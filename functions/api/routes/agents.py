"""Agents' settings and coordinators' guardrails (contract §4, §5)."""

from functions.api.governing_documents import guardrails_document, settings_document
from functions.api.http import Request, Response, json_response
from functions.api.routing import Route
from functions.entries.requests import AgentConfig
from functions.identity.model import ADMIN, Principal
from functions.tasks.guardrails import CoordinatorGuardrails
from functions.tasks.requests import GuardrailsChange


def configure_agent(request: Request, caller: Principal) -> Response:
    config, agent = (
        request.parse_body(AgentConfig),
        request.path_param("agent_id"),
    )
    settings = request.services.agent_memory.configure(
        caller, agent, config, request.idempotency_token(caller)
    )
    return json_response(200, settings_document(settings))


_GUARDRAILS = "/api/v1/coordinators/{coordinator_id+}/guardrails"


def get_guardrails(request: Request, caller: Principal) -> Response:
    return _response(request.services.guardrails.get(caller.tenant, _coordinator(request)))


def change_guardrails(request: Request, caller: Principal) -> Response:
    asked = request.parse_body(GuardrailsChange).guardrails
    version, token = request.if_match, request.idempotency_token(caller)
    return _response(
        request.services.guardrails.change(caller, _coordinator(request), asked, version, token)
    )


def _coordinator(request: Request) -> str:
    return request.path_param("coordinator_id")


def _response(standing: CoordinatorGuardrails) -> Response:
    return json_response(200, guardrails_document(standing), etag=f'"{standing.version}"')


ROUTES = [
    Route(
        "PATCH",
        "/api/v1/agents/{agent_id+}/memory/config",
        configure_agent,
        ADMIN,
        "Set an agent's episodic capacity and pinned namespaces",
        {200: "AgentSettings"},
        request_model=AgentConfig,
        error_statuses=(409, 413),
        idempotent=True,
    ),
    Route(
        "GET",
        _GUARDRAILS,
        get_guardrails,
        ADMIN,
        "Get a coordinator's guardrails",
        {200: "CoordinatorGuardrails"},
    ),
    Route(
        "PATCH",
        _GUARDRAILS,
        change_guardrails,
        ADMIN,
        "Set a coordinator's guardrails",
        {200: "CoordinatorGuardrails"},
        request_model=GuardrailsChange,
        error_statuses=(409, 413),
        if_match="optional",
        idempotent=True,
        description="When it answers, the guardrails hold for every open task of the "
        "coordinator and for who is assigned to one.",
    ),
]
