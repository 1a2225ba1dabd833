"""Agents' settings and coordinators' guardrails."""

from functions.api.http import Request, Response, json_response
from functions.api.paging import build_page, read_page_request
from functions.api.parameters import CURSOR_PAGE
from functions.api.responses.agents import (
    AgentPageDocument,
    AgentSettingsDocument,
    CoordinatorGuardrailsDocument,
    render_agent,
    render_guardrails,
)
from functions.api.routing import ANY, RouteTable
from functions.entries.authority import CONFIGURE_AGENT
from functions.entries.requests import AgentConfig
from functions.identity.model import ADMIN, READ, Principal
from functions.tasks.authority import CHANGE_GUARDRAILS
from functions.tasks.requests import GuardrailsChange

ROUTES = RouteTable()
_GUARDRAILS = "/api/v1/coordinators/{coordinator_id+}/guardrails"


@ROUTES.add("GET /api/v1/agents", READ, {200: AgentPageDocument}, query=CURSOR_PAGE)
def list_agents(request: Request, caller: Principal) -> Response:
    """List agents, with the use and the free capacity of their memory.

    Lists principals of kind agent, and others that hold memory, newest first: the caller itself
    and assignees of open tasks that it coordinates, or with `memory.admin` all. Expired entries
    count until they are removed, within an hour.
    """
    agents = request.services.agent_list
    asked = read_page_request(request, caller)
    shown = agents.list_page(caller, asked.wanted)
    usages = agents.get_usages(caller, [each.id for each in shown.elements])
    page, position = build_page(asked, shown, lambda each: render_agent(each, usages[each.id]))
    return json_response(200, AgentPageDocument(agents=page, **position))


@ROUTES.add("GET /api/v1/agents/{agent_id+}/memory/config", READ, {200: AgentSettingsDocument})
def get_agent_settings(request: Request, caller: Principal) -> Response:
    """Get an agent's limits and pinned namespaces.

    For the agent, coordinators of its tasks, and with `memory.admin`.
    """
    agent = request.path_param("agent_id")
    request.services.summaries.assert_can_read(caller, agent)
    settings = request.services.agent_memory.get_settings(caller.tenant, agent)
    return json_response(200, settings)


@ROUTES.add(
    "PATCH /api/v1/agents/{agent_id+}/memory/config",
    ADMIN,
    {200: AgentSettingsDocument},
    idempotent=True,
    audited=(CONFIGURE_AGENT,),
)
def configure_agent(request: Request, caller: Principal, config: AgentConfig) -> Response:
    """Set an agent's limits and pinned namespaces."""
    agent = request.path_param("agent_id")
    settings = request.services.agent_memory.configure(
        caller, agent, config, request.idempotency_token(caller)
    )
    return json_response(200, settings)


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
