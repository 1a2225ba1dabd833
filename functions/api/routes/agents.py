"""Agents and their settings."""

from typing_extensions import TypedDict

from functions.api.documents import Count, PagePosition, Timestamp, Version
from functions.api.http import Request, Response, json_response
from functions.api.paging import build_page, read_page_request
from functions.api.parameters import CURSOR_PAGE
from functions.api.routes.namespaces import HistoryDocument
from functions.api.routing import RouteTable
from functions.entries.agent_store import AgentUsage
from functions.entries.authority import CONFIGURE_AGENT
from functions.entries.requests import AgentConfig, EvictionPolicy
from functions.identity.model import ADMIN, READ, Kind, Principal
from functions.platform.clock import to_rfc3339

_KB = 1024  # bytes


class EpisodicSettingsDocument(TypedDict):
    """An agent's settings for episodic memory."""

    capacity: Version
    """The maximum number of episodic entries."""
    eviction_policy: EvictionPolicy
    pinned_namespaces: list[str]
    """New episodic entries in these are pinned by default."""
    history: HistoryDocument
    """The time for which earlier values of episodic entries are kept."""


class WorkingSettingsDocument(TypedDict):
    """An agent's settings for working memory outside tasks."""

    max_entries: Count
    """The maximum number of entries outside tasks."""
    max_total_size_kb: Count
    """The maximum size of their values together, in units of 1,024 bytes."""


class AgentSettingsDocument(TypedDict):
    """An agent's settings."""

    agent_id: str
    episodic: EpisodicSettingsDocument
    working: WorkingSettingsDocument


class AgentWorkingDocument(WorkingSettingsDocument):
    """An agent's working memory outside tasks, and in tasks without a coordinator, in figures."""

    entry_count: Count
    total_size_kb: Count
    """The bytes of all values, in units of 1,024, rounded up."""
    room: Count
    """The number of entries that can be added."""


class AgentEpisodicDocument(TypedDict):
    """An agent's episodic memory in figures."""

    entry_count: Count
    pinned_count: Count
    total_size_kb: Count
    """The bytes of all values, in units of 1,024, rounded up."""
    capacity: Count
    """The maximum number of entries, including guardrails."""
    room: Count
    """The number of entries that can be added without an eviction."""


class AgentDocument(TypedDict):
    """An agent, with the use and the free capacity of its memory."""

    agent_id: str
    kind: Kind
    agent_type: str | None
    created_at: Timestamp
    working: AgentWorkingDocument
    episodic: AgentEpisodicDocument


class AgentPageDocument(PagePosition):
    """A page of agents."""

    agents: list[AgentDocument]


def render_agent(principal: Principal, usage: AgentUsage) -> AgentDocument:
    """Render an agent with its usage; expired entries count until they are removed."""
    return {
        "agent_id": principal.id,
        "kind": principal.kind,
        "agent_type": principal.agent_type,
        "created_at": to_rfc3339(principal.created_at),
        "working": {
            "entry_count": usage.working_max_entries - usage.working_room,
            "total_size_kb": -(-(usage.working_max_bytes - usage.working_room_bytes) // _KB),
            "max_entries": usage.working_max_entries,
            "max_total_size_kb": usage.working_max_bytes // _KB,
            "room": max(usage.working_room, 0),
        },
        "episodic": {
            "entry_count": usage.episodic_entry_count,
            "pinned_count": usage.episodic_pinned_count,
            "total_size_kb": -(-usage.episodic_bytes // _KB),
            "capacity": usage.episodic_capacity,
            "room": max(usage.episodic_room, 0),
        },
    }


ROUTES = RouteTable()


@ROUTES.add("GET /api/v1/agents", READ, {200: AgentPageDocument}, query=CURSOR_PAGE)
def list_agents(request: Request, caller: Principal) -> Response:
    """List agents, with the use and the free capacity of their memory.

    Lists principals of kind agent, and others with memory, newest first: the caller and the
    assignees of open tasks that it coordinates; with `memory.admin`, all. Expired entries count
    until they are removed, within an hour.
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
